// The time of the last good document, at each poll → the store, every other second.
import type { Instant } from '../../model/events.ts';
import type { Deps } from '../../time/clock.ts';
import { isBusy } from '../errors.ts';

/** Less than 2 s, as polls come a little late: at one a second, every other one is written, and a kill loses 2 s at most. */
const LEAST_BETWEEN_MS = 1900;
/** So that a store that failed is soon known to be whole again. */
const AGAIN_MS = 1000;
/** A verb beside the bridge keeps the store for less than this; whoever keeps it for longer stands in the way of what is to be stored. */
const BUSY_MS = 5000;

export class Heartbeat {
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  readonly #write: (lastGoodMs: number) => void;
  #lastMs = Number.NEGATIVE_INFINITY;
  /** Since when others have kept the store. */
  #busySinceMs: number | null = null;
  #wentWell = true;

  /** `write` must not wait. */
  constructor(deps: Pick<Deps, 'elapsedMs'>, write: (lastGoodMs: number) => void) {
    this.#deps = deps;
    this.#write = write;
  }

  /** Never throws; false where the last try failed, but for a store that others have kept for less than 5 s. */
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

  /** Then the next poll tries again. */
  #isSoonOver(elapsedMs: number): boolean {
    this.#busySinceMs ??= elapsedMs;
    if (elapsedMs - this.#busySinceMs >= BUSY_MS) return false;
    this.#lastMs = Number.NEGATIVE_INFINITY;
    return true;
  }
}
