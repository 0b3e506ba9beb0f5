// Messages of one queue or subscription → in order: locked, settled, dead-lettered, expired.
import { randomBytes } from 'node:crypto';
import type { AmqpMessage } from './amqp-message.ts';
import type { BrokerClock } from './broker-clock.ts';
import { type DeadLetter, KeptMessage } from './kept-message.ts';
import { SessionLocks } from './session-locks.ts';

export interface StoreSettings {
  readonly lockDurationMs: number;
  readonly maxDeliveryCount: number;
  readonly defaultTtlMs: number;
  readonly deadLetterOnExpiration: boolean;
}

/** A message in one receiver's hands. */
export interface Lock {
  /** 32 hex digits, as `$management` spells it; the delivery tag has three groups of it turned round. */
  readonly token: string;
  readonly message: KeptMessage;
  /** Milliseconds since 1970. */
  until: number;
  /** Deliveries of the message before this one. */
  readonly earlierDeliveries: number;
}

export type Settlement =
  | { readonly how: 'complete' | 'release' }
  | { readonly how: 'abandon' | 'defer'; readonly properties: Readonly<Record<string, unknown>> }
  | {
      readonly how: 'dead-letter';
      readonly reason: string | null;
      readonly description: string | null;
      readonly properties: Readonly<Record<string, unknown>>;
    };

export class MessageStore {
  readonly path: string;
  readonly sessions: SessionLocks;
  /** In order of arrival. */
  readonly #messages = new Set<KeptMessage>();
  readonly #locks = new Map<string, { readonly lock: Lock; cancel: () => void }>();
  readonly #locked = new Set<KeptMessage>();
  readonly #waiting = new Set<() => void>();
  readonly #settings: StoreSettings;
  readonly #clock: BrokerClock;
  readonly #deadLetters: MessageStore | null;
  #sequence = 0;

