// A stream → a value each time that the stream has been silent for a time limit.
import { Observable, type OperatorFunction } from 'rxjs';
import type { Deps } from './clock.ts';
import { SharedTimer } from './shared-timer.ts';

/** The subscription counts as the first value. Calls `limitMs` for each value. Values do not create timers. */
export function whenSilent(
  limitMs: () => number,
  deps: Pick<Deps, 'elapsedMs' | 'after'>,
): OperatorFunction<unknown, void> {
  return (source$) =>
    new Observable((subscriber) => {
      const limits = new SharedTimer(deps);
      const onSilence = () => subscriber.next();
      const wait = () => limits.after(limitMs(), onSilence);
      let cancel = wait();
      const onValue = () => {
        cancel();
        cancel = wait();
      };
      subscriber.add(() => limits[Symbol.dispose]());
      subscriber.add(
        source$.subscribe({
          next: onValue,
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
    });
}
