// The time of the last good document, at each poll → the store, every other second.
import type { Instant } from '../model/events.ts';
import type { Deps } from '../time/clock.ts';

/** Less than 2 s, as polls come a little late: at one a second, every other one is written, and a kill loses 2 s at most. */
const LEAST_BETWEEN_MS = 1900;
/** So that a store that failed is soon known to be whole again. */
const AGAIN_MS = 1000;

export class Heartbeat {
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  readonly #write: (lastGoodMs: number) => void;
  #lastMs = Number.NEGATIVE_INFINITY;
  #wentWell = true;

  /** `write` must not wait. */
  constructor(deps: Pick<Deps, 'elapsedMs'>, write: (lastGoodMs: number) => void) {
    this.#deps = deps;
    this.#write = write;
  }

  /** Never throws; false where the last try failed. */
  beat(at: Instant): boolean {
    const elapsedMs = this.#deps.elapsedMs();
    if (elapsedMs - this.#lastMs < (this.#wentWell ? LEAST_BETWEEN_MS : AGAIN_MS)) return this.#wentWell;
    this.#lastMs = elapsedMs;
    try {
      this.#write(at.wallMs);
      this.#wentWell = true;
    } catch {
      this.#wentWell = false;
    }
    return this.#wentWell;
  }
}
