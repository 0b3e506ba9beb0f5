// Failed log-ins by address → whether one more is told to wait. Bounded in memory; who brings a valid token never comes here.
import type { Deps } from '../time.ts';

const WINDOW_MS = 60_000;
/** From this failure of an address within a minute. */
const LIMIT = 20;
/** Beyond so many addresses the one whose minute began first is forgotten. */
const ADDRESSES = 1024;

interface Minute {
  readonly startMs: number;
  failures: number;
}

export class FailureLimit {
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  /** In the order in which their minutes began. */
  readonly #minutes = new Map<string, Minute>();

  constructor(deps: Pick<Deps, 'elapsedMs'>) {
    this.#deps = deps;
  }

  /** Counts one failure; after how many seconds to come again, or null where it is one of the first 19 within a minute. */
  count(address: string): number | null {
    const nowMs = this.#deps.elapsedMs();
    const minute = this.#minuteOf(address, nowMs);
    minute.failures++;
    return minute.failures < LIMIT ? null : Math.max(1, Math.ceil((minute.startMs + WINDOW_MS - nowMs) / 1000));
  }

  #minuteOf(address: string, nowMs: number): Minute {
    const current = this.#minutes.get(address);
    if (current && nowMs - current.startMs < WINDOW_MS) return current;
    this.#minutes.delete(address);
    const oldest = this.#minutes.keys().next();
    if (this.#minutes.size >= ADDRESSES && !oldest.done) this.#minutes.delete(oldest.value);
    const minute = { startMs: nowMs, failures: 0 };
    this.#minutes.set(address, minute);
    return minute;
  }
}
