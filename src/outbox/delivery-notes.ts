// Notes about single deliveries of a sink ↔ their rows, which may outlive the deliveries.
import type { Deps } from '../time/clock.ts';
import type { Database, Statements } from './database.ts';

export const DELIVERY_NOTES_SQL = {
  all: 'SELECT seq, note AS text FROM delivery_notes WHERE sink = ? ORDER BY seq',
  nextSink: 'SELECT sink FROM delivery_notes WHERE sink > ? ORDER BY sink LIMIT 1',
  write: 'INSERT OR REPLACE INTO delivery_notes (sink, seq, note, at_ms) VALUES (?, ?, ?, ?)',
  forget: 'DELETE FROM delivery_notes WHERE sink = ? AND seq = ?',
} as const;

export class DeliveryNoteTable {
  readonly #database: Database;
  readonly #wallMs: Deps['wallMs'];
  readonly #sql: Statements<
    keyof typeof DELIVERY_NOTES_SQL,
    { all: { seq: number; text: string }; nextSink: { sink: string } }
  >;

  constructor(database: Database, wallMs: Deps['wallMs']) {
    this.#database = database;
    this.#wallMs = wallMs;
    this.#sql = database.prepareAll(DELIVERY_NOTES_SQL);
  }

  /** Returns the notes of a sink in queue order. */
  all(sink: string): readonly { readonly seq: number; readonly text: string }[] {
    return this.#sql.all.all(sink).map((row) => ({ ...row }));
  }

  /** Returns the sinks with notes, including removed sinks. */
  sinks(): readonly string[] {
    const found: string[] = [];
    for (let next = this.#sql.nextSink.get(''); next !== undefined; next = this.#sql.nextSink.get(next.sink))
      found.push(next.sink);
    return found;
  }

  /**
   * Writes a note; null deletes it. It survives the process. A power failure may lose it, but also ends the programs it
   * is about, so it needs no fsync.
   */
  write(sink: string, seq: number, text: string | null): void {
    this.#database.relaxed(() => {
      if (text === null) this.#sql.forget.run(sink, seq);
      else this.#sql.write.run(sink, seq, text, this.#wallMs());
    });
  }
}
