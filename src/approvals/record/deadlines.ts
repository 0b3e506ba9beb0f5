// Wall times of deadlines → the keys of those that expire, even if the wall clock is set.
import { type Observable, Subject } from 'rxjs';
import type { CancelTimer, Deps } from '../../time/clock.ts';

/** The longest timer. A longer wait is split, so that the bridge notices a wall clock that was set. */
const LONGEST_MS = 60 * 60 * 1000;

interface Deadline {
  readonly dueMs: number;
  readonly cancel: CancelTimer;
  /** Whether it was emitted since it expired. */
  isTold: boolean;
}

export class Deadlines implements Disposable {
  readonly #deps: Pick<Deps, 'wallMs' | 'after'>;
  readonly #due$ = new Subject<readonly string[]>();
  readonly #ahead = new Map<string, Deadline>();

  constructor(deps: Pick<Deps, 'wallMs' | 'after'>) {
    this.#deps = deps;
  }

  /**
   * Emits the keys whose deadlines have expired, those of one moment together, and again at each `lookAgain` until
   * `set` is called for them.
   */
  get due$(): Observable<readonly string[]> {
    return this.#due$;
  }

  /** Sets or replaces the deadline of an event; null removes it. */
  set(key: string, dueMs: number | null): void {
    this.#ahead.get(key)?.cancel();
    this.#ahead.delete(key);
    if (dueMs !== null) this.#wait(key, dueMs);
  }

  /**
   * Emits deadlines that have expired although their timers have not fired, for example after the wall clock was set.
   */
  lookAgain(): void {
    const nowMs = this.#deps.wallMs();
    const due = [...this.#ahead].filter(([, { dueMs }]) => dueMs <= nowMs);
    for (const [, deadline] of due) deadline.isTold = true;
    if (due.length > 0) this.#due$.next(due.map(([key]) => key));
  }

  [Symbol.dispose](): void {
    for (const { cancel } of this.#ahead.values()) cancel();
    this.#ahead.clear();
  }

  #wait(key: string, dueMs: number): void {
    const leftMs = Math.max(0, dueMs - this.#deps.wallMs());
    const cancel = this.#deps.after(Math.min(leftMs, LONGEST_MS), () => this.#awake(key, dueMs));
    this.#ahead.set(key, { dueMs, cancel, isTold: false });
  }

  #awake(key: string, dueMs: number): void {
    if (dueMs > this.#deps.wallMs()) this.#wait(key, dueMs);
    else if (this.#ahead.get(key)?.isTold === false) this.lookAgain();
  }
}
