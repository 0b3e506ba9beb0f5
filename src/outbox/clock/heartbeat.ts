// The time of the last good document, at each poll → the store, every second poll.
import type { Instant } from '../../model/events.ts';
import type { Deps } from '../../time/clock.ts';
import { isBusy } from '../errors.ts';

/**
 * Less than 2 s, because polls are a little late: at one poll a second, every second one is stored, and a kill loses at
 * most 2 s.
 */
const LEAST_BETWEEN_MS = 1900;
/** After a failure, so that the bridge soon notices that the store works again. */
const AGAIN_MS = 1000;
/** A verb locks the store for less than this. A longer lock blocks the writes of the bridge. */
const BUSY_MS = 5000;

export class Heartbeat {
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  readonly #write: (lastGoodMs: number) => void;
  #lastMs = Number.NEGATIVE_INFINITY;
  /** The time since which another process has locked the store. */
  #busySinceMs: number | null = null;
  #wentWell = true;

  /** @param write must not wait for a lock */
  constructor(deps: Pick<Deps, 'elapsedMs'>, write: (lastGoodMs: number) => void) {
    this.#deps = deps;
    this.#write = write;
  }

  /**
   * Returns false if the last write failed, except for a lock that another process has held for less than 5 s. Never
   * throws.
   */
  beat(at: Instant): boolean {
    const elapsedMs = this.#deps.elapsedMs();
    if (elapsedMs - this.#lastMs < (this.#wentWell ? LEAST_BETWEEN_MS : AGAIN_MS)) return this.#wentWell;
    this.#lastMs = elapsedMs;
    try {
      this.#write(at.wallMs);
      this.#busySinceMs = null;
      this.#wentWell = true;
    } catch (error) {
      if (isBusy(error) && this.#isSoonOver(elapsedMs)) return this.#wentWell;
      this.#wentWell = false;
    }
    return this.#wentWell;
  }

  /** After a failure, the next poll tries again. */
  #isSoonOver(elapsedMs: number): boolean {
    this.#busySinceMs ??= elapsedMs;
    if (elapsedMs - this.#busySinceMs >= BUSY_MS) return false;
    this.#lastMs = Number.NEGATIVE_INFINITY;
    return true;
  }
}
