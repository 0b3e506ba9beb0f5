// The time of the last good document, at each poll → the store, once a second.
import type { Instant } from '../model/events.ts';
import type { Deps } from '../time/clock.ts';

const LEAST_BETWEEN_MS = 1000;

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
    if (elapsedMs - this.#lastMs < LEAST_BETWEEN_MS) return this.#wentWell;
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
