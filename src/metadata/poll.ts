// A function that polls once → a stream of results, and the time of each poll (behaviour 4.1, 4.7).
import { Observable, type Subscriber, share } from 'rxjs';
import { BridgeError } from '../errors.ts';
import type { PollResult } from '../model/events.ts';
import type { CancelTimer, Deps } from '../time/clock.ts';
import { MISCONFIGURED_STATUSES } from './faults.ts';

const BACK_OFF_MS = [1000, 2000, 4000];
const THROTTLED_MS = [1000, 2000, 4000, 8000, 10_000];
const SLOW_MS = 10_000;
/** 70 s in total. */
const UPDATING_TRIES = 7;

interface PollerOptions {
  /** Rejects only when the signal aborts. */
  readonly poll: (signal: AbortSignal) => Promise<PollResult>;
  readonly schedule: PollSchedule;
  readonly deps: Pick<Deps, 'elapsedMs' | 'after'>;
}

export interface Poller {
  /**
   * Every result; never completes. Polls while there is a subscriber, the first time at once; unsubscribing aborts the
   * running poll. A result is handled by its subscribers before the wait for the next poll begins.
   */
  readonly results$: Observable<PollResult>;
  /**
   * Starts the next poll now or, while one is running, right after it; after a failure it keeps the pause of
   * `schedule`.
   */
  refresh(): void;
  /** Shortens a wait for the next poll to at most this interval after the start of the last one. */
  startWithin(intervalMs: number): void;
}

export function createPoller(options: PollerOptions): Poller {
  let polling: Polling | null = null;
  const results$ = new Observable<PollResult>((subscriber) => {
    const started = new Polling(options, subscriber);
    polling = started;
    started.start();
    return () => started.stop();
  });
  return {
    results$: results$.pipe(share()),
    refresh: () => polling?.refresh(),
    startWithin: (intervalMs) => polling?.startWithin(intervalMs),
  };
}

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

/**
 * One subscription. All polls share one signal: an abort ends all of them, and a signal for each poll would be costly
 * at one poll a second.
 */
class Polling {
  readonly #options: PollerOptions;
  readonly #subscriber: Subscriber<PollResult>;
  readonly #stopping = new AbortController();
  #startedMs = 0;
  #nextMs = 0;
  /** Cancels the wait for the next poll; null while one is running. */
  #cancel: CancelTimer | null = null;
  #isRefreshDue = false;
  /** The last poll failed: a refresh does not shorten the pause, which the service may have requested. */
  #isBackingOff = false;

  constructor(options: PollerOptions, subscriber: Subscriber<PollResult>) {
    this.#options = options;
    this.#subscriber = subscriber;
  }

  readonly start = (): void => {
    const { poll, deps } = this.#options;
    this.#cancel = null;
    this.#isRefreshDue = false;
    this.#startedMs = deps.elapsedMs();
    poll(this.#stopping.signal).then(this.#handle, this.#fail);
  };

  refresh(): void {
    if (this.#cancel === null) this.#isRefreshDue = true;
    else if (!this.#isBackingOff) {
      this.#cancel();
      this.start();
    }
  }

  startWithin(intervalMs: number): void {
    const atMs = this.#startedMs + intervalMs;
    if (this.#cancel === null || this.#nextMs <= atMs) return;
    this.#cancel();
    this.#wait(Math.max(0, atMs - this.#options.deps.elapsedMs()));
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#stopping.abort();
  }

  readonly #handle = (result: PollResult): void => {
    const { schedule, deps } = this.#options;
    this.#subscriber.next(result);
    if (this.#subscriber.closed) return;
    const error = result.kind === 'failure' ? result.error : null;
    const waitMs = schedule.next(error, deps.elapsedMs() - this.#startedMs);
    this.#isBackingOff = error !== null;
    if (this.#isRefreshDue && error === null) this.start();
    else this.#wait(waitMs);
  };

  #wait(waitMs: number): void {
    const { deps } = this.#options;
    this.#nextMs = deps.elapsedMs() + waitMs;
    this.#cancel = deps.after(waitMs, this.start);
  }

  readonly #fail = (error: unknown): void => this.#subscriber.error(error);
}
