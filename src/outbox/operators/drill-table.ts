// Drills ↔ their rows, kept as long as delivered rows.
import type { Drill } from '../../model/drills.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import type { Database, Statement } from '../database.ts';

const COLUMNS = 'id, occurrence, event, operator, made_ms, started_ms, ended_ms, outcome, missing';

export const DRILLS_SQL = {
  save: `INSERT OR REPLACE INTO drills (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  find: `SELECT ${COLUMNS} FROM drills WHERE id = ?`,
  open: `SELECT ${COLUMNS} FROM drills INDEXED BY drills_open WHERE ended_ms IS NULL ORDER BY made_ms`,
} as const;

interface DrillRow {
  readonly id: string;
  readonly occurrence: number;
  readonly event: string;
  readonly operator: string;
  readonly made_ms: number;
  readonly started_ms: number | null;
  readonly ended_ms: number | null;
  readonly outcome: Drill['outcome'];
  readonly missing: string;
}

export class DrillTable {
  readonly #save: Statement;
  readonly #find: Statement<DrillRow>;
  readonly #open: Statement<DrillRow>;

  constructor(database: Database) {
    this.#save = database.prepare(DRILLS_SQL.save);
    this.#find = database.prepare(DRILLS_SQL.find);
    this.#open = database.prepare(DRILLS_SQL.open);
  }

  /** Returns null if there is no such drill, or it is already deleted. */
  find(id: string): Drill | null {
    const row = this.#find.get(id);
    return row === undefined ? null : toDrill(row);
  }

  /** Returns the running drills, the oldest first. */
  open(): readonly Drill[] {
    return this.#open.all().map(toDrill);
  }

  /** Replaces the stored drill, in the open transaction. */
  save({ id, occurrence, event, operator, madeMs, startedMs, endedMs, outcome, missing }: Drill): void {
    this.#save.run(id, occurrence, JSON.stringify(event), operator, madeMs, startedMs, endedMs, outcome, JSON.stringify(missing));
  }
}

function toDrill({ made_ms: madeMs, started_ms: startedMs, ended_ms: endedMs, event, missing, ...row }: DrillRow): Drill {
  return {
    ...row,
    event: JSON.parse(event) as ScheduledEvent,
    madeMs,
    startedMs,
    endedMs,
    missing: JSON.parse(missing) as readonly string[],
  };
}
