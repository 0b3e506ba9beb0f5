// A rate and the last minute's requests → how many may begin now, or when the next one may.
import type { Deps } from '../../time/clock.ts';
import type { RequestWindow } from './request-window.ts';

export interface RateLimiterOptions {
  /** Requests in any 60 s; null: no limit now, though one may come; undefined: never one, so that nothing is counted. May change at any time. */
  readonly perMinute: () => number | null | undefined;
  readonly requests: RequestWindow;
  readonly deps: Pick<Deps, 'elapsedMs'>;
}

/**
 * Never more requests in any 60 s than allowed, seen from here and from the other side. Each beginning is written down before it happens, each
 * end after it.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Requests in any 60 s; null where there is no limit now. */
  get perMinute(): number | null {
    return this.#options.perMinute() ?? null;
  }

  /** How many requests may begin now; infinitely many without a limit. @throws what the store throws, and then knows nothing yet */
  free(): number {
    const { perMinute } = this;
    return perMinute === null ? Number.POSITIVE_INFINITY : Math.max(0, perMinute - this.#options.requests.used());
  }

  /** When (elapsed time) the next request may begin, if none of the running ones ends before; null where only their end will tell. */
  nextMs(): number | null {
    const { perMinute } = this;
    if (perMinute === null) return null;
    const { requests, deps } = this.#options;
    const tooMany = requests.used() - perMinute + 1;
    return tooMany <= 0 ? deps.elapsedMs() : requests.expiryMs(tooMany);
  }

  /** A request begins, where one may. */
  begin(): boolean {
    if (this.#options.perMinute() === undefined) return true;
    if (!this.#hasRoom()) return false;
    this.#options.requests.begin();
    this.save();
    return true;
  }

  /** A request that had begun is over, whatever came of it. */
  end(): void {
    if (this.#options.perMinute() === undefined) return;
    this.#options.requests.end();
    this.save();
  }

  save(): void {
    if (this.perMinute !== null) this.#options.requests.save();
  }

  #hasRoom(): boolean {
    try {
      return this.free() >= 1;
    } catch {
      // The lane asks again, and tells why.
      return false;
    }
  }
}
