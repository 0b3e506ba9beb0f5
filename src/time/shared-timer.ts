// Time limits that rarely expire → one timer for all; a stream → a value after each silence.
import { Observable, type OperatorFunction } from 'rxjs';
import type { CancelTimer, Deps } from './clock.ts';

interface Limit {
  readonly dueMs: number;
  readonly run: () => void;
}

/**
 * For limits that are nearly always cancelled, such as that of each poll. After the last limit, the timer may fire once
 * without effect.
 */
export class SharedTimer implements Disposable {
  readonly #deps: Pick<Deps, 'elapsedMs' | 'after'>;
  readonly #limits = new Set<Limit>();
  #dueMs = Number.POSITIVE_INFINITY;
  #cancel: CancelTimer = () => {};

  constructor(deps: Pick<Deps, 'elapsedMs' | 'after'>) {
    this.#deps = deps;
  }

  /** Like `after` of `Deps`. */
  after(delayMs: number, run: () => void): CancelTimer {
    const limit = { dueMs: this.#deps.elapsedMs() + delayMs, run };
    this.#limits.add(limit);
    if (limit.dueMs < this.#dueMs) this.#wait(limit.dueMs);
    return () => this.#limits.delete(limit);
  }

  /** Cancels all limits. */
  [Symbol.dispose](): void {
    this.#limits.clear();
    this.#cancel();
    this.#dueMs = Number.POSITIVE_INFINITY;
  }

  #wait(untilMs: number): void {
    this.#cancel();
    this.#dueMs = untilMs;
    this.#cancel = this.#deps.after(untilMs - this.#deps.elapsedMs(), () => this.#expire());
  }

  #expire(): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#deps.elapsedMs();
    for (const limit of [...this.#limits]) if (limit.dueMs <= nowMs && this.#limits.delete(limit)) limit.run();
    const nextMs = Math.min(...[...this.#limits].map(({ dueMs }) => dueMs));
    if (nextMs < this.#dueMs) this.#wait(nextMs);
  }
}

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
