// A position, an event, a span of time → journal rows in order, with their deliveries.

import type { JournalledEntry, Occurrence } from '../../model/events.ts';
import type { DeliveryState, JournalChange, JournalDelivery, JournalItem, JournalPage, JournalRange } from '../../model/operators.ts';
import type { Database, Statement } from '../database.ts';
import { countWithin, type SizedRow } from '../sized-rows.ts';

/** The most rows that one call reads: some milliseconds. */
const LOOKED_AT = 1000;

const ROW = 'seq, id, change, key, occurrence, partition_key, time_ms, bytes';

export const JOURNAL_PAGES_SQL = {
  after: `SELECT ${ROW} FROM journal WHERE seq > ? AND seq <= ? ORDER BY seq`,
  sizesAfter: 'SELECT seq, length(bytes) AS size FROM journal WHERE seq > ? ORDER BY seq LIMIT ?',
  within: 'SELECT seq, time_ms, bytes FROM journal WHERE seq > ? AND seq <= ? AND time_ms >= ? AND time_ms < ? ORDER BY seq',
  sizesWithin:
    'SELECT seq, length(bytes) AS size FROM journal WHERE seq > ? AND seq <= ? AND time_ms >= ? AND time_ms < ? ORDER BY seq LIMIT ?',
  ofEvent: `SELECT seq, time_ms, bytes FROM journal INDEXED BY journal_key
    WHERE key = ? AND seq > ? AND seq <= ? AND time_ms >= ? AND time_ms < ? ORDER BY seq`,
  sizesOfEvent: `SELECT seq, length(bytes) AS size FROM journal INDEXED BY journal_key
    WHERE key = ? AND seq > ? AND time_ms >= ? AND time_ms < ? ORDER BY seq LIMIT ?`,
  changesOf: 'SELECT seq, time_ms, change FROM journal INDEXED BY journal_key WHERE key = ? ORDER BY seq LIMIT ?',
  notice: `SELECT ${ROW} FROM journal INDEXED BY journal_key
    WHERE key = ? AND seq <= ? AND occurrence = ? AND change IN ('scheduled', 'updated', 'started') ORDER BY seq DESC LIMIT 1`,
  seenId: `SELECT id FROM journal INDEXED BY journal_key
    WHERE key = ? AND occurrence = ? AND change IN ('scheduled', 'updated') ORDER BY seq DESC LIMIT 1`,
  last: 'SELECT max(seq) AS seq FROM (SELECT seq FROM journal WHERE seq > ? ORDER BY seq LIMIT ?)',
  deliveries: `SELECT journal, seq, sink, state, attempts, status, queued_ms, at_ms FROM json_each(?) CROSS JOIN deliveries INDEXED BY deliveries_journal
    WHERE journal = json_each.value`,
  discarded: `SELECT journal, seq, sink, 'discarded' AS state, attempts, status, at_ms AS queued_ms, at_ms FROM json_each(?)
    CROSS JOIN discarded INDEXED BY discarded_journal WHERE journal = json_each.value`,
  pruned: 'SELECT seq FROM journal_pruned WHERE id = 1',
} as const;

/** Reads sqlite_sequence, a table with few rows, by rowid. */
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
type ChangeRow = Pick<EntryRow, 'seq' | 'time_ms' | 'change'>;

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

/** Read-only access to the journal. */
export class JournalPages {
  readonly #after: Statement<EntryRow>;
  readonly #sizesAfter: Statement<SizedRow>;
  readonly #within: Statement<FoundRow>;
  readonly #sizesWithin: Statement<SizedRow>;
  readonly #ofEvent: Statement<FoundRow>;
  readonly #sizesOfEvent: Statement<SizedRow>;
  readonly #changesOf: Statement<ChangeRow>;
  readonly #notice: Statement<EntryRow>;
  readonly #seenId: Statement<Pick<EntryRow, 'id'>>;
  readonly #last: Statement<{ seq: number | null }>;
  readonly #deliveries: Statement<DeliveryRow>;
  readonly #discarded: Statement<DeliveryRow>;
  readonly #pruned: Statement<{ seq: number }>;
  readonly #newest: Statement<{ seq: number }>;

