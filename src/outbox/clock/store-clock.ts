// The machine's clocks and their stored values → the store's own time, which no one can set.
import type { Deps } from '../../time/clock.ts';
import type { Database, Statement } from '../database.ts';

interface ClockRow {
  readonly at_ms: number;
  /** Null until a process of this version has stored it. */
  readonly elapsed_ms: number | null;
  readonly date_ms: number | null;
}

/**
 * Counts the time that has really passed, also across restarts, so that ages do not depend on dates. Elapsed time
 * counts from the boot. If it is more than the stored value, at most the difference has passed. If it is less, the
 * machine was booted since, at least that long ago. A store moved to another machine meets that machine's elapsed time,
 * so the difference of the dates is always an upper limit. The store's time is ahead of real time only if the store is
 * moved and the clock is set forward together. It lags by the time that the machine was off, and by the time that the
 * last process had not stored.
 */
export class StoreClock {
  readonly #deps: Pick<Deps, 'wallMs' | 'elapsedMs'>;
  readonly #keep: Statement;
  /** The store's time minus elapsed time. */
  readonly #offsetMs: number;

  constructor(database: Database, deps: Pick<Deps, 'wallMs' | 'elapsedMs'>) {
    this.#deps = deps;
    this.#keep = database.prepare('UPDATE store_clock SET at_ms = ?, elapsed_ms = ?, date_ms = ? WHERE id = 1');
    const kept = database.prepare<ClockRow>('SELECT at_ms, elapsed_ms, date_ms FROM store_clock WHERE id = 1').get();
    const elapsedMs = deps.elapsedMs();
    this.#offsetMs = (kept?.at_ms ?? 0) + passedMs(kept, elapsedMs, deps.wallMs()) - elapsedMs;
  }

  /** Returns the date by the machine's clock. */
  wallMs(): number {
    return this.#deps.wallMs();
  }

  /** Returns the store's own time in whole milliseconds. */
  nowMs(): number {
    return Math.floor(this.#offsetMs + this.#deps.elapsedMs());
  }

  /** Converts a moment of the store's time to a date by the current clock; null to null. */
  dateMs(atMs: number | null): number | null {
    return atMs === null ? null : this.wallMs() - Math.max(0, this.nowMs() - atMs);
  }

  /** Stores the clocks for the next process. */
  keep(): void {
    this.#keep.run(this.nowMs(), Math.floor(this.#deps.elapsedMs()), this.wallMs());
  }
}

/** Returns the most time that can have passed since the stored values. */
function passedMs(kept: ClockRow | undefined, elapsedMs: number, wallMs: number): number {
  if (kept?.elapsed_ms == null || kept.date_ms === null) return 0;
  const byElapsedMs = elapsedMs >= kept.elapsed_ms ? elapsedMs - kept.elapsed_ms : elapsedMs;
  return Math.min(byElapsedMs, Math.max(0, wallMs - kept.date_ms));
}
