// What is sent to a queue or topic → the stores of its queue or subscriptions, all made here.
import type { AmqpMessage } from './amqp-message.ts';
import { type BrokerClock, milliseconds } from './broker-clock.ts';
import { DuplicateHistory } from './duplicate-history.ts';
import { type KeptMessage, sessionOf } from './kept-message.ts';
import { MessageStore, type StoreSettings } from './message-store.ts';
import type { AmqpFault } from './rhea-link.ts';
import { matches, type Rule } from './rules.ts';
import { CONDITIONS, type ConditionName } from './service-faults.ts';

/** Azure's defaults unless it says otherwise. */
export interface ReceiveOptions {
  /** Default 1m, for messages and sessions. */
  readonly lockDuration?: string | number;
  /** Default 10. */
  readonly maxDeliveryCount?: number;
  /** Default false. */
  readonly sessions?: boolean;
  readonly defaultTtl?: string | number;
  readonly deadLetterOnExpiration?: boolean;
}

export interface SendOptions {
  /** The window; without it duplicates are not looked for. */
  readonly duplicateDetection?: string | number;
  /** A duplicate then has the partition key too. Default false. */
  readonly partitioned?: boolean;
}

export type QueueOptions = ReceiveOptions & SendOptions;
export type EntityStatus = 'active' | 'disabled' | 'send-disabled' | 'receive-disabled';

/** Why nothing was kept, or the sequence number of each message, 0 for a duplicate. */
export type Verdict = { readonly refused: ConditionName | AmqpFault } | { readonly numbers: readonly number[] };

/** What both can be sent to. */
abstract class Entity {
  readonly name: string;
  status: EntityStatus = 'active';
  /** No room is left: everything sent is refused. */
  full = false;
  /** Null where duplicates are not looked for. */
  readonly duplicateWindowMs: number | null;
  readonly partitioned: boolean;
  readonly #duplicates: DuplicateHistory | null;

  constructor(name: string, options: SendOptions, clock: BrokerClock) {
    this.name = name;
    const { duplicateDetection, partitioned = false } = options;
    this.partitioned = partitioned;
    this.duplicateWindowMs = duplicateDetection === undefined ? null : milliseconds(duplicateDetection);
    this.#duplicates =
      this.duplicateWindowMs === null ? null : new DuplicateHistory(this.duplicateWindowMs, partitioned, clock);
  }

  /** Keeps what arrived in one transfer, all of it or nothing; a duplicate is taken and dropped. */
  accept(messages: readonly AmqpMessage[]): Verdict {
    if (this.status === 'disabled' || this.status === 'send-disabled') return { refused: 'disabled' };
    if (this.full) return { refused: 'quotaExceeded' };
    const refused = this.refuses(messages);
    if (refused) return { refused };
    return { numbers: messages.map((message) => (this.#duplicates?.has(message) ? 0 : this.keep(message))) };
  }

  protected refuses(_messages: readonly AmqpMessage[]): AmqpFault | null {
    return null;
  }
  protected abstract keep(message: AmqpMessage): number;
}

/** A queue's own side of receiving, or a subscription's. */
export class Inbox {
  readonly path: string;
  readonly sessions: boolean;
  readonly settings: StoreSettings;
  readonly store: MessageStore;
  readonly deadLetterStore: MessageStore;

  constructor(path: string, options: ReceiveOptions, clock: BrokerClock) {
    const {
      lockDuration = '1m',
      maxDeliveryCount = 10,
      sessions = false,
      defaultTtl,
      deadLetterOnExpiration = false,
    } = options;
    const defaultTtlMs = defaultTtl === undefined ? Number.POSITIVE_INFINITY : milliseconds(defaultTtl);
    const settings = {
      lockDurationMs: milliseconds(lockDuration),
      maxDeliveryCount,
      defaultTtlMs,
      deadLetterOnExpiration,
    };
    const forEver = { ...settings, maxDeliveryCount: Number.POSITIVE_INFINITY, defaultTtlMs: Number.POSITIVE_INFINITY };
    this.path = path;
    this.sessions = sessions;
    this.settings = settings;
    this.deadLetterStore = new MessageStore(`${path}/$deadletterqueue`, forEver, clock, null);
    this.store = new MessageStore(path, settings, clock, this.deadLetterStore);
  }

  /** What lies there now, locked ones too, oldest first. */
  messages(): readonly KeptMessage[] {
    return this.store.all();
  }

  deadLetters(): readonly KeptMessage[] {
    return this.deadLetterStore.all();
  }

  /** Every lock runs out now: of messages, and of sessions, whose links are detached. */
  expireLocks(): void {
    this.store.sessions.expireAll();
    this.store.expireLocks();
    this.deadLetterStore.expireLocks();
  }

  clear(): void {
    this.store.clear();
    this.deadLetterStore.clear();
  }
}

export class Queue extends Entity {
  readonly inbox: Inbox;

  constructor(name: string, options: QueueOptions, clock: BrokerClock) {
    super(name, options, clock);
    this.inbox = new Inbox(name, options, clock);
  }

  messages(): readonly KeptMessage[] {
    return this.inbox.messages();
  }

  deadLetters(): readonly KeptMessage[] {
    return this.inbox.deadLetters();
  }

  expireLocks(): void {
    this.inbox.expireLocks();
  }

  protected override refuses(messages: readonly AmqpMessage[]): AmqpFault | null {
    if (!this.inbox.sessions || messages.every((message) => sessionOf(message))) return null;
    const description =
      'The SessionId was not set on a message, and it cannot be sent to the entity. Entities that have session support enabled can only receive messages that have the SessionId set to a valid value.';
    return { condition: CONDITIONS.notAllowed, description };
  }

  protected override keep(message: AmqpMessage): number {
    return this.inbox.store.add(message).sequenceNumber;
  }
}

export class Subscription extends Inbox {
  /** A message is kept if any of them matches. */
  readonly rules = new Map<string, Rule>([['$Default', 'all']]);
  status: EntityStatus = 'active';

  /** Takes the place of all rules. */
  filter(rule: Rule): this {
    this.rules.clear();
    this.rules.set('filter', rule);
    return this;
  }

  wants(message: AmqpMessage): boolean {
    return [...this.rules.values()].some((rule) => matches(rule, message));
  }
}

export class Topic extends Entity {
  readonly subscriptions = new Map<string, Subscription>();
  readonly #clock: BrokerClock;
  #sequence = 0;

  constructor(name: string, options: SendOptions, clock: BrokerClock) {
    super(name, options, clock);
    this.#clock = clock;
  }

  /** The subscription of this name, made on first use. */
  subscription(name: string, options: ReceiveOptions = {}): Subscription {
    const key = name.toLowerCase();
    const known = this.subscriptions.get(key);
    if (known) return known;
    const made = new Subscription(`${this.name}/Subscriptions/${name}`, options, this.#clock);
    this.subscriptions.set(key, made);
    return made;
  }

  protected override keep(message: AmqpMessage): number {
    for (const subscription of this.subscriptions.values())
      if (subscription.wants(message)) subscription.store.add(message);
    this.#sequence += 1;
    return this.#sequence;
  }
}
