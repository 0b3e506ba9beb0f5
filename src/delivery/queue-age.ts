// The clocks → when a delivery must have been queued to be too old by now, whatever NTP sets.
import type { Deps } from '../time/clock.ts';
import type { Moment } from './backoff.ts';

const DAY_MS = 86_400_000;
/** Less than this may be the time that a machine was made to pause, and is no matter beside an age. */
const JUMP_MS = 60_000;

interface Jump {
  /** What the clock had been at most before it. */
  readonly fromMs: number;
  readonly byMs: number;
}

/**
 * A machine may boot with a clock that is years behind, until NTP sets it. Time that passed by the wall clock alone makes nothing older that was
 * queued before; in what is in the queue from an earlier process the wall clock is all there is.
 */
export class QueueAge {
  readonly #maxAgeMs: number;
  /** Wall clock less elapsed time, when last looked at. */
  #offsetMs: number;
  /** In order; only those that still count. */
  readonly #jumps: Jump[] = [];

  constructor({ wallMs, elapsedMs }: Pick<Deps, 'wallMs' | 'elapsedMs'>, maxAgeMs = DAY_MS) {
    this.#maxAgeMs = maxAgeMs;
    this.#offsetMs = wallMs() - elapsedMs();
  }

  /** What was queued at this time, or before it, is too old. */
  oldestMs({ wallMs, elapsedMs }: Pick<Moment, 'wallMs' | 'elapsedMs'>): number {
    const wasMs = this.#offsetMs + elapsedMs;
    this.#offsetMs = wallMs - elapsedMs;
    if (wallMs - wasMs >= JUMP_MS) this.#jumps.push({ fromMs: wasMs, byMs: wallMs - wasMs });
    let oldestMs = wallMs - this.#maxAgeMs;
    for (const [index, { fromMs, byMs }] of [...this.#jumps.entries()].reverse()) {
      if (oldestMs >= fromMs + byMs) {
        this.#jumps.splice(0, index + 1);
        break;
      }
      oldestMs -= byMs;
    }
    return oldestMs;
  }
}
