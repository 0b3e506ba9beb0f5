// A function that polls once → the stream of results, one poll at a time (behaviour 4.1).
import { Observable, type Subscriber, share } from 'rxjs';
import type { PollResult } from '../model/events.ts';
import type { CancelTimer, Deps } from '../time/clock.ts';
import type { PollSchedule } from './poll-schedule.ts';

interface PollerOptions {
  /** Rejects only when the signal aborts. */
  readonly poll: (signal: AbortSignal) => Promise<PollResult>;
  readonly rhythm: PollSchedule;
  readonly deps: Pick<Deps, 'elapsedMs' | 'after'>;
}

export interface Poller {
  /**
   * Every result; never completes. Polls while there is a subscriber, the first time at once; unsubscribing aborts the running poll.
   * A result is handled by its subscribers before the wait for the next poll begins.
   */
  readonly results$: Observable<PollResult>;
  /** The next poll starts now or, while one runs, right after it; after a failure it keeps to the pause that `rhythm` names. */
  refresh(): void;
  /** Where the next poll is waited for, it starts so long after the last one began at the latest. */
  startWithin(intervalMs: number): void;
}

export function createPoller(options: PollerOptions): Poller {
  let polling: Polling | null = null;
  const results$ = new Observable<PollResult>((subscriber) => {
    const own = new Polling(options, subscriber);
    polling = own;
    own.start();
    return () => own.stop();
  });
  return {
    results$: results$.pipe(share()),
    refresh: () => polling?.refresh(),
    startWithin: (intervalMs) => polling?.startWithin(intervalMs),
  };
}

/** From a subscription to its end. One signal for all polls: an abort is the end, and a signal for each costs too much where there is a poll a second. */
class Polling {
  readonly #options: PollerOptions;
  readonly #subscriber: Subscriber<PollResult>;
  readonly #stopping = new AbortController();
  #startedMs = 0;
  #nextMs = 0;
  /** Ends the wait for the next poll; null while one runs. */
  #cancel: CancelTimer | null = null;
  #isWanted = false;
  /** The last poll failed: no wish for a fresh document cuts the pause short, as the service may have asked for it. */
  #isBackingOff = false;

  constructor(options: PollerOptions, subscriber: Subscriber<PollResult>) {
    this.#options = options;
    this.#subscriber = subscriber;
  }

  readonly start = (): void => {
    const { poll, deps } = this.#options;
    this.#cancel = null;
    this.#isWanted = false;
    this.#startedMs = deps.elapsedMs();
    poll(this.#stopping.signal).then(this.#handle, this.#fail);
  };

  refresh(): void {
    if (this.#cancel === null) this.#isWanted = true;
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
    const { rhythm, deps } = this.#options;
    this.#subscriber.next(result);
    if (this.#subscriber.closed) return;
    const error = result.kind === 'failure' ? result.error : null;
    const waitMs = rhythm.next(error, deps.elapsedMs() - this.#startedMs);
    this.#isBackingOff = error !== null;
    if (this.#isWanted && error === null) this.start();
    else this.#wait(waitMs);
  };

  #wait(waitMs: number): void {
    const { deps } = this.#options;
    this.#nextMs = deps.elapsedMs() + waitMs;
    this.#cancel = deps.after(waitMs, this.start);
  }

  readonly #fail = (error: unknown): void => this.#subscriber.error(error);
}