  constructor(database: Database) {
    this.#after = database.prepare(JOURNAL_PAGES_SQL.after);
    this.#sizesAfter = database.prepare(JOURNAL_PAGES_SQL.sizesAfter);
    this.#within = database.prepare(JOURNAL_PAGES_SQL.within);
    this.#sizesWithin = database.prepare(JOURNAL_PAGES_SQL.sizesWithin);
    this.#ofEvent = database.prepare(JOURNAL_PAGES_SQL.ofEvent);
    this.#sizesOfEvent = database.prepare(JOURNAL_PAGES_SQL.sizesOfEvent);
    this.#changesOf = database.prepare(JOURNAL_PAGES_SQL.changesOf);
    this.#notice = database.prepare(JOURNAL_PAGES_SQL.notice);
    this.#seenId = database.prepare(JOURNAL_PAGES_SQL.seenId);
    this.#last = database.prepare(JOURNAL_PAGES_SQL.last);
    this.#deliveries = database.prepare(JOURNAL_PAGES_SQL.deliveries);
    this.#discarded = database.prepare(JOURNAL_PAGES_SQL.discarded);
    this.#pruned = database.prepare(JOURNAL_PAGES_SQL.pruned);
    this.#newest = database.prepare(NEWEST);
  }

  /** Returns the position of the newest CloudEvent, also if it is pruned; 0 before the first. */
  newest(): number {
    return this.#newest.get()?.seq ?? 0;
  }

  /** Returns the newest pruned position, or 0. A reader that continues from before it misses rows. */
  pruned(): number {
    return this.#pruned.get()?.seq ?? 0;
  }

  /** Returns the rows after a position, oldest first: as many as fit into `maxBytes`, and at least one. */
  after(position: number, limit: number, maxBytes: number): readonly JournalledEntry[] {
    const sizes = this.#sizesAfter.all(position, limit);
    const last = sizes[countWithin(sizes, maxBytes) - 1];
    return last === undefined ? [] : this.#after.all(position, last.seq).map(toEntry);
  }

  /** Returns the newest `scheduled`, `updated` or `started` of an occurrence up to a position, or null. */
  notice({ key, occurrence }: Occurrence, position: number): JournalledEntry | null {
    const row = this.#notice.get(key, position, occurrence);
    return row === undefined ? null : toEntry(row);
  }

  /** Returns the id of the newest `scheduled` or `updated` of an occurrence, as `Seen` of an approval takes it, or null. */
  seenId({ key, occurrence }: Occurrence): string | null {
    return this.#seenId.get(key, occurrence)?.id ?? null;
  }

  /** Reads one step of at most 1,000 rows. A page with fewer rows than its limit has the next position, unless it is the last. */
  page({ after, sinceMs, untilMs, eventKey, limit, maxBytes }: JournalRange): JournalPage {
    const until = Math.min(untilMs, Number.MAX_SAFE_INTEGER);
    const most = Math.min(limit, LOOKED_AT);
    if (eventKey !== null) {
      const sizes = this.#sizesOfEvent.all(eventKey, after, sinceMs, until, most + 1);
      const count = Math.min(most, countWithin(sizes, maxBytes));
      const end = sizes[count - 1]?.seq ?? after;
      const rows = this.#ofEvent.all(eventKey, after, end, sinceMs, until);
      return { items: this.#items(rows), next: count < sizes.length ? end : null };
    }
    const last = this.#last.get(after, LOOKED_AT)?.seq ?? null;
    if (last === null) return { items: [], next: null };
    const sizes = this.#sizesWithin.all(after, last, sinceMs, until, most + 1);
    const count = Math.min(most, countWithin(sizes, maxBytes));
    const end = count < sizes.length ? (sizes[count - 1]?.seq ?? last) : last;
    const rows = this.#within.all(after, end, sinceMs, until);
    return { items: this.#items(rows), next: this.#sizesAfter.get(end, 1) === undefined ? null : end };
  }

  /** The changes of an event, the oldest first, without their CloudEvents. */
  changesOf(eventKey: string, limit: number): readonly JournalChange[] {
    const rows = this.#changesOf.all(eventKey, limit);
    const deliveries = this.#deliveriesOf(rows);
    return rows.map(({ seq, time_ms, change }) => ({ position: seq, atMs: time_ms, change, deliveries: deliveries(seq) }));
  }

  #items(rows: readonly FoundRow[]): readonly JournalItem[] {
    const deliveries = this.#deliveriesOf(rows);
    return rows.map(({ seq, time_ms, bytes }) => ({ position: seq, atMs: time_ms, bytes, deliveries: deliveries(seq) }));
  }

  /** Those of a position, for all of these rows. */
  #deliveriesOf(rows: readonly Pick<EntryRow, 'seq'>[]): (position: number) => readonly JournalDelivery[] {
    const positions = JSON.stringify(rows.map(({ seq }) => seq));
    const found = [...this.#deliveries.all(positions), ...this.#discarded.all(positions)].sort((one, other) => one.seq - other.seq);
    const byPosition = Map.groupBy(found, ({ journal }) => journal);
    return (position) => (byPosition.get(position) ?? []).map(toDelivery);
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
    // For a queued delivery, at_ms is the time of its last failure.
    atMs: state === 'queued' ? queued_ms : (at_ms ?? queued_ms),
    status: isDelivered ? null : status,
  };
}
