// Wall times of deadlines → the key of each when it expires, even if the wall clock is set.
import { type Observable, Subject } from 'rxjs';
import type { CancelTimer, Deps } from '../../time/clock.ts';

/** The longest timer. A longer wait is split, so that the bridge notices a wall clock that was set. */
const LONGEST_MS = 60 * 60 * 1000;

interface Deadline {
  readonly dueMs: number;
  readonly cancel: CancelTimer;
}

export class Deadlines implements Disposable {
  readonly #deps: Pick<Deps, 'wallMs' | 'after'>;
  readonly #due$ = new Subject<string>();
  readonly #ahead = new Map<string, Deadline>();

  constructor(deps: Pick<Deps, 'wallMs' | 'after'>) {
    this.#deps = deps;
  }

  /** Emits each key when its deadline expires, and again at each `lookAgain` until `set` is called for it. */
  get due$(): Observable<string> {
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
    for (const [key, { dueMs }] of [...this.#ahead]) if (dueMs <= nowMs) this.#due$.next(key);
  }

  [Symbol.dispose](): void {
    for (const { cancel } of this.#ahead.values()) cancel();
    this.#ahead.clear();
  }

  #wait(key: string, dueMs: number): void {
    const leftMs = Math.max(0, dueMs - this.#deps.wallMs());
    const cancel = this.#deps.after(Math.min(leftMs, LONGEST_MS), () => this.#awake(key, dueMs));
    this.#ahead.set(key, { dueMs, cancel });
  }

  #awake(key: string, dueMs: number): void {
    if (dueMs <= this.#deps.wallMs()) this.#due$.next(key);
    else this.#wait(key, dueMs);
  }
}
