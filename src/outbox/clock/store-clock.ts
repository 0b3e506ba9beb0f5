// The machine's clocks, and what the store kept of them → the store's own time, which nobody sets.
import type { Deps } from '../../time/clock.ts';
import type { Database, Statement } from '../database.ts';

interface ClockRow {
  readonly at_ms: number;
  /** Null until a process of this version kept it. */
  readonly elapsed_ms: number | null;
}

/**
 * Counts the time that has truly passed, over restarts too, so that ages need no date. Elapsed time counts from the boot: where it is more than
 * when it was kept last, at most the difference has passed; where it is less, the machine was booted since, and at least that long ago. So the
 * store's time is never ahead of the true one; it lags by as long as the machine was off, and by what the last process had not kept.
 */
export class StoreClock {
  readonly #deps: Pick<Deps, 'wallMs' | 'elapsedMs'>;
  readonly #keep: Statement;
  /** The store's time less elapsed time. */
  readonly #offsetMs: number;

  constructor(database: Database, deps: Pick<Deps, 'wallMs' | 'elapsedMs'>) {
    this.#deps = deps;
    this.#keep = database.prepare('UPDATE store_clock SET at_ms = ?, elapsed_ms = ? WHERE id = 1');
    const kept = database.prepare<ClockRow>('SELECT at_ms, elapsed_ms FROM store_clock WHERE id = 1').get();
    const elapsedMs = deps.elapsedMs();
    const keptMs = kept?.elapsed_ms ?? elapsedMs;
    this.#offsetMs = (kept?.at_ms ?? 0) + (elapsedMs >= keptMs ? elapsedMs - keptMs : elapsedMs) - elapsedMs;
  }

  /** What the date is said to be. */
  wallMs(): number {
    return this.#deps.wallMs();
  }

  /** Milliseconds of the store's own time; whole. */
  nowMs(): number {
    return Math.floor(this.#offsetMs + this.#deps.elapsedMs());
  }

  /** The date, by the clock as it is now, of a moment of the store's time; null of none. */
  dateMs(atMs: number | null): number | null {
    return atMs === null ? null : this.wallMs() - Math.max(0, this.nowMs() - atMs);
  }

  /** For the process that comes next. */
  keep(): void {
    this.#keep.run(this.nowMs(), Math.floor(this.#deps.elapsedMs()));
  }
}
