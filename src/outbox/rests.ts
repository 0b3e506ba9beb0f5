// Ended events whose names budgets still count ↔ rows.
import type { Rest } from '../model/approvals.ts';
import type { Database, Statements } from './database.ts';

/** The longest `rest` of a budget is 30 days; a day more, because clocks are set back. */
const MEMORY_MS = 31 * 24 * 60 * 60 * 1000;

export const RESTS_SQL = {
  since: 'SELECT occurrence, resources, ended_ms AS endedMs FROM rests WHERE ended_ms >= ? ORDER BY ended_ms',
  forget: 'DELETE FROM rests WHERE ended_ms < ?',
} as const;

const SQL = {
  ...RESTS_SQL,
  add: 'INSERT OR REPLACE INTO rests (occurrence, resources, ended_ms) VALUES (?, ?, ?)',
} as const;

/** `resources` is JSON. */
type RestRow = Omit<Rest, 'resources'> & { readonly resources: string };

export class RestTable {
  readonly #sql: Statements<keyof typeof SQL, { since: RestRow }>;

  constructor(database: Database) {
    this.#sql = database.prepareAll(SQL);
  }

  /** Returns the events that ended at this time or later, in milliseconds since 1970: at most those of 31 days. */
  since(fromMs: number): readonly Rest[] {
    return this.#sql.since
      .all(fromMs)
      .map(({ resources, ...row }) => ({ ...row, resources: JSON.parse(resources) as string[] }));
  }

  /** Adds an event that has ended, and deletes those that no budget counts any more. */
  add({ occurrence, resources, endedMs }: Rest): void {
    this.#sql.forget.run(endedMs - MEMORY_MS);
    this.#sql.add.run(occurrence, JSON.stringify(resources), endedMs);
  }
}
