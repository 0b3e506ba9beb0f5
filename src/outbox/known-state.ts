// The known state ↔ its rows: writes only differences, opens and ends occurrences.
import type { Blindness, Instant, KnownEvent, KnownState, ScheduledEvent } from '../model/events.ts';
import type { Database, Statements } from './database.ts';
import { expectSum, sumOf } from './integrity.ts';

export const KNOWN_STATE_SQL = {
  state:
    'SELECT incarnation, api_version, last_good_ms, epoch_number, epoch_started_ms, next_occurrence, epoch_row_started_ms, sum FROM known_state WHERE id = 1',
  events:
    'SELECT occurrence, key, event, api_version AS apiVersion, epoch, listed, last_listed_ms, missing_ms, missing_scheduled, sum FROM known_events ORDER BY occurrence',
  touch: 'UPDATE known_state SET last_good_ms = ? WHERE id = 1',
  endOccurrence: 'UPDATE occurrences SET ended_ms = ? WHERE occurrence = ?',
  forgetEvent: 'DELETE FROM known_events WHERE occurrence = ?',
  markOwn: 'UPDATE occurrences SET own = 1 WHERE occurrence = ? AND own = 0',
  isOwn: 'SELECT 1 AS found FROM occurrences WHERE occurrence = ? AND own = 1',
  lastEnded: 'SELECT ended_ms FROM occurrences WHERE key = ? AND ended_ms IS NOT NULL ORDER BY ended_ms DESC LIMIT 1',
  lastOccurrence:
    'SELECT occurrence, ended_ms AS endedMs FROM occurrences WHERE key = ? ORDER BY occurrence DESC LIMIT 1',
  blindness: 'SELECT since, last_document_at AS lastDocumentAt FROM blindness WHERE id = 1',
} as const;

const SQL = {
  ...KNOWN_STATE_SQL,
  saveState: 'INSERT OR REPLACE INTO known_state VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)',
  saveEvent: 'INSERT OR REPLACE INTO known_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  openOccurrence: 'INSERT INTO occurrences (occurrence, key, first_seen_ms) VALUES (?, ?, ?)',
  saveBlindness: 'INSERT OR REPLACE INTO blindness VALUES (1, ?, ?)',
  clearBlindness: 'DELETE FROM blindness',
} as const;

interface StateRow {
  readonly incarnation: number | null;
  readonly api_version: string | null;
  readonly last_good_ms: number | null;
  readonly epoch_number: number | null;
  readonly epoch_started_ms: number | null;
  readonly next_occurrence: number;
  /** Null in rows from before schema 8. */
  readonly epoch_row_started_ms: number | null;
  /** Null in rows that an earlier release wrote. */
  readonly sum: number | null;
}

interface EventRow extends Pick<KnownEvent, 'occurrence' | 'key' | 'apiVersion' | 'epoch'> {
  readonly event: string;
  readonly listed: number;
  readonly last_listed_ms: number | null;
  readonly missing_ms: number | null;
  readonly missing_scheduled: number | null;
  /** Null in rows that an earlier release wrote. */
  readonly sum: number | null;
}

interface Rows {
  readonly state: StateRow;
  readonly events: EventRow;
  readonly isOwn: { found: number };
  readonly lastEnded: { ended_ms: number };
  readonly lastOccurrence: { occurrence: number; endedMs: number | null };
  readonly blindness: Blindness;
}

export class KnownStateTables {
  readonly #database: Database;
  readonly #sql: Statements<keyof typeof SQL, Rows>;
  /** The known events on disk, to compare with the next state. Replaced after each commit. */
  stored: KnownState['events'];

  constructor(database: Database) {
    this.#database = database;
    this.#sql = database.prepareAll(SQL);
    this.stored = this.load().events;
  }

