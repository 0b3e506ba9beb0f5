// Dead letters → listed, queued again behind their key, or discarded.

import { toRfc3339Seconds } from '../formats/dates.ts';
import type { DeadLetter } from '../model/deliveries.ts';
import type { DeadLetterPage, DeadLetterRange } from '../model/operators.ts';
import type { StoreClock } from './clock/store-clock.ts';
import { countWithin, type Database, type SizedRow, type Statements } from './database.ts';
import { parseCloudEvent } from './journal.ts';
import type { SinkTables } from './sinks.ts';

/** Small steps, so that a verb delays the commits of a running bridge by only some milliseconds. */
const STEP = 200;

/** Without both members: all dead letters. */
interface DeadLetterChoice {
  readonly sink?: string;
  /** CloudEvent ids. */
  readonly ids?: readonly string[];
}

const COLUMNS = 'd.seq, d.sink, d.reason, d.status, d.attempts, d.at_ms AS atMs, j.id, j.bytes';

export const DEAD_LETTERS_SQL = {
  page: `SELECT ${COLUMNS} FROM deliveries d INDEXED BY deliveries_dead_seq CROSS JOIN journal j ON j.seq = d.journal
    WHERE d.state = 'dead' AND d.seq > ? AND d.seq <= ? ORDER BY d.seq`,
  sizes: `SELECT d.seq, length(j.bytes) AS size FROM deliveries d INDEXED BY deliveries_dead_seq CROSS JOIN journal j ON j.seq = d.journal
    WHERE d.state = 'dead' AND d.seq > ? ORDER BY d.seq LIMIT ?`,
  pageOf: `SELECT ${COLUMNS} FROM deliveries d INDEXED BY deliveries_dead CROSS JOIN journal j ON j.seq = d.journal
    WHERE d.sink = ? AND d.state = 'dead' AND d.seq > ? AND d.seq <= ? ORDER BY d.seq`,
  sizesOf: `SELECT d.seq, length(j.bytes) AS size FROM deliveries d INDEXED BY deliveries_dead CROSS JOIN journal j ON j.seq = d.journal
    WHERE d.sink = ? AND d.state = 'dead' AND d.seq > ? ORDER BY d.seq LIMIT ?`,
  chosen: `SELECT d.seq, j.id FROM deliveries d INDEXED BY deliveries_dead CROSS JOIN journal j ON j.seq = d.journal
    WHERE d.sink = ? AND d.state = 'dead' AND j.id IN (SELECT value FROM json_each(?)) ORDER BY d.seq`,
} as const;

type DeadLetterWithEvent = DeadLetter & { readonly cloudEvent: object };

const SQL = {
  ...DEAD_LETTERS_SQL,
  step: `SELECT ${COLUMNS}
    FROM deliveries d CROSS JOIN journal j ON j.seq = d.journal
    WHERE d.state = 'dead' AND d.sink = ?1 AND d.seq > ?2 AND d.seq <= ?3 AND (?4 IS NULL OR j.id IN (SELECT value FROM json_each(?4)))
    ORDER BY d.seq LIMIT ?5`,
  newest: 'SELECT max(seq) AS seq FROM deliveries',
  sinksWithAny: `SELECT DISTINCT sink FROM deliveries WHERE state = 'dead' ORDER BY sink`,
  requeue: `INSERT INTO deliveries (sink, journal, partition_key, queued_ms, since_ms, state)
    SELECT sink, journal, partition_key, ?, ?, 'queued' FROM deliveries WHERE seq = ? AND state = 'dead'`,
  note: `INSERT INTO discarded (seq, sink, journal, attempts, status, at_ms)
    SELECT seq, sink, journal, attempts, status, ? FROM deliveries WHERE seq = ? AND state = 'dead'`,
  remove: `DELETE FROM deliveries WHERE seq = ? AND state = 'dead'`,
} as const;

type DeadRow = Pick<DeadLetter, 'id' | 'sink' | 'reason' | 'status' | 'attempts'> &
  Readonly<{ seq: number; atMs: number; bytes: Uint8Array }>;

interface Rows {
  readonly step: DeadRow;
  readonly page: DeadRow;
  readonly sizes: SizedRow;
  readonly pageOf: DeadRow;
  readonly sizesOf: SizedRow;
  readonly chosen: Pick<DeadRow, 'seq' | 'id'>;
  readonly newest: { seq: number | null };
  readonly sinksWithAny: { sink: string };
}

export class DeadLetters {
  readonly #database: Database;
  readonly #sinks: SinkTables;
  readonly #clock: StoreClock;
  readonly #sql: Statements<keyof typeof SQL, Rows>;

  constructor(database: Database, sinks: SinkTables, clock: StoreClock) {
    this.#database = database;
    this.#sinks = sinks;
    this.#clock = clock;
    this.#sql = database.prepareAll(SQL);
  }

