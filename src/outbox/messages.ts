// Broker messages ↔ rows: parked messages, and handled ones.
import type { MessageRefusal, MessageState, ReceivedMessage } from '../model/approvals.ts';
import type { Database, Statements } from './database.ts';

/**
 * The most handled messages of one source, so that a flood does not fill the disk. Brokers redeliver only much newer
 * messages.
 */
const MOST_HANDLED = 100_000;
/** Old ones are deleted once in so many messages. */
const FORGET_EACH = 1000;

export const MESSAGES_SQL = {
  handled: 'SELECT refused_reason, refused_description FROM handled_messages WHERE source = ? AND id = ?',
  isParked: 'SELECT 1 AS found FROM parked_messages WHERE source = ? AND id = ?',
  parked:
    'SELECT source, id, approver, place, body, sent_ms AS sentMs, received_ms AS receivedMs FROM parked_messages ORDER BY seq',
  unpark: 'DELETE FROM parked_messages WHERE source = ? AND id = ?',
  /**
   * Deletes the oldest beyond the limit: more than arrive between two runs, so that a table that grew under an earlier
   * release shrinks.
   */
  forget: `DELETE FROM handled_messages WHERE (source, id) IN
    (SELECT source, id FROM handled_messages INDEXED BY handled_messages_source WHERE source = ?1 AND handled_ms <
      (SELECT handled_ms FROM handled_messages INDEXED BY handled_messages_source WHERE source = ?1 ORDER BY handled_ms DESC LIMIT 1 OFFSET ?2)
    ORDER BY handled_ms LIMIT ${2 * FORGET_EACH})`,
} as const;

const SQL = {
  ...MESSAGES_SQL,
  park: 'INSERT INTO parked_messages (source, id, approver, place, body, sent_ms, received_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
  handle:
    'INSERT INTO handled_messages (source, id, handled_ms, refused_reason, refused_description) VALUES (?, ?, ?, ?, ?)',
} as const;

interface HandledRow {
  readonly refused_reason: string | null;
  readonly refused_description: string | null;
}

/** `place` is JSON. */
type ParkedRow = Omit<ReceivedMessage, 'place' | 'receivedAt'> & Readonly<{ place: string; receivedMs: number }>;

interface Rows {
  readonly handled: HandledRow;
  readonly isParked: { found: number };
  readonly parked: ParkedRow;
}

export class MessageTables {
  readonly #sql: Statements<keyof typeof SQL, Rows>;
  /** Handled messages since the last deletion, by source. */
  readonly #handledSince = new Map<string, number>();

  constructor(database: Database) {
    this.#sql = database.prepareAll(SQL);
  }

  /** Returns null for a message that was never received, or is already deleted. */
  find(source: string, id: string): MessageState | null {
    const handled = this.#sql.handled.get(source, id);
    if (handled !== undefined) return { kind: 'handled', refusal: toRefusal(handled) };
    return this.#sql.isParked.get(source, id) === undefined ? null : { kind: 'parked' };
  }

  /** Returns parked messages in the order of arrival. */
  parked(): readonly ReceivedMessage[] {
    return this.#sql.parked.all().map(toMessage);
  }

  park({ source, id, approver, place, body, sentMs, receivedAt }: ReceivedMessage): void {
    this.#sql.park.run(source, id, approver, JSON.stringify(place), body, sentMs, receivedAt.wallMs);
  }

  /** Marks a message as handled and unparks it. Deletes the oldest of its source if there are too many. */
  handle({ source, id }: Pick<ReceivedMessage, 'source' | 'id'>, refusal: MessageRefusal | null, atMs: number): void {
    this.#sql.unpark.run(source, id);
    this.#sql.handle.run(source, id, atMs, refusal?.reason ?? null, refusal?.description ?? null);
    const since = (this.#handledSince.get(source) ?? 0) + 1;
    this.#handledSince.set(source, since % FORGET_EACH);
    if (since === FORGET_EACH) this.#sql.forget.run(source, MOST_HANDLED);
  }
}

function toRefusal({ refused_reason: reason, refused_description: description }: HandledRow): MessageRefusal | null {
  return reason === null || description === null ? null : { reason, description };
}

function toMessage({ place, receivedMs, ...row }: ParkedRow): ReceivedMessage {
  return {
    ...row,
    place: JSON.parse(place) as ReceivedMessage['place'],
    receivedAt: { wallMs: receivedMs, elapsedMs: null },
  };
}
