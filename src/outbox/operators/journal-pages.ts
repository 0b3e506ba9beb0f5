// A position, an event, a span of time → rows of the journal in order, and what became of each.

import type { JournalledEntry } from '../../model/events.ts';
import type { DeliveryState, JournalDelivery, JournalItem, JournalPage, JournalRange } from '../../model/operators.ts';
import type { Database, Statement } from '../database.ts';

/** Rows that one call looks at, at most: some milliseconds. */
const LOOKED_AT = 1000;

const ROW = 'seq, id, change, key, occurrence, partition_key, time_ms, bytes';

export const JOURNAL_PAGES_SQL = {
  after: `SELECT ${ROW} FROM journal WHERE seq > ? ORDER BY seq LIMIT ?`,
  within: 'SELECT seq, time_ms, bytes FROM journal WHERE seq > ? AND seq <= ? AND time_ms >= ? AND time_ms < ? ORDER BY seq LIMIT ?',
  ofEvent: `SELECT seq, time_ms, bytes FROM journal INDEXED BY journal_key
    WHERE key = ? AND seq > ? AND time_ms >= ? AND time_ms < ? ORDER BY seq LIMIT ?`,
  last: 'SELECT max(seq) AS seq FROM (SELECT seq FROM journal WHERE seq > ? ORDER BY seq LIMIT ?)',
  deliveries: `SELECT journal, seq, sink, state, attempts, status, queued_ms, at_ms FROM json_each(?) CROSS JOIN deliveries INDEXED BY deliveries_journal
    WHERE journal = json_each.value`,
  discarded: `SELECT journal, seq, sink, 'discarded' AS state, attempts, status, at_ms AS queued_ms, at_ms FROM json_each(?)
    CROSS JOIN discarded INDEXED BY discarded_journal WHERE journal = json_each.value`,
  pruned: 'SELECT seq FROM journal_pruned WHERE id = 1',
} as const;

/** By rowid of sqlite_sequence, a table of few rows. */
const NEWEST = `SELECT seq FROM sqlite_sequence WHERE name = 'journal'`;

interface EntryRow {
  readonly seq: number;
  readonly id: string;
  readonly change: string;
  readonly key: string | null;
  readonly occurrence: number | null;
  readonly partition_key: string;
  readonly time_ms: number;
  readonly bytes: Uint8Array;
}

type FoundRow = Pick<EntryRow, 'seq' | 'time_ms' | 'bytes'>;

interface DeliveryRow {
  readonly journal: number;
  readonly seq: number;
  readonly sink: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly status: number | string | null;
  readonly queued_ms: number;
  readonly at_ms: number | null;
}

/** Reads alone. */
export class JournalPages {
  readonly #after: Statement<EntryRow>;
  readonly #within: Statement<FoundRow>;
  readonly #ofEvent: Statement<FoundRow>;
  readonly #last: Statement<{ seq: number | null }>;
  readonly #deliveries: Statement<DeliveryRow>;
  readonly #discarded: Statement<DeliveryRow>;
  readonly #pruned: Statement<{ seq: number }>;
  readonly #newest: Statement<{ seq: number }>;

  constructor(database: Database) {
    this.#after = database.prepare(JOURNAL_PAGES_SQL.after);
    this.#within = database.prepare(JOURNAL_PAGES_SQL.within);
    this.#ofEvent = database.prepare(JOURNAL_PAGES_SQL.ofEvent);
    this.#last = database.prepare(JOURNAL_PAGES_SQL.last);
    this.#deliveries = database.prepare(JOURNAL_PAGES_SQL.deliveries);
    this.#discarded = database.prepare(JOURNAL_PAGES_SQL.discarded);
    this.#pruned = database.prepare(JOURNAL_PAGES_SQL.pruned);
    this.#newest = database.prepare(NEWEST);
  }

  /** The position of the newest CloudEvent, kept or not; 0 before the first. */
  newest(): number {
    return this.#newest.get()?.seq ?? 0;
  }

  /** The newest position that was pruned; 0 before that: whoever reads on from before it misses something. */
  pruned(): number {
    return this.#pruned.get()?.seq ?? 0;
  }

  /** Those behind a position, oldest first. */
  after(position: number, limit: number): readonly JournalledEntry[] {
    return this.#after.all(position, limit).map(toEntry);
  }

  /** One step of at most 1,000 rows: a page that ends before its limit says where to go on, unless it is the last. */
  page({ after, sinceMs, untilMs, eventKey, limit }: JournalRange): JournalPage {
    const most = Math.min(limit, LOOKED_AT);
    const until = Math.min(untilMs, Number.MAX_SAFE_INTEGER);
    if (eventKey !== null) {
      const rows = this.#ofEvent.all(eventKey, after, sinceMs, until, most);
      return { items: this.#items(rows), next: rows.length < most ? null : (rows.at(-1)?.seq ?? null) };
    }
    const last = this.#last.get(after, LOOKED_AT)?.seq ?? null;
    if (last === null) return { items: [], next: null };
    const rows = this.#within.all(after, last, sinceMs, until, most);
    const end = rows.length < most ? last : (rows.at(-1)?.seq ?? last);
    return { items: this.#items(rows), next: this.#after.get(end, 1) === undefined ? null : end };
  }

  #items(rows: readonly FoundRow[]): readonly JournalItem[] {
    const positions = JSON.stringify(rows.map(({ seq }) => seq));
    const found = [...this.#deliveries.all(positions), ...this.#discarded.all(positions)].sort((one, other) => one.seq - other.seq);
    const byPosition = Map.groupBy(found, ({ journal }) => journal);
    return rows.map(({ seq, time_ms, bytes }) => ({
      position: seq,
      atMs: time_ms,
      bytes,
      deliveries: (byPosition.get(seq) ?? []).map(toDelivery),
    }));
  }
}

function toEntry({ seq, partition_key: partitionKey, time_ms: timeMs, ...row }: EntryRow): JournalledEntry {
  return {
    position: seq,
    id: row.id,
    change: row.change,
    key: row.key,
    occurrence: row.occurrence,
    partitionKey,
    timeMs,
    bytes: row.bytes,
  };
}

function toDelivery({ sink, state, attempts, status, queued_ms, at_ms }: DeliveryRow): JournalDelivery {
  const isDelivered = state === 'delivered';
  return {
    sink,
    state,
    attempts: attempts + Number(isDelivered),
    // Of a queued one the store's at_ms is that of its last failure.
    atMs: state === 'queued' ? queued_ms : (at_ms ?? queued_ms),
    status: isDelivered ? null : status,
  };
}
