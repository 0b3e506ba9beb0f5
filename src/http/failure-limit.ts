// Failed log-ins by address → whether the next one must wait; bounded, valid tokens never count.
import { networkOf } from '../net/private-addresses.ts';
import type { Deps } from '../time/clock.ts';

const WINDOW_MS = 60_000;
/** From this failure of an address within a minute. */
const LIMIT = 20;
/**
 * Above this number, one with the fewest failures is removed: a flood from many addresses must not clear the record of
 * a persistent one.
 */
const ADDRESSES = 1024;

interface Minute {
  readonly startMs: number;
  failures: number;
}

export class FailureLimit {
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  readonly #onReached: (network: string) => void;
  /** By network, in the order in which their minutes began. */
  readonly #minutes = new Map<string, Minute>();

  /** @param onReached called once within each such minute, with the address or network that has reached the limit */
  constructor(deps: Pick<Deps, 'elapsedMs'>, onReached: (network: string) => void = () => {}) {
    this.#deps = deps;
    this.#onReached = onReached;
  }

  /** Counts one failure. Returns how many seconds to wait, or null for the first 19 within a minute. */
  count(address: string): number | null {
    const nowMs = this.#deps.elapsedMs();
    const network = networkOf(address);
    const minute = this.#minuteOf(network, nowMs);
    minute.failures++;
    if (minute.failures === LIMIT) this.#onReached(network);
    return minute.failures < LIMIT ? null : Math.max(1, Math.ceil((minute.startMs + WINDOW_MS - nowMs) / 1000));
  }

  #minuteOf(network: string, nowMs: number): Minute {
    const current = this.#minutes.get(network);
    if (current && nowMs - current.startMs < WINDOW_MS) return current;
    this.#minutes.delete(network);
    if (this.#minutes.size >= ADDRESSES) this.#removeOne(nowMs);
    const minute = { startMs: nowMs, failures: 0 };
    this.#minutes.set(network, minute);
    return minute;
  }

  #removeOne(nowMs: number): void {
    let least: { readonly network: string; readonly failures: number } | null = null;
    for (const [network, { startMs, failures }] of this.#minutes) {
      const counted = nowMs - startMs < WINDOW_MS ? failures : 0;
      if (least === null || counted < least.failures) least = { network, failures: counted };
      // Those whose minute is over come first.
      if (least.failures <= 1) break;
    }
    if (least !== null) this.#minutes.delete(least.network);
  }
}
