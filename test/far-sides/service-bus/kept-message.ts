// One message inside an entity: what arrived, byte for byte, and what the broker adds to it.
import { type AmqpMessage, withApplicationProperties } from './amqp-message.ts';
import { encodeHead, encodeProperty } from './rhea-link.ts';
import { typed } from './typed-values.ts';

export type MessageState = 'active' | 'deferred' | 'scheduled';

/** Why a message lies in a dead-letter queue. */
export interface DeadLetter {
  readonly reason: string | null;
  readonly description: string | null;
  /** The path of the queue or subscription it came from. */
  readonly source: string;
}

export class KeptMessage {
  /** As it arrived, with what consumers changed in its application properties since. */
  message: AmqpMessage;
  state: MessageState = 'active';
  /** Deliveries so far, the running one included. */
  deliveryCount = 0;
  deadLetter: DeadLetter | null = null;
  readonly sequenceNumber: number;
  /** Milliseconds since 1970. */
  readonly enqueuedAt: number;
  /** Set while the message is scheduled. */
  readonly visibleAt: number | null;
  readonly expiresAt: number;

  constructor(message: AmqpMessage, sequenceNumber: number, now: number, longestTtlMs: number) {
    this.message = message;
    this.sequenceNumber = sequenceNumber;
    this.enqueuedAt = now;
    const scheduled = message.messageAnnotations['x-opt-scheduled-enqueue-time'];
    this.visibleAt =
      scheduled?.type === 'timestamp' && scheduled.value.getTime() > now ? scheduled.value.getTime() : null;
    if (this.visibleAt !== null) this.state = 'scheduled';
    const ttlMs = Number(message.header['ttl']?.value ?? Number.POSITIVE_INFINITY);
    this.expiresAt = (this.visibleAt ?? now) + Math.min(ttlMs, longestTtlMs);
  }

  /** As text, whatever its wire type; null without one. */
  get messageId(): string | null {
    return idOf(this.message);
  }

  get sessionId(): string | null {
    return sessionOf(this.message);
  }

  /** The bytes of the one data section. @throws Error where the body is anything else */
  get data(): Buffer {
    const { body } = this.message;
    const [only, ...more] = body.kind === 'data' ? body.sections : [];
    if (!only || more.length > 0) throw new Error(`the body is not one data section: ${body.kind}`);
    return only;
  }

  /** The data read as JSON. */
  get json(): unknown {
    return JSON.parse(this.data.toString('utf8'));
  }

  /** Sets application properties, as a consumer does who abandons, defers or dead-letters. */
  modify(properties: Readonly<Record<string, unknown>>): void {
    const added = Object.entries(properties).map(([name, value]) => ({ name, bytes: encodeProperty(name, value) }));
    if (added.length > 0) this.message = withApplicationProperties(this.message, added);
  }

  /** The whole message for a receiver: own header and annotations, then the bytes that the sender wrote. */
  encode(lockedUntil: number | null, earlierDeliveries: number): Buffer {
    const { header, messageAnnotations, bare } = this.message;
    const ttl = header['ttl']?.value;
    const sender = Object.fromEntries(
      Object.entries(messageAnnotations).map(([name, value]) => [name, typed.from(value)]),
    );
    const annotations = {
      ...sender,
      'x-opt-sequence-number': typed.long(this.sequenceNumber),
      'x-opt-enqueued-time': typed.timestamp(this.enqueuedAt),
      'x-opt-message-state': typed.int({ active: 0, deferred: 1, scheduled: 2 }[this.state]),
      ...(lockedUntil === null ? {} : { 'x-opt-locked-until': typed.timestamp(lockedUntil) }),
      ...(this.deadLetter ? { 'x-opt-deadletter-source': this.deadLetter.source } : {}),
    };
    const head = encodeHead(
      { delivery_count: earlierDeliveries, ...(ttl === undefined ? {} : { ttl: Number(ttl) }) },
      annotations,
    );
    return Buffer.concat([head, bare]);
  }
}

export function idOf({ properties }: AmqpMessage): string | null {
  const id = properties['message-id'];
  return id ? String(id.value) : null;
}

export function sessionOf({ properties }: AmqpMessage): string | null {
  const id = properties['group-id'];
  return id ? String(id.value) : null;
}

/** The partition key: the session's id where there is one. */
export function partitionOf(message: AmqpMessage): string | null {
  const key = message.messageAnnotations['x-opt-partition-key'];
  return sessionOf(message) ?? (key ? String(key.value) : null);
}