  constructor(path: string, settings: StoreSettings, clock: BrokerClock, deadLetters: MessageStore | null) {
    this.path = path;
    this.#settings = settings;
    this.#clock = clock;
    this.#deadLetters = deadLetters;
    this.sessions = new SessionLocks(settings.lockDurationMs, clock, (id) => this.#releaseSession(id));
  }

  /** What lies here now, locked or not. */
  all(): readonly KeptMessage[] {
    this.#expire();
    return [...this.#messages];
  }

  /** Appends a message and wakes receivers; a scheduled one is seen by them at its time. */
  add(message: AmqpMessage, deadLetter: DeadLetter | null = null): KeptMessage {
    this.#sequence += 1;
    const kept = new KeptMessage(message, this.#sequence, this.#clock.now(), this.#settings.defaultTtlMs);
    kept.deadLetter = deadLetter;
    this.#messages.add(kept);
    if (kept.visibleAt !== null) this.#clock.at(kept.visibleAt, () => this.#appear(kept));
    this.#wake();
    return kept;
  }

  /** Calls `wake` whenever there may be something to take. Returns what ends that. */
  onMessage(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /**
   * The next message that nobody holds, locked for the lock duration; of one session, or of any where `sessionId` is
   * null.
   */
  lock(sessionId: string | null): Lock | null {
    const [message] = this.#available(sessionId);
    return message ? this.#lock(message) : null;
  }

  /** The deferred message of this number, locked, or null. */
  lockDeferred(sequenceNumber: number): Lock | null {
    const message = [...this.#messages].find(
      (kept) => kept.sequenceNumber === sequenceNumber && kept.state === 'deferred',
    );
    return message && !this.#locked.has(message) ? this.#lock(message) : null;
  }

  /** Receive-and-delete. */
  take(sessionId: string | null): KeptMessage | null {
    const [message] = this.#available(sessionId);
    if (message) this.#messages.delete(message);
    return message ?? null;
  }

  /** The sessions that have something to take, in the order of their oldest message. */
  sessionIds(): string[] {
    return [...new Set([...this.#available(null)].flatMap(({ sessionId }) => (sessionId === null ? [] : [sessionId])))];
  }

  /** The new end of a lock, or null where it is lost. */
  renew(token: string): number | null {
    const held = this.#locks.get(token);
    if (!held) return null;
    held.cancel();
    held.lock.until = this.#clock.now() + this.#settings.lockDurationMs;
    held.cancel = this.#expireLock(held.lock);
    return held.lock.until;
  }

  /** False where the lock is lost, and then nothing happens. */
  settle(token: string, settlement: Settlement): boolean {
    const held = this.#locks.get(token);
    if (!held) return false;
    const { message } = held.lock;
    this.#unlock(token);
    if ('properties' in settlement) message.modify(settlement.properties);
    if (settlement.how === 'complete') this.#messages.delete(message);
    else if (settlement.how === 'dead-letter') this.deadLetter(message, settlement.reason, settlement.description);
    else if (settlement.how === 'defer') message.state = 'deferred';
    else this.#giveBack(message, settlement.how === 'release');
    this.#wake();
    return true;
  }

  /** Moves a message to the dead-letter queue; in a dead-letter queue itself it stays. */
  deadLetter(message: KeptMessage, reason: string | null, description: string | null): void {
    if (!this.#deadLetters) return;
    this.#messages.delete(message);
    message.modify({
      ...(reason === null ? {} : { DeadLetterReason: reason }),
      ...(description === null ? {} : { DeadLetterErrorDescription: description }),
    });
    this.#deadLetters.add(message.message, { reason, description, source: this.path });
  }

  /** Removes a scheduled message. False where there is none of this number. */
  cancelScheduled(sequenceNumber: number): boolean {
    const message = [...this.#messages].find(
      (kept) => kept.sequenceNumber === sequenceNumber && kept.state === 'scheduled',
    );
    return message ? this.#messages.delete(message) : false;
  }

  /** Loses every lock now, as if its time were over. */
  expireLocks(): void {
    for (const token of [...this.#locks.keys()]) this.#loseLock(token);
  }

  clear(): void {
    for (const { cancel } of this.#locks.values()) cancel();
    this.#locks.clear();
    this.#locked.clear();
    this.#messages.clear();
  }

  *#available(sessionId: string | null): Generator<KeptMessage> {
    this.#expire();
    for (const message of this.#messages) {
      const ofSession = sessionId === null || message.sessionId === sessionId;
      if (ofSession && message.state === 'active' && !this.#locked.has(message)) yield message;
    }
  }

  #appear(message: KeptMessage): void {
    if (message.state === 'scheduled') message.state = 'active';
    this.#wake();
  }

  #expire(): void {
    const now = this.#clock.now();
    for (const message of this.#messages) {
      if (message.expiresAt > now || this.#locked.has(message) || message.deadLetter) continue;
      if (this.#settings.deadLetterOnExpiration)
        this.deadLetter(message, 'TTLExpiredException', 'The message expired and was dead lettered.');
      else this.#messages.delete(message);
    }
  }

  /** A message of a session is locked as long as its session. */
  #lock(message: KeptMessage): Lock {
    const session = message.sessionId === null ? undefined : this.sessions.of(message.sessionId);
    const earlierDeliveries = message.deliveryCount;
    message.deliveryCount += 1;
    const until = session?.until ?? this.#clock.now() + this.#settings.lockDurationMs;
    const lock: Lock = { token: randomBytes(16).toString('hex'), message, until, earlierDeliveries };
    this.#locked.add(message);
    this.#locks.set(lock.token, { lock, cancel: session ? () => {} : this.#expireLock(lock) });
    return lock;
  }

  #releaseSession(sessionId: string): void {
    for (const [token, { lock }] of [...this.#locks]) if (lock.message.sessionId === sessionId) this.#loseLock(token);
    this.#wake();
  }

  #expireLock(lock: Lock): () => void {
    return this.#clock.at(lock.until, () => this.#loseLock(lock.token));
  }

  #loseLock(token: string): void {
    const held = this.#locks.get(token);
    if (!held) return;
    this.#unlock(token);
    this.#giveBack(held.lock.message, false);
    this.#wake();
  }

  #unlock(token: string): void {
    const held = this.#locks.get(token);
    held?.cancel();
    this.#locks.delete(token);
    if (held) this.#locked.delete(held.lock.message);
  }

  #giveBack(message: KeptMessage, uncounted: boolean): void {
    if (uncounted) message.deliveryCount -= 1;
    if (message.deliveryCount < this.#settings.maxDeliveryCount || message.state !== 'active') return;
    const description = `Message could not be consumed after ${this.#settings.maxDeliveryCount} delivery attempts.`;
    this.deadLetter(message, 'MaxDeliveryCountExceeded', description);
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
