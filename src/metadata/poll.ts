// A function that polls once → the stream of results, one poll at a time (behaviour 4.1).
import { BehaviorSubject, defer, expand, filter, merge, Observable, share, switchMap, take, timer } from 'rxjs';
import type { PollResult } from '../model/events.ts';
import type { Deps } from '../time/clock.ts';
import type { PollSchedule } from './poll-schedule.ts';

export interface PollerOptions {
  /** Rejects only when the signal aborts. */
  readonly poll: (signal: AbortSignal) => Promise<PollResult>;
  readonly rhythm: PollSchedule;
  readonly deps: Pick<Deps, 'elapsedMs' | 'scheduler'>;
}

export interface Poller {
  /**
   * Every result; never completes. Polls while there is a subscriber, the first time at once; unsubscribing aborts the running poll.
   * A result is handled by its subscribers before the wait for the next poll begins.
   */
  readonly results$: Observable<PollResult>;
  /** The next poll starts now or, while one runs, right after it. */
  refresh(): void;
}

export function createPoller({ poll, rhythm, deps }: PollerOptions): Poller {
  const refresh$ = new BehaviorSubject(false);
  let startedMs = 0;

  const pollOnce$ = defer(() => {
    refresh$.next(false);
    startedMs = deps.elapsedMs();
    return abortable(poll);
  });
  const pause$ = (result: PollResult) =>
    merge(
      timer(rhythm.next(result.kind === 'failure' ? result.error : null, deps.elapsedMs() - startedMs), deps.scheduler),
      refresh$.pipe(filter((wanted) => wanted)),
    ).pipe(take(1));

  return {
    results$: pollOnce$.pipe(
      expand((result) => pause$(result).pipe(switchMap(() => pollOnce$))),
      share(),
    ),
    refresh: () => refresh$.next(true),
  };
}

/** One result; unsubscribing before it came aborts the call. */
function abortable(poll: PollerOptions['poll']): Observable<PollResult> {
  return new Observable((subscriber) => {
    const controller = new AbortController();
    let isRunning = true;
    poll(controller.signal)
      .finally(() => {
        isRunning = false;
      })
      .then(
        (result) => {
          subscriber.next(result);
          subscriber.complete();
        },
        (error: unknown) => subscriber.error(error),
      );
    // An abort makes its reason with a stack, which is dear for what happens at every poll.
    return () => isRunning && controller.abort();
  });
}
