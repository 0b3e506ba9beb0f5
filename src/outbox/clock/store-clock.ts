// The machine's clocks, and what the store kept of them → the store's own time, which nobody sets.
import type { Deps } from '../../time/clock.ts';
import type { Database, Statement } from '../database.ts';
import { type ClockSetting, datesPast, type Span } from './shown-dates.ts';

/** Less than this is drift, and no matter beside days. */
const SET_MS = 60_000;
/** Of settings that are remembered: one for each night of the 400 days for which anything is. */
const MOST_SETTINGS = 500;

interface ClockRow {
  readonly at_ms: number;
  /** Null until a process of this version kept it. */
  readonly elapsed_ms: number | null;
  readonly date_ms: number | null;
}

interface SettingRow {
  readonly since_ms: number;
  readonly offset_ms: number;
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
  readonly #addSetting: Statement;
  readonly #dropSettings: Statement;
  #settings: readonly ClockSetting[];
  /** The store's time less elapsed time. */
  readonly #offsetMs: number;

  constructor(database: Database, deps: Pick<Deps, 'wallMs' | 'elapsedMs'>) {
    this.#deps = deps;
    this.#keep = database.prepare('UPDATE store_clock SET at_ms = ?, elapsed_ms = ?, date_ms = ? WHERE id = 1');
    this.#addSetting = database.prepare(
      `INSERT INTO clock_settings (since_ms, offset_ms)
       SELECT ?1, ?2 WHERE (SELECT since_ms FROM clock_settings ORDER BY seq DESC LIMIT 1) IS NOT ?1`,
    );
    this.#dropSettings = database.prepare(
      `DELETE FROM clock_settings WHERE seq <= (SELECT max(seq) FROM clock_settings) - ${MOST_SETTINGS}`,
    );
    const settings = database.prepare<SettingRow>('SELECT since_ms, offset_ms FROM clock_settings ORDER BY seq').all();
    this.#settings = settings.map(({ since_ms, offset_ms }) => ({ sinceMs: since_ms, offsetMs: offset_ms }));
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

  /** For the process that comes next; and what the clock is set to, where that is news. */
  keep(): void {
    this.#keep.run(this.nowMs(), Math.floor(this.#deps.elapsedMs()), this.wallMs());
    this.#settings = this.#current();
    const last = this.#settings.at(-1);
    // Each time, as the last try may have failed.
    if (last && this.#addSetting.run(last.sinceMs, last.offsetMs) > 0) this.#dropSettings.run();
  }

  /** What bears one of these dates was written longer ago than `ageMs`. */
  readonly datesPast = (ageMs: number): readonly Span[] => datesPast(this.#current(), this.nowMs(), ageMs);

  #current(): readonly ClockSetting[] {
    const sinceMs = this.nowMs();
    const offsetMs = this.wallMs() - sinceMs;
    const last = this.#settings.at(-1);
    return last && Math.abs(offsetMs - last.offsetMs) < SET_MS ? this.#settings : [...this.#settings, { sinceMs, offsetMs }];
  }
}

/** Between what was kept and now, at most. */
function passedMs(kept: ClockRow | undefined, elapsedMs: number, wallMs: number): number {
  if (kept?.elapsed_ms == null || kept.date_ms === null) return 0;
  const byElapsedMs = elapsedMs >= kept.elapsed_ms ? elapsedMs - kept.elapsed_ms : elapsedMs;
  return Math.min(byElapsedMs, Math.max(0, wallMs - kept.date_ms));
}
