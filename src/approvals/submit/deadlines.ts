// Wall times of deadlines → one call for each when it is due, whatever the clocks do.
import type { CancelTimer, Deps } from '../../time/clock.ts';

/** Timers of any length are asked for in pieces, and a wall clock that was set back is noticed. */
const LONGEST_MS = 60 * 60 * 1000;

interface Deadline {
  readonly dueMs: number;
  readonly cancel: CancelTimer;
}

export class Deadlines implements Disposable {
  readonly #deps: Pick<Deps, 'wallMs' | 'after'>;
  readonly #onDue: (key: string) => void;
  readonly #ahead = new Map<string, Deadline>();

  /** `onDue` is called again at each look until `set` says otherwise. */
  constructor(deps: Pick<Deps, 'wallMs' | 'after'>, onDue: (key: string) => void) {
    this.#deps = deps;
    this.#onDue = onDue;
  }

  /** In place of what this event had; null for none. */
  set(key: string, dueMs: number | null): void {
    this.#ahead.get(key)?.cancel();
    this.#ahead.delete(key);
    if (dueMs !== null) this.#wait(key, dueMs);
  }

  /** Calls for deadlines that are due though their timers have not fired, as after the wall clock was set. */
  lookAgain(): void {
    const nowMs = this.#deps.wallMs();
    for (const [key, { dueMs }] of [...this.#ahead]) if (dueMs <= nowMs) this.#onDue(key);
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
    if (dueMs <= this.#deps.wallMs()) this.#onDue(key);
    else this.#wait(key, dueMs);
  }
}