  /**
   * Yields dead letters by sink, oldest first. Reads in steps on demand, so that a slow consumer keeps nothing open.
   */
  *list(choice: DeadLetterChoice = {}): Generator<DeadLetterWithEvent> {
    for (const rows of this.#steps(choice)) yield* rows.map(toDeadLetter);
  }

  /**
   * Queues dead letters again as new rows behind their key, with no attempts. Skips rows of removed sinks. Returns how
   * many it queued.
   * @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN if `choice` names a removed sink
   */
  retry(choice: DeadLetterChoice = {}): number {
    const atMs = this.#clock.wallMs();
    const known = this.#sinks.names();
    if (choice.sink !== undefined) this.#sinks.expect(choice.sink);
    return this.#each(choice, (row) => (known.includes(row.sink) ? this.#retry(row.seq, atMs) : 0));
  }

  /** Deletes dead letters; only the journal page still shows them. Returns how many. */
  discard(choice: DeadLetterChoice): number {
    const atMs = this.#clock.wallMs();
    return this.#each(choice, (row) => this.#discard(row.seq, atMs));
  }

  /** Returns the oldest dead letters of one sink, or of all, after the row `after`. */
  page({ sink, after, limit, maxBytes }: DeadLetterRange): DeadLetterPage {
    const sizes = sink === null ? this.#sql.sizes.all(after, limit + 1) : this.#sql.sizesOf.all(sink, after, limit + 1);
    const count = Math.min(limit, countWithin(sizes, maxBytes));
    const end = sizes[count - 1]?.seq ?? after;
    const rows = sink === null ? this.#sql.page.all(after, end) : this.#sql.pageOf.all(sink, after, end);
    return { items: rows.map((row) => withoutEvent(toDeadLetter(row))), next: count < sizes.length ? end : null };
  }

  /**
   * Retries or discards all of these dead letters of one sink, or none, in one transaction with `note`.
   * Returns the ids that are not dead letters of the sink, or null if it has acted.
   * @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN for a retry to a removed sink
   */
  decide(
    act: 'retry' | 'discard',
    sink: string,
    ids: readonly string[],
    note: (count: number) => void,
  ): readonly string[] | null {
    if (act === 'retry') this.#sinks.expect(sink);
    const atMs = this.#clock.wallMs();
    return this.#database.transaction(() => {
      const rows = this.#sql.chosen.all(sink, JSON.stringify(ids));
      const found = new Set(rows.map(({ id }) => id));
      const unknown = ids.filter((id) => !found.has(id));
      if (unknown.length > 0) return unknown;
      for (const { seq } of rows) act === 'retry' ? this.#retry(seq, atMs) : this.#discard(seq, atMs);
      note(rows.length);
      return null;
    });
  }

  #retry(seq: number, atMs: number): number {
    return this.#sql.requeue.run(atMs, this.#clock.nowMs(), seq) === 0 ? 0 : this.#sql.remove.run(seq);
  }

  #discard(seq: number, atMs: number): number {
    return this.#sql.note.run(atMs, seq) === 0 ? 0 : this.#sql.remove.run(seq);
  }

  #each(choice: DeadLetterChoice, work: (row: DeadRow) => number): number {
    let count = 0;
    for (const rows of this.#steps(choice)) {
      count += this.#database.transaction(() => rows.reduce((sum, row) => sum + work(row), 0));
    }
    return count;
  }

  /** Yields only rows that are dead now: a running bridge may dead-letter a retried row again. */
  *#steps({ sink, ids }: DeadLetterChoice): Generator<DeadRow[]> {
    const newest = this.#sql.newest.get()?.seq ?? 0;
    const wanted = ids === undefined ? null : JSON.stringify(ids);
    for (const name of sink === undefined ? this.#sql.sinksWithAny.all().map((row) => row.sink) : [sink]) {
      for (
        let after = 0, rows = this.#sql.step.all(name, after, newest, wanted, STEP);
        rows.length > 0;
        rows = this.#sql.step.all(name, after, newest, wanted, STEP)
      ) {
        yield rows;
        after = rows.at(-1)?.seq ?? newest;
      }
    }
  }
}

function withoutEvent({ cloudEvent: _, ...letter }: DeadLetterWithEvent): DeadLetter {
  return letter;
}

function toDeadLetter({ bytes, id, sink, reason, status, attempts, atMs }: DeadRow): DeadLetterWithEvent {
  const cloudEvent = parseCloudEvent(bytes) as {
    readonly type: string;
    readonly data?: { readonly [Field in 'eventId' | 'eventType']?: string } & { readonly resources?: string[] };
  };
  const { type, data } = cloudEvent;
  return {
    id,
    eventId: data?.eventId ?? null,
    eventType: data?.eventType ?? null,
    resources: data?.resources ?? [],
    sink,
    type,
    reason,
    status,
    attempts,
    at: toRfc3339Seconds(atMs),
    cloudEvent,
  };
}
