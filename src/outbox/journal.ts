// CloudEvents → journal rows and delivery rows; ids → whether used, and their CloudEvents.
import type { EventStatus, JournalEntry, ScheduledEvent } from '../model/events.ts';
import type { StoreClock } from './clock/store-clock.ts';
import type { Database, Statements } from './database.ts';
import { sumOfEntry } from './integrity.ts';

export const JOURNAL_SQL = {
  isUsed: 'SELECT 1 AS found FROM used_ids WHERE id = ?',
  moveOn: 'UPDATE occurrences SET last_change = ? WHERE occurrence = ?',
  seen: 'SELECT j.change, j.key, j.occurrence, j.bytes FROM used_ids u CROSS JOIN journal j ON j.seq = u.seq WHERE u.id = ?',
} as const;

/** A journalled CloudEvent about an event. */
export interface SeenEvent {
  readonly change: string;
  readonly key: string;
  readonly occurrence: number;
  /** The content in its data; for `ended`, the last content before the end. */
  readonly event: ScheduledEvent;
}

interface SeenRow {
  readonly change: string;
  readonly key: string | null;
  readonly occurrence: number | null;
  readonly bytes: Uint8Array;
}

/** The `data` of a CloudEvent about a change of an event (behaviour 3.11). */
type ChangeData = Omit<ScheduledEvent, 'eventStatus'> & {
  readonly eventStatus: EventStatus | 'Ended';
  readonly previousStatus: EventStatus | null;
};

const EVENT_CHANGES: ReadonlySet<string> = new Set(['scheduled', 'updated', 'started', 'ended']);

const SQL = {
  ...JOURNAL_SQL,
  append:
    'INSERT INTO journal (id, change, key, occurrence, partition_key, time_ms, bytes, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq',
  use: 'INSERT INTO used_ids (seq, id, occurrence, used_ms) VALUES (?, ?, ?, ?)',
  queue: `INSERT INTO deliveries (sink, journal, partition_key, queued_ms, since_ms, state) VALUES (?, ?, ?, ?, ?, 'queued')`,
  remember: 'INSERT OR IGNORE INTO sink_occurrences (occurrence, sink) VALUES (?, ?)',
} as const;

export class Journal {
  readonly #clock: StoreClock;
  readonly #sql: Statements<keyof typeof SQL, { append: { seq: number }; isUsed: { found: number }; seen: SeenRow }>;

  constructor(database: Database, clock: StoreClock) {
    this.#clock = clock;
    this.#sql = database.prepareAll(SQL);
  }

  /**
   * Appends a CloudEvent, inside a transaction. Returns its position.
   * @throws BridgeError BRIDGE_INTERNAL if the id was used before
   */
  append(entry: JournalEntry, sinks: readonly string[], queuedAtMs: number): number {
    const { id, change, key, occurrence, partitionKey, timeMs, bytes } = entry;
    const row = [id, change, key, occurrence, partitionKey, timeMs, bytes, sumOfEntry(entry)] as const;
    const seq = this.#sql.append.get(...row)?.seq ?? 0;
    this.#sql.use.run(seq, id, occurrence, queuedAtMs);
    if (occurrence !== null && EVENT_CHANGES.has(change)) this.#sql.moveOn.run(seq, occurrence);
    const sinceMs = this.#clock.nowMs();
    for (const sink of sinks) {
      this.#sql.queue.run(sink, seq, partitionKey, queuedAtMs, sinceMs);
      if (occurrence !== null) this.#sql.remember.run(occurrence, sink);
    }
    return seq;
  }

  /** Returns whether a CloudEvent id was used in the last 400 days, or earlier for an event that has not ended. */
  isUsed(id: string): boolean {
    return this.#sql.isUsed.get(id) !== undefined;
  }

  /** Returns the journalled CloudEvent with this id, or null if it does not exist or is not about an event. */
  seen(id: string): SeenEvent | null {
    const row = this.#sql.seen.get(id);
    if (!row || row.key === null || row.occurrence === null || !EVENT_CHANGES.has(row.change)) return null;
    const { data } = parseCloudEvent(row.bytes) as { data: ChangeData };
    return { change: row.change, key: row.key, occurrence: row.occurrence, event: toEvent(data) };
  }
}

/** Parses the bytes of a journal row. */
export function parseCloudEvent(bytes: Uint8Array): object {
  return JSON.parse(new TextDecoder().decode(bytes)) as object;
}

function toEvent(data: ChangeData): ScheduledEvent {
  const { eventId, eventType, resourceType, resources, notBefore, description, eventSource, durationInSeconds } = data;
  const eventStatus = data.eventStatus === 'Ended' ? (data.previousStatus ?? 'Started') : data.eventStatus;
  return {
    eventId,
    eventStatus,
    eventType,
    resourceType,
    resources,
    notBefore,
    description,
    eventSource,
    durationInSeconds,
  };
}
