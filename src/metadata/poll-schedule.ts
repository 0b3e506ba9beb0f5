// The answers of the service → when to send the next request (behaviour 4.7).
import { BridgeError } from '../errors.ts';
import type { Deps } from '../time/clock.ts';
import { MISCONFIGURED_STATUSES } from './faults.ts';

const BACK_OFF_MS = [1000, 2000, 4000];
const THROTTLED_MS = [1000, 2000, 4000, 8000, 10_000];
const SLOW_MS = 10_000;
/** 70 s in total. */
const UPDATING_TRIES = 7;

/** The schedule of one kind of request. Counts the failures since the last success. */
export class PollSchedule {
  /** The normal interval; a change applies from the next request on. */
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
   * Returns the milliseconds from now to the next request. The normal and the slow interval count from the start of the
   * last request, `tookMs` ago; back-off counts from now.
   * @param error null after a success; an error without a known status counts as a 5xx
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

  /** Never less than the normal interval: `Retry-After: 0` must not add load to a busy service. */
  #whenThrottled(error: Error): number {
    const requestedMs =
      (error instanceof BridgeError ? error.retryAfterMs : undefined) ?? THROTTLED_MS[this.#throttled++] ?? SLOW_MS;
    return Math.min(Math.max(requestedMs, this.intervalMs), SLOW_MS);
  }
}
