// Broker messages ↔ rows: those that wait for their event, and those dealt with.
import type { MessageRefusal, MessageState, ReceivedMessage } from '../model/approvals.ts';
import type { Database, Statements } from './database.ts';

/** Of one source: who sends many fills no disk. What a broker may still bring again is far nearer than that. */
const MOST_HANDLED = 100_000;
/** They are looked through once in so many. */
const FORGET_EACH = 1000;

export const MESSAGES_SQL = {
  handled: 'SELECT refused_reason, refused_description FROM handled_messages WHERE source = ? AND id = ?',
  isParked: 'SELECT 1 AS found FROM parked_messages WHERE source = ? AND id = ?',
  parked: 'SELECT source, id, approver, place, body, sent_ms, received_ms FROM parked_messages ORDER BY seq',
  unpark: 'DELETE FROM parked_messages WHERE source = ? AND id = ?',
  /** The oldest behind so many newer ones; more than come in between two looks, so that what an earlier release let grow shrinks. */
  forget: `DELETE FROM handled_messages WHERE (source, id) IN
    (SELECT source, id FROM handled_messages INDEXED BY handled_messages_source WHERE source = ?1 AND handled_ms <
      (SELECT handled_ms FROM handled_messages INDEXED BY handled_messages_source WHERE source = ?1 ORDER BY handled_ms DESC LIMIT 1 OFFSET ?2)
    ORDER BY handled_ms LIMIT ${2 * FORGET_EACH})`,
} as const;

interface HandledRow {
  readonly refused_reason: string | null;
  readonly refused_description: string | null;
}

interface ParkedRow {
  readonly source: string;
  readonly id: string;
  readonly approver: string;
  readonly place: string;
  readonly body: Uint8Array;
  readonly sent_ms: number;
  readonly received_ms: number;
}

/** The row type of each statement. */
interface Rows {
  readonly handled: HandledRow;
  readonly isParked: { found: number };
  readonly parked: ParkedRow;
  readonly park: never;
  readonly unpark: never;
  readonly handle: never;
  readonly forget: never;
}

export class MessageTables {
  readonly #sql: Statements<Rows>;
  /** By source, in this process. */
  readonly #handledSince = new Map<string, number>();

  constructor(database: Database) {
    this.#sql = database.prepareAll<Rows>({
      ...MESSAGES_SQL,
      park: 'INSERT INTO parked_messages (source, id, approver, place, body, sent_ms, received_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
      handle: 'INSERT INTO handled_messages (source, id, handled_ms, refused_reason, refused_description) VALUES (?, ?, ?, ?, ?)',
    });
  }

  /** Null for a message that was never received, or so long ago that it is forgotten. */
  find(source: string, id: string): MessageState | null {
    const handled = this.#sql.handled.get(source, id);
    if (handled !== undefined) return { kind: 'handled', refusal: toRefusal(handled) };
    return this.#sql.isParked.get(source, id) === undefined ? null : { kind: 'parked' };
  }

  /** In the order in which they were received. */
  parked(): readonly ReceivedMessage[] {
    return this.#sql.parked.all().map(toMessage);
  }

  park({ source, id, approver, place, body, sentMs, receivedAt }: ReceivedMessage): void {
    this.#sql.park.run(source, id, approver, JSON.stringify(place), body, sentMs, receivedAt.wallMs);
  }

  /** Takes it out of those that wait, too; forgets the oldest of its source where there are very many. */
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

function toMessage({ place, sent_ms, received_ms, ...row }: ParkedRow): ReceivedMessage {
  const receivedAt = { wallMs: received_ms, elapsedMs: null };
  return { ...row, place: JSON.parse(place) as ReceivedMessage['place'], sentMs: sent_ms, receivedAt };
}
