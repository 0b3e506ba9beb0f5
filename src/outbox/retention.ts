// The clock and `store.retain` → old rows deleted, in steps too short to delay a poll.
import type { Database, Statement, Statements } from './database.ts';

/** For used ids and data about ended events (behaviour 3.6), and for messages, because brokers store them for long. */
const MEMORY_MS = 400 * 24 * 60 * 60 * 1000;

const IS_LIVE = (occurrence: string): string =>
  `SELECT 1 FROM occurrences o WHERE o.occurrence = ${occurrence} AND o.ended_ms IS NULL`;

export const RETENTION_SQL = {
  delivered: `DELETE FROM deliveries WHERE seq IN
    (SELECT seq FROM deliveries INDEXED BY deliveries_delivered WHERE state = 'delivered' AND at_ms < ? ORDER BY at_ms LIMIT ?)`,
  notes: `DELETE FROM delivery_notes WHERE (sink, seq) IN (SELECT n.sink, n.seq FROM delivery_notes n INDEXED BY delivery_notes_age
    WHERE n.at_ms < ? AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.seq = n.seq) LIMIT ?)`,
  /** `needed`: a delivery in any state, or an event that has not ended, still refers to the row. */
  journal: `SELECT j.seq, j.time_ms, EXISTS (SELECT 1 FROM deliveries d WHERE d.journal = j.seq) OR EXISTS (${IS_LIVE('j.occurrence')}) AS needed
    FROM journal j INDEXED BY journal_time WHERE (j.time_ms, j.seq) > (?, ?) AND j.time_ms < ? ORDER BY j.time_ms, j.seq LIMIT ?`,
  forgetJournal: 'DELETE FROM journal WHERE seq = ?',
  pruned: 'UPDATE journal_pruned SET seq = ?1 WHERE id = 1 AND seq < ?1',
  discarded: `DELETE FROM discarded WHERE seq IN
    (SELECT seq FROM discarded INDEXED BY discarded_age WHERE at_ms < ? ORDER BY at_ms LIMIT ?)`,
  drills: `DELETE FROM drills WHERE id IN
    (SELECT id FROM drills INDEXED BY drills_ended WHERE ended_ms IS NOT NULL AND ended_ms < ? ORDER BY ended_ms LIMIT ?)`,
  acts: `DELETE FROM operator_acts WHERE seq IN
    (SELECT seq FROM operator_acts INDEXED BY operator_acts_age WHERE at_ms < ? ORDER BY at_ms LIMIT ?)`,
  usedIds: `DELETE FROM used_ids WHERE seq IN
    (SELECT u.seq FROM used_ids u INDEXED BY used_ids_age WHERE u.used_ms < ? AND NOT EXISTS (${IS_LIVE('u.occurrence')}) ORDER BY u.used_ms LIMIT ?)`,
  messages: `DELETE FROM handled_messages WHERE (source, id) IN
    (SELECT source, id FROM handled_messages INDEXED BY handled_messages_age WHERE handled_ms < ? ORDER BY handled_ms LIMIT ?)`,
  ended:
    'SELECT occurrence FROM occurrences INDEXED BY occurrences_ended WHERE ended_ms IS NOT NULL AND ended_ms < ? ORDER BY ended_ms LIMIT ?',
  forgetSinks: 'DELETE FROM sink_occurrences WHERE occurrence = ?',
  forgetApprovals: 'DELETE FROM approvals WHERE occurrence = ?',
  forgetSteps: 'DELETE FROM approval_steps WHERE occurrence = ?',
  forgetStepCounts: 'DELETE FROM approval_step_counts WHERE occurrence = ?',
  forgetOccurrence: 'DELETE FROM occurrences WHERE occurrence = ?',
} as const;

interface PruneOptions {
  /** `store.retain`, for the journal and for delivered rows. */
  readonly retainMs: number;
  readonly nowMs: number;
  /** The most rows of each kind in this step. Default: 500. */
  readonly limit?: number;
}

interface JournalRow {
  readonly seq: number;
  readonly time_ms: number;
  readonly needed: number;
}

export class Retention {
  readonly #database: Database;
  readonly #sql: Statements<keyof typeof RETENTION_SQL, { journal: JournalRow; ended: { occurrence: number } }>;
  readonly #forgetOccurrence: readonly Statement[];
  /** The position in the old part of the journal, so that later steps skip rows that are still needed. */
  #position: Pick<JournalRow, 'time_ms' | 'seq'> = { time_ms: 0, seq: 0 };

  constructor(database: Database) {
    this.#database = database;
    this.#sql = database.prepareAll(RETENTION_SQL);
    const { forgetSinks, forgetApprovals, forgetSteps, forgetStepCounts, forgetOccurrence } = this.#sql;
    this.#forgetOccurrence = [forgetSinks, forgetApprovals, forgetSteps, forgetStepCounts, forgetOccurrence];
  }

  /**
   * Deletes old rows in one short step, without an fsync. Call it again, a little later, until it returns 0. Returns
   * how many rows it deleted or skipped. It skips rows that are still needed: undelivered, dead-lettered, or of an
   * event that has not ended.
   */
  prune({ retainMs, nowMs, limit = 500 }: PruneOptions): number {
    const retained = nowMs - retainMs;
    const remembered = nowMs - Math.max(MEMORY_MS, retainMs);
    return this.#database.relaxed(() =>
      this.#database.transaction(
        () =>
          this.#sql.delivered.run(retained, limit) +
          this.#sql.notes.run(retained, limit) +
          this.#sql.discarded.run(retained, limit) +
          this.#sql.drills.run(retained, limit) +
          this.#sql.acts.run(remembered, limit) +
          this.#pruneJournal(retained, limit) +
          this.#sql.usedIds.run(remembered, limit) +
          this.#sql.messages.run(remembered, limit) +
          this.#pruneOccurrences(remembered, limit),
      ),
    );
  }

  #pruneJournal(beforeMs: number, limit: number): number {
    const rows = this.#sql.journal.all(this.#position.time_ms, this.#position.seq, beforeMs, limit);
    const last = rows.length < limit ? undefined : rows.at(-1);
    this.#position = last ?? { time_ms: 0, seq: 0 };
    const forgotten = rows.flatMap(({ seq, needed }) => (needed ? [] : [seq]));
    for (const seq of forgotten) this.#sql.forgetJournal.run(seq);
    // Readers that start before this position learn that rows are missing.
    if (forgotten.length > 0) this.#sql.pruned.run(Math.max(...forgotten));
    return last === undefined ? forgotten.length : rows.length;
  }

  #pruneOccurrences(beforeMs: number, limit: number): number {
    const ended = this.#sql.ended.all(beforeMs, limit);
    return ended.reduce(
      (sum, { occurrence }) =>
        this.#forgetOccurrence.reduce((rows, statement) => rows + statement.run(occurrence), sum),
      0,
    );
  }
}
