// The machine's clocks, and what the store kept of them → the store's own time, which nobody sets.
import type { Deps } from '../../time/clock.ts';
import type { Database, Statement } from '../database.ts';

interface ClockRow {
  readonly at_ms: number;
  /** Null until a process of this version kept it. */
  readonly elapsed_ms: number | null;
  readonly date_ms: number | null;
}

/**
 * Counts the time that has truly passed, over restarts too, so that ages need no date. Elapsed time counts from the boot: where it is more than
 * when it was kept last, at most the difference has passed; where it is less, the machine was booted since, and at least that long ago. A store
 * that was moved to another machine meets the elapsed time of that one: no more than by the dates has passed in any case. So the store's time is
 * never ahead of the true one but where the store is moved and the clock set forward at once; it lags by as long as the machine was off, and by
 * what the last process had not kept.
 */
export class StoreClock {
  readonly #deps: Pick<Deps, 'wallMs' | 'elapsedMs'>;
  readonly #keep: Statement;
  /** The store's time less elapsed time. */
  readonly #offsetMs: number;

  constructor(database: Database, deps: Pick<Deps, 'wallMs' | 'elapsedMs'>) {
    this.#deps = deps;
    this.#keep = database.prepare('UPDATE store_clock SET at_ms = ?, elapsed_ms = ?, date_ms = ? WHERE id = 1');
    const kept = database.prepare<ClockRow>('SELECT at_ms, elapsed_ms, date_ms FROM store_clock WHERE id = 1').get();
    const elapsedMs = deps.elapsedMs();
    this.#offsetMs = (kept?.at_ms ?? 0) + passedMs(kept, elapsedMs, deps.wallMs()) - elapsedMs;
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
    this.#keep.run(this.nowMs(), Math.floor(this.#deps.elapsedMs()), this.wallMs());
  }
}

/** Between what was kept and now, at most. */
function passedMs(kept: ClockRow | undefined, elapsedMs: number, wallMs: number): number {
  if (kept?.elapsed_ms == null || kept.date_ms === null) return 0;
  const byElapsedMs = elapsedMs >= kept.elapsed_ms ? elapsedMs - kept.elapsed_ms : elapsedMs;
  return Math.min(byElapsedMs, Math.max(0, wallMs - kept.date_ms));
}
