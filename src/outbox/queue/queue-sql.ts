// What a lane asks of its rows → the SQL for it, and the rows as they come.
import type { Delivery } from '../../model/deliveries.ts';
import type { SummedEntry } from '../integrity.ts';

/** Beyond so many rows `backlog` stops counting, so that a look at it costs a few milliseconds at most. */
const MOST_COUNTED = 100_000;

/** The members of a `Delivery`. */
const COLUMNS = `d.seq, d.sink, d.partition_key AS partitionKey, d.since_ms AS queuedAtMs, d.attempts, j.id, j.change, j.time_ms AS timeMs, j.bytes, j.sum,
    o.ended_ms AS endedAtMs`;
/** Joined in this order, whatever the planner thinks of it. */
const JOINED = 'CROSS JOIN journal j ON j.seq = d.journal LEFT JOIN occurrences o ON o.occurrence = j.occurrence';

const OCCURRED = 'CROSS JOIN journal j ON j.seq = d.journal CROSS JOIN occurrences o ON o.occurrence = j.occurrence';
const CHANGES = `'scheduled', 'updated', 'started', 'ended'`;
const IS_SUPERSEDED = `j.change IN (${CHANGES}) AND o.last_change > d.journal`;

export const QUEUE_SQL = {
  queued: `SELECT ${COLUMNS} FROM deliveries d INDEXED BY deliveries_queue ${JOINED}
    WHERE d.sink = ? AND d.state = 'queued' AND d.partition_key NOT IN (SELECT value FROM json_each(?)) ORDER BY d.seq LIMIT ?`,
  /** Of the keys in a JSON array, in its order; a key's rows in queue order, which is the index's. */
  queuedOf: `SELECT ${COLUMNS} FROM json_each(?2) CROSS JOIN deliveries d INDEXED BY deliveries_key ${JOINED}
    WHERE d.sink = ?1 AND d.state = 'queued' AND d.partition_key = json_each.value ORDER BY json_each.rowid LIMIT ?3`,
  queuedBefore: `SELECT ${COLUMNS} FROM deliveries d INDEXED BY deliveries_age ${JOINED}
    WHERE d.sink = ? AND d.state = 'queued' AND d.since_ms <= ? ORDER BY d.since_ms, d.seq LIMIT ?`,
  /** Keys of those whose event has changed, started or ended since. */
  supersededKeys: `SELECT d.partition_key FROM deliveries d INDEXED BY deliveries_queue ${OCCURRED}
    WHERE d.sink = ? AND d.state = 'queued' AND ${IS_SUPERSEDED}`,
  /** The same of the keys in a JSON array, in its order; a key's rows in queue order. */
  superseded: `SELECT d.seq, d.partition_key AS partitionKey FROM json_each(?2) CROSS JOIN deliveries d INDEXED BY deliveries_key ${OCCURRED}
    WHERE d.sink = ?1 AND d.state = 'queued' AND d.partition_key = json_each.value AND ${IS_SUPERSEDED} ORDER BY json_each.rowid LIMIT ?3`,
  position: 'SELECT (SELECT max(seq) FROM journal) AS journal, (SELECT max(seq) FROM deliveries) AS delivery',
  /** Keys of events that changed, started or ended behind a position of the journal. */
  movedKeys: `SELECT partition_key FROM journal WHERE seq > ? AND change IN (${CHANGES})`,
  /** Keys of rows behind a position of the queue that are of an older change, as \`replay\` queues them. */
  requeuedKeys: `SELECT partition_key FROM deliveries INDEXED BY deliveries_queue WHERE sink = ? AND state = 'queued' AND seq > ? AND journal <= ?`,
  accept: `UPDATE deliveries SET state = 'delivered', at_ms = ?, status = coalesce(?, status) WHERE seq = ? AND sink = ? AND state = 'queued'`,
  fail: `UPDATE deliveries SET attempts = attempts + 1, status = ?, at_ms = ? WHERE seq = ? AND sink = ? AND state = 'queued'`,
  deadLetter: `UPDATE deliveries SET state = 'dead', attempts = attempts + ?, reason = ?, status = coalesce(?, status), at_ms = ? WHERE seq = ? AND sink = ? AND state = 'queued'`,
  countQueued: `SELECT count(*) AS count FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_age WHERE sink = ? AND state = 'queued' LIMIT ${MOST_COUNTED})`,
  oldest: `SELECT min(since_ms) AS since_ms FROM deliveries INDEXED BY deliveries_age WHERE sink = ? AND state = 'queued'`,
  requests: 'SELECT requests FROM sinks WHERE name = ?',
  retirement: 'SELECT retired_reason, retired_ms FROM sinks WHERE name = ?',
  record: 'SELECT paused_by, paused_ms, accepted_ms, last_error FROM sinks WHERE name = ?',
  recordOutcome:
    'UPDATE sinks SET accepted_ms = coalesce(?, accepted_ms), last_error = coalesce(?, last_error) WHERE name = ?',
  pause: 'UPDATE sinks SET paused_by = ?, paused_ms = ? WHERE name = ? AND paused_ms IS NULL',
  countDead: `SELECT count(*) AS count FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_dead WHERE sink = ? AND state = 'dead' LIMIT ${MOST_COUNTED})`,
  retire: 'UPDATE sinks SET retired_reason = ?, retired_ms = ? WHERE name = ?',
  resume:
    'UPDATE sinks SET retired_reason = NULL, retired_ms = NULL, paused_by = NULL, paused_ms = NULL WHERE name = ?',
  saveRequests: 'UPDATE sinks SET requests = ? WHERE name = ?',
} as const;

interface RecordRow {
  readonly paused_by: string;
  readonly paused_ms: number | null;
  readonly accepted_ms: number | null;
  readonly last_error: string | null;
}

/** With the sum of its journal row. */
export interface DeliveryRow extends Delivery, Pick<SummedEntry, 'sum'> {}

interface KeyRow {
  readonly partition_key: string;
}

/** The row type of each statement. */
export interface QueueRows {
  readonly queued: DeliveryRow;
  readonly queuedOf: DeliveryRow;
  readonly queuedBefore: DeliveryRow;
  readonly supersededKeys: KeyRow;
  readonly superseded: Pick<Delivery, 'seq' | 'partitionKey'>;
  readonly position: { journal: number | null; delivery: number | null };
  readonly movedKeys: KeyRow;
  readonly requeuedKeys: KeyRow;
  readonly countQueued: { count: number };
  readonly oldest: { since_ms: number | null };
  readonly requests: { requests: string | null };
  readonly retirement: { retired_reason: string; retired_ms: number | null };
  readonly record: RecordRow;
  readonly countDead: { count: number };
}
