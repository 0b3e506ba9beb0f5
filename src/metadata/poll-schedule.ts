// The service's answers → when to ask again (behaviour 4.7).
import { BridgeError } from '../errors.ts';
import type { Deps } from '../time/clock.ts';
import { MISCONFIGURED_STATUSES } from './faults.ts';

const BACK_OFF_MS = [1000, 2000, 4000];
const THROTTLED_MS = [1000, 2000, 4000, 8000, 10_000];
const SLOW_MS = 10_000;
/** 70 s. */
const UPDATING_TRIES = 7;

/** The rhythm of one kind of request. It remembers which failures there were since the last success. */
export class PollSchedule {
  /** The normal rhythm; another one holds from the next request on. */
  intervalMs: number;
  readonly #random: () => number;
  #failures = 0;
  #updating = 0;
  #throttled = 0;

  constructor(options: { readonly intervalMs: number; readonly random: Deps['random'] }) {
    this.intervalMs = options.intervalMs;
    this.#random = options.random;
  }

  /**
   * Milliseconds from now to the next request. The normal rhythm and the slow one count from the start of the last request, which was `tookMs` ago;
   * back-off counts from now. `error` is null after a success; anything that is no BridgeError with a known status counts as a 5xx.
   */
  next(error: Error | null, tookMs: number): number {
    if (error === null) {
      this.#failures = this.#updating = this.#throttled = 0;
      return this.#usual(tookMs);
    }
    const status = error instanceof BridgeError ? error.status : undefined;
    if (MISCONFIGURED_STATUSES.has(status)) return Math.max(0, SLOW_MS - tookMs);
    if (status === 410) return this.#updating++ < UPDATING_TRIES ? Math.max(0, SLOW_MS - tookMs) : this.#usual(tookMs);
    if (status === 429) return this.#whenThrottled(error);
    const backOffMs = BACK_OFF_MS[this.#failures++];
    return backOffMs === undefined ? this.#usual(tookMs) : backOffMs * (1 - this.#random() / 2);
  }

  #usual(tookMs: number): number {
    return Math.max(0, this.intervalMs - tookMs);
  }

  /** Never faster than the normal rhythm: `Retry-After: 0` must not make a busy service busier. */
  #whenThrottled(error: Error): number {
    const asked = (error instanceof BridgeError ? error.retryAfterMs : undefined) ?? THROTTLED_MS[this.#throttled++] ?? SLOW_MS;
    return Math.min(Math.max(asked, this.intervalMs), SLOW_MS);
  }
}
