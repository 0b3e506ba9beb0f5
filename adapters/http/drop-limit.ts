// Rejections of tokens by a receiver → at most one dropped token a minute.
import type { Instant } from '../../src/model/events.ts';
import { type Deps, now } from '../../src/time/clock.ts';

const MIN_INTERVAL_MS = 60_000;

/** A receiver that rejects every token must not cause a token request at each attempt. */
export class DropLimit {
  readonly #deps: Pick<Deps, 'wallMs' | 'elapsedMs'>;
  #last: Instant | null = null;

  constructor(deps: Pick<Deps, 'wallMs' | 'elapsedMs'>) {
    this.#deps = deps;
  }

  /** Returns whether a token may be dropped now. If so, it counts as dropped. */
  take(): boolean {
    if (this.#last !== null && largerAgeMs(this.#last, this.#deps) < MIN_INTERVAL_MS) return false;
    this.#last = now(this.#deps);
    return true;
  }
}

/** Uses the larger of both clocks: after a freeze, only one of them may have advanced. */
export function largerAgeMs({ wallMs, elapsedMs }: Instant, deps: Pick<Deps, 'wallMs' | 'elapsedMs'>): number {
  return Math.max(deps.wallMs() - wallMs, deps.elapsedMs() - (elapsedMs ?? 0));
}