  /** Returns the state on disk, with moments without elapsed time. It is empty before the first document. */
  load(): KnownState {
    const row = this.#sql.state.get();
    if (row) expectSum(this.#database, 'the known state', row.sum, sumOfState(row));
    return {
      incarnation: row?.incarnation ?? null,
      apiVersion: row?.api_version ?? null,
      lastGoodAt: toInstant(row?.last_good_ms ?? null),
      epoch: toEpoch(row),
      emptyRow: null,
      events: new Map(this.#sql.events.all().map((event) => [event.key, this.#toKnownEvent(event)])),
      nextOccurrence: row?.next_occurrence ?? 1,
    };
  }

  /** Writes the differences from `stored`, the events on disk. @param atMs the time at which events came or went */
  save(next: KnownState, stored: KnownState['events'], atMs: number): void {
    const state = {
      incarnation: next.incarnation,
      api_version: next.apiVersion,
      last_good_ms: next.lastGoodAt?.wallMs ?? null,
      epoch_number: next.epoch?.number ?? null,
      epoch_started_ms: next.epoch?.startedAt.wallMs ?? null,
      next_occurrence: next.nextOccurrence,
      epoch_row_started_ms: next.epoch?.rowStartedAt.wallMs ?? null,
    };
    this.#sql.saveState.run(...Object.values(state), sumOfState(state));
    for (const before of stored.values()) {
      if (next.events.get(before.key)?.occurrence === before.occurrence) continue;
      this.#sql.forgetEvent.run(before.occurrence);
      this.#sql.endOccurrence.run(atMs, before.occurrence);
    }
    for (const known of next.events.values()) {
      const before = stored.get(known.key);
      if (before?.occurrence !== known.occurrence) this.#sql.openOccurrence.run(known.occurrence, known.key, atMs);
      if (before === undefined || !isSame(before, known)) this.#saveKnownEvent(known);
    }
  }

  /** Writes only the time of the last good document. */
  touch(lastGoodMs: number): void {
    this.#sql.touch.run(lastGoodMs);
  }

  markOwn(occurrence: number): void {
    this.#sql.markOwn.run(occurrence);
  }

  /** Returns whether this occurrence ever named this VM. */
  isOwn(occurrence: number): boolean {
    return this.#sql.isOwn.get(occurrence) !== undefined;
  }

  /** Returns the last end of an event with this key within 400 days, in milliseconds since 1970, or null. */
  lastEndedMs(key: string): number | null {
    return this.#sql.lastEnded.get(key)?.ended_ms ?? null;
  }

  /** Returns the newest occurrence of this key within 400 days, with its end if it has ended, or null. */
  lastOccurrence(key: string): { readonly occurrence: number; readonly endedMs: number | null } | null {
    const row = this.#sql.lastOccurrence.get(key);
    return row === undefined ? null : { ...row };
  }

  blindness(): Blindness | null {
    const row = this.#sql.blindness.get();
    return row === undefined ? null : { ...row };
  }

  saveBlindness(blindness: Blindness | null): void {
    if (blindness === null) this.#sql.clearBlindness.run();
    else this.#sql.saveBlindness.run(blindness.since, blindness.lastDocumentAt);
  }

  /** @throws BridgeError BRIDGE_STORE_DAMAGED if the row has changed on disk */
  #toKnownEvent({ sum, ...row }: EventRow): KnownEvent {
    const place = [row.occurrence, row.key, row.event, row.apiVersion, row.epoch] as const;
    const values = [...place, row.listed, row.last_listed_ms, row.missing_ms, row.missing_scheduled] as const;
    expectSum(this.#database, `the event ${row.key}`, sum, sumOf(...values));
    return toKnownEvent(row);
  }

  #saveKnownEvent({ occurrence, key, event, apiVersion, epoch, listed, lastListedAt, missing }: KnownEvent): void {
    const content = JSON.stringify(event);
    const missingScheduled = missing === null ? null : Number(missing.scheduledJustBefore);
    const [lastListedMs, missingMs] = [lastListedAt?.wallMs ?? null, missing?.at.wallMs ?? null];
    const place = [occurrence, key, content, apiVersion, epoch] as const;
    const row = [...place, Number(listed), lastListedMs, missingMs, missingScheduled] as const;
    this.#sql.saveEvent.run(...row, sumOf(...row));
  }
}

/** Without the time of the last document, which is written alone. */
function sumOfState(row: Omit<StateRow, 'sum' | 'last_good_ms'>): number {
  const epoch = [row.epoch_number, row.epoch_started_ms, row.epoch_row_started_ms];
  return sumOf(row.incarnation, row.api_version, row.next_occurrence, ...epoch);
}

/** Returns a stored moment, which has no time of this process's monotonic clock. */
function toInstant(wallMs: number | null): Instant | null {
  return wallMs === null ? null : { wallMs, elapsedMs: null };
}

function toEpoch(row: StateRow | undefined): KnownState['epoch'] {
  const startedAt = toInstant(row?.epoch_started_ms ?? null);
  if (row === undefined || row.epoch_number === null || startedAt === null) return null;
  return { number: row.epoch_number, startedAt, rowStartedAt: toInstant(row.epoch_row_started_ms) ?? startedAt };
}

function toKnownEvent(known: Omit<EventRow, 'sum'>): KnownEvent {
  const { event, listed, last_listed_ms, missing_ms, missing_scheduled, ...row } = known;
  const missingAt = toInstant(missing_ms);
  return {
    ...row,
    event: JSON.parse(event) as ScheduledEvent,
    listed: listed === 1,
    lastListedAt: toInstant(last_listed_ms),
    missing: missingAt && { at: missingAt, scheduledJustBefore: missing_scheduled === 1 },
  };
}

/**
 * Compares contents by identity. A document without changes of an event keeps its content object, and a superfluous row
 * does no harm.
 */
function isSame(before: KnownEvent, now: KnownEvent): boolean {
  return (
    before === now ||
    (before.event === now.event &&
      before.occurrence === now.occurrence &&
      before.apiVersion === now.apiVersion &&
      before.epoch === now.epoch &&
      before.listed === now.listed &&
      before.lastListedAt === now.lastListedAt &&
      before.missing === now.missing)
  );
}
