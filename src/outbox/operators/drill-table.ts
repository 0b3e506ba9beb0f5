// Drills ↔ their rows, kept as long as delivered rows.
import type { Drill } from '../../model/drills.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import type { Database, Statements } from '../database.ts';

const READ = `SELECT id, occurrence, event, operator, made_ms AS madeMs, started_ms AS startedMs, ended_ms AS endedMs, outcome, missing FROM drills`;

const SQL = {
  save: `INSERT OR REPLACE INTO drills (id, occurrence, event, operator, made_ms, started_ms, ended_ms, outcome, missing)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  find: `${READ} WHERE id = ?`,
  open: `${READ} INDEXED BY drills_open WHERE ended_ms IS NULL ORDER BY made_ms`,
} as const;

/** `event` and `missing` are JSON. */
type DrillRow = Omit<Drill, 'event' | 'missing'> & Readonly<{ event: string; missing: string }>;

export class DrillTable {
  readonly #sql: Statements<keyof typeof SQL, { find: DrillRow; open: DrillRow }>;

  constructor(database: Database) {
    this.#sql = database.prepareAll(SQL);
  }

  /** Returns null if there is no such drill, or it is already deleted. */
  find(id: string): Drill | null {
    const row = this.#sql.find.get(id);
    return row === undefined ? null : toDrill(row);
  }

  /** Returns the running drills, the oldest first. */
  open(): readonly Drill[] {
    return this.#sql.open.all().map(toDrill);
  }

  /** Replaces the stored drill, in the open transaction. */
  save({ id, occurrence, event, operator, madeMs, startedMs, endedMs, outcome, missing }: Drill): void {
    this.#sql.save.run(
      id,
      occurrence,
      JSON.stringify(event),
      operator,
      madeMs,
      startedMs,
      endedMs,
      outcome,
      JSON.stringify(missing),
    );
  }
}

function toDrill({ event, missing, ...row }: DrillRow): Drill {
  return { ...row, event: JSON.parse(event) as ScheduledEvent, missing: JSON.parse(missing) as readonly string[] };
}
