// The hold of everything ↔ its row, with a line for each operator who sets or releases it.
import type { HoldOfAll } from '../../model/approvals.ts';
import type { Database, Statement } from '../database.ts';
import type { OperatorActs } from './operator-acts.ts';

type HoldRow = Omit<HoldOfAll, 'at'> & { readonly atMs: number };

export class HoldOfAllTable {
  readonly #acts: OperatorActs;
  readonly #row: Statement<HoldRow>;
  readonly #save: Statement;
  readonly #remove: Statement;

  constructor(database: Database, acts: OperatorActs) {
    this.#acts = acts;
    this.#row = database.prepare('SELECT approver AS by, via, at_ms AS atMs, reason FROM hold_of_all');
    this.#save = database.prepare(
      'INSERT OR REPLACE INTO hold_of_all (id, approver, via, at_ms, reason) VALUES (1, ?, ?, ?, ?)',
    );
    this.#remove = database.prepare('DELETE FROM hold_of_all');
  }

  /** Returns the hold of everything, or null if none stands. */
  load(): HoldOfAll | null {
    const row = this.#row.get();
    if (row === undefined) return null;
    const { atMs, ...hold } = row;
    return { ...hold, at: { wallMs: atMs, elapsedMs: null } };
  }

  /** Sets or replaces the hold, or with null removes it, in the open transaction. `operator`: who did it. */
  save(hold: HoldOfAll | null, operator: string, atMs: number): void {
    const line = { operator, atMs, subject: null };
    if (hold === null) {
      this.#remove.run();
      this.#acts.add({ ...line, act: 'release-all', detail: {} });
      return;
    }
    const { by, via, at, reason } = hold;
    this.#save.run(by, via, at.wallMs, reason);
    this.#acts.add({ ...line, act: 'hold-all', detail: { reason } });
  }
}
