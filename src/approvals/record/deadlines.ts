// Wall times of deadlines → the key of each when it is due, whatever the clocks do.
import { type Observable, Subject } from 'rxjs';
import type { CancelTimer, Deps } from '../../time/clock.ts';

/** Timers of any length are asked for in pieces, and a wall clock that was set back is noticed. */
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

  /** Each key when it is due, and again at each look until `set` says otherwise. */
  get due$(): Observable<string> {
    return this.#due$;
  }

  /** In place of what this event had; null for none. */
  set(key: string, dueMs: number | null): void {
    this.#ahead.get(key)?.cancel();
    this.#ahead.delete(key);
    if (dueMs !== null) this.#wait(key, dueMs);
  }

  /** Tells deadlines that are due though their timers have not fired, as after the wall clock was set. */
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
