// Time limits that hardly ever pass → one timer for all, which no new or ended limit touches.
import type { CancelTimer, Deps } from './clock.ts';

interface Limit {
  readonly dueMs: number;
  readonly run: () => void;
}

/** Where nearly all limits are cancelled, as at each poll: a timer of its own would be made and dropped for each. Behind the last one it may ring once for nothing. */
export class SharedTimer implements Disposable {
  readonly #deps: Pick<Deps, 'elapsedMs' | 'after'>;
  readonly #limits = new Set<Limit>();
  #ringsAtMs = Number.POSITIVE_INFINITY;
  #cancel: CancelTimer = () => {};

  constructor(deps: Pick<Deps, 'elapsedMs' | 'after'>) {
    this.#deps = deps;
  }

  /** As `after` of `Deps`. */
  after(delayMs: number, run: () => void): CancelTimer {
    const limit = { dueMs: this.#deps.elapsedMs() + delayMs, run };
    this.#limits.add(limit);
    if (limit.dueMs < this.#ringsAtMs) this.#wait(limit.dueMs);
    return () => this.#limits.delete(limit);
  }

  /** Cancels all. */
  [Symbol.dispose](): void {
    this.#limits.clear();
    this.#cancel();
    this.#ringsAtMs = Number.POSITIVE_INFINITY;
  }

  #wait(untilMs: number): void {
    this.#cancel();
    this.#ringsAtMs = untilMs;
    this.#cancel = this.#deps.after(untilMs - this.#deps.elapsedMs(), () => this.#ring());
  }

  #ring(): void {
    this.#ringsAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#deps.elapsedMs();
    for (const limit of [...this.#limits]) if (limit.dueMs <= nowMs && this.#limits.delete(limit)) limit.run();
    const nextMs = Math.min(...[...this.#limits].map(({ dueMs }) => dueMs));
    if (nextMs < this.#ringsAtMs) this.#wait(nextMs);
  }
}
