// A stream → a value each time that nothing has come for so long.
import { Observable, type OperatorFunction } from 'rxjs';
import type { Deps } from './clock.ts';
import { SharedTimer } from './shared-timer.ts';

/** The subscription counts as the first value. `limitMs` is asked at each value. No value sets a timer, however many come. */
export function whenSilent(limitMs: () => number, deps: Pick<Deps, 'elapsedMs' | 'after'>): OperatorFunction<unknown, void> {
  return (source$) =>
    new Observable((subscriber) => {
      const limits = new SharedTimer(deps);
      const ring = () => subscriber.next();
      const wait = () => limits.after(limitMs(), ring);
      let cancel = wait();
      const heard = () => {
        cancel();
        cancel = wait();
      };
      subscriber.add(() => limits[Symbol.dispose]());
      subscriber.add(source$.subscribe({ next: heard, error: (error) => subscriber.error(error), complete: () => subscriber.complete() }));
    });
}
