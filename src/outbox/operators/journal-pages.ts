// A position, an event, a span of time → journal rows in order, with their deliveries.

import type { JournalledEntry, Occurrence } from '../../model/events.ts';
import type {
  DeliveryState,
  JournalChange,
  JournalDelivery,
  JournalItem,
  JournalPage,
  JournalRange,
} from '../../model/operators.ts';
import { countWithin, type Database, type SizedRow, type Statements } from '../database.ts';

/** The most rows that one call reads: some milliseconds. */
const LOOKED_AT = 1000;

const ROW = 'seq AS position, id, change, key, occurrence, partition_key AS partitionKey, time_ms AS timeMs, bytes';
const ITEM = 'seq AS position, time_ms AS atMs';

export const JOURNAL_PAGES_SQL = {
  after: `SELECT ${ROW} FROM journal WHERE seq > ? AND seq <= ? ORDER BY seq`,
  sizesAfter: 'SELECT seq, length(bytes) AS size FROM journal WHERE seq > ? ORDER BY seq LIMIT ?',
  within: `SELECT ${ITEM}, bytes FROM journal WHERE seq > ? AND seq <= ? AND time_ms >= ? AND time_ms < ? ORDER BY seq`,
  sizesWithin:
    'SELECT seq, length(bytes) AS size FROM journal WHERE seq > ? AND seq <= ? AND time_ms >= ? AND time_ms < ? ORDER BY seq LIMIT ?',
  ofEvent: `SELECT ${ITEM}, bytes FROM journal INDEXED BY journal_key
    WHERE key = ? AND seq > ? AND seq <= ? AND time_ms >= ? AND time_ms < ? ORDER BY seq`,
  sizesOfEvent: `SELECT seq, length(bytes) AS size FROM journal INDEXED BY journal_key
    WHERE key = ? AND seq > ? AND time_ms >= ? AND time_ms < ? ORDER BY seq LIMIT ?`,
  changesOf: `SELECT ${ITEM}, change FROM journal INDEXED BY journal_key WHERE key = ? ORDER BY seq LIMIT ?`,
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

const SQL = {
  ...JOURNAL_PAGES_SQL,
  /** Reads sqlite_sequence, a table with few rows, by rowid. */
  newest: `SELECT seq FROM sqlite_sequence WHERE name = 'journal'`,
} as const;

type FoundRow = Omit<JournalItem, 'deliveries'>;

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

interface Rows {
  readonly after: JournalledEntry;
  readonly sizesAfter: SizedRow;
  readonly within: FoundRow;
  readonly sizesWithin: SizedRow;
  readonly ofEvent: FoundRow;
  readonly sizesOfEvent: SizedRow;
  readonly changesOf: Omit<JournalChange, 'deliveries'>;
  readonly notice: JournalledEntry;
  readonly seenId: Pick<JournalledEntry, 'id'>;
  readonly last: { seq: number | null };
  readonly deliveries: DeliveryRow;
  readonly discarded: DeliveryRow;
  readonly pruned: { seq: number };
  readonly newest: { seq: number };
}

/** Read-only access to the journal. */
export class JournalPages {
  readonly #sql: Statements<keyof typeof SQL, Rows>;

  constructor(database: Database) {
    this.#sql = database.prepareAll(SQL);
  }

  /** Returns the position of the newest CloudEvent, also if it is pruned; 0 before the first. */
  newest(): number {
    return this.#sql.newest.get()?.seq ?? 0;
  }

  /** Returns the newest pruned position, or 0. A reader that continues from before it misses rows. */
  pruned(): number {
    return this.#sql.pruned.get()?.seq ?? 0;
  }

  /** Returns the rows after a position, oldest first: as many as fit into `maxBytes`, and at least one. */
  after(position: number, limit: number, maxBytes: number): readonly JournalledEntry[] {
    const sizes = this.#sql.sizesAfter.all(position, limit);
    const last = sizes[countWithin(sizes, maxBytes) - 1];
    return last === undefined ? [] : this.#sql.after.all(position, last.seq).map((row) => ({ ...row }));
  }

  /** Returns the newest `scheduled`, `updated` or `started` of an occurrence up to a position, or null. */
  notice({ key, occurrence }: Occurrence, position: number): JournalledEntry | null {
    const row = this.#sql.notice.get(key, position, occurrence);
    return row === undefined ? null : { ...row };
  }

  /**
   * Returns the id of the newest `scheduled` or `updated` of an occurrence, as `Seen` of an approval takes it, or null.
   */
  seenId({ key, occurrence }: Occurrence): string | null {
    return this.#sql.seenId.get(key, occurrence)?.id ?? null;
  }

  /**
   * Reads one step of at most 1,000 rows. A page with fewer rows than its limit has the next position, unless it is the
   * last.
   */
  page({ after, sinceMs, untilMs, eventKey, limit, maxBytes }: JournalRange): JournalPage {
    const until = Math.min(untilMs, Number.MAX_SAFE_INTEGER);
    const most = Math.min(limit, LOOKED_AT);
    if (eventKey !== null) {
      const sizes = this.#sql.sizesOfEvent.all(eventKey, after, sinceMs, until, most + 1);
      const count = Math.min(most, countWithin(sizes, maxBytes));
      const end = sizes[count - 1]?.seq ?? after;
      const rows = this.#sql.ofEvent.all(eventKey, after, end, sinceMs, until);
      return { items: this.#withDeliveries(rows), next: count < sizes.length ? end : null };
    }
    const last = this.#sql.last.get(after, LOOKED_AT)?.seq ?? null;
    if (last === null) return { items: [], next: null };
    const sizes = this.#sql.sizesWithin.all(after, last, sinceMs, until, most + 1);
    const count = Math.min(most, countWithin(sizes, maxBytes));
    const end = count < sizes.length ? (sizes[count - 1]?.seq ?? last) : last;
    const rows = this.#sql.within.all(after, end, sinceMs, until);
    return { items: this.#withDeliveries(rows), next: this.#sql.sizesAfter.get(end, 1) === undefined ? null : end };
  }

  /** The changes of an event, the oldest first, without their CloudEvents. */
  changesOf(eventKey: string, limit: number): readonly JournalChange[] {
    return this.#withDeliveries(this.#sql.changesOf.all(eventKey, limit));
  }

  #withDeliveries<Row extends { readonly position: number }>(rows: readonly Row[]) {
    const positions = JSON.stringify(rows.map(({ position }) => position));
    const found = [...this.#sql.deliveries.all(positions), ...this.#sql.discarded.all(positions)];
    const byPosition = Map.groupBy(
      found.sort((one, other) => one.seq - other.seq),
      ({ journal }) => journal,
    );
    return rows.map((row) => ({ ...row, deliveries: (byPosition.get(row.position) ?? []).map(toDelivery) }));
  }
}

function toDelivery({ seq, sink, state, attempts, status, queued_ms, at_ms }: DeliveryRow): JournalDelivery {
  const isDelivered = state === 'delivered';
  return {
    seq,
    sink,
    state,
    attempts: attempts + Number(isDelivered),
    // For a queued delivery, at_ms is the time of its last failure.
    atMs: state === 'queued' ? queued_ms : (at_ms ?? queued_ms),
    status: isDelivered ? null : status,
  };
}
