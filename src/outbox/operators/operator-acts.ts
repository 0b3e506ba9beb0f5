// Operators' actions over the HTTP interface → their durable record.
import type { OperatorAct } from '../../model/operators.ts';
import type { Database, Statement } from '../database.ts';

/** `detail` is JSON. */
type ActRow = Omit<OperatorAct, 'detail'> & { readonly detail: string };

/** The operators' actions, stored for 400 days. A line never changes. */
export class OperatorActs {
  readonly #add: Statement;
  readonly #last: Statement<ActRow>;

  constructor(database: Database) {
    this.#add = database.prepare(
      'INSERT INTO operator_acts (at_ms, operator, act, subject, detail) VALUES (?, ?, ?, ?, ?)',
    );
    this.#last = database.prepare(
      'SELECT at_ms AS atMs, operator, act, subject, detail FROM operator_acts ORDER BY seq DESC LIMIT ?',
    );
  }

  /** Adds a line, in the transaction of the action if one is open. */
  add({ atMs, operator, act, subject, detail }: OperatorAct): void {
    this.#add.run(atMs, operator, act, subject, JSON.stringify(detail));
  }

  /** Returns the lines, the newest first. */
  last(limit: number): readonly OperatorAct[] {
    return this.#last.all(limit).map((row) => ({ ...row, detail: JSON.parse(row.detail) as object }));
  }
}
