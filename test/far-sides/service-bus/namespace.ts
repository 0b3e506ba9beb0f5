// Addresses as clients attach to them → the entity, subscription or dead-letter queue they name.
import type { BrokerClock } from './broker-clock.ts';
import {
  type EntityStatus,
  type Inbox,
  Queue,
  type QueueOptions,
  type SendOptions,
  Subscription,
  Topic,
} from './entities.ts';
import type { MessageStore } from './message-store.ts';

/** What can be received from: a store, and the rules of whose it is. */
export interface ReceiveNode {
  /** As the client wrote it. */
  readonly path: string;
  readonly store: MessageStore;
  readonly sessions: boolean;
  /** Set for a subscription. */
  readonly subscription: Subscription | null;
  status(): EntityStatus;
}

const MANAGEMENT = /\/\$management$/i;
const DEAD_LETTERS = /\/\$deadletterqueue$/i;
const SUBSCRIPTION = /^(.+?)\/subscriptions\/([^/]+)$/i;

/** Names count without case. */
export class Namespace {
  readonly #entities = new Map<string, Queue | Topic>();
  readonly #clock: BrokerClock;

  constructor(clock: BrokerClock) {
    this.#clock = clock;
  }

  /** The queue of this name, made on first use; options count only then. @throws where a topic has the name */
  queue(name: string, options: QueueOptions = {}): Queue {
    const entity = this.#entities.get(name.toLowerCase()) ?? new Queue(name, options, this.#clock);
    if (!(entity instanceof Queue)) throw new Error(`${name} is a topic`);
    this.#entities.set(name.toLowerCase(), entity);
    return entity;
  }

  /** The same for topics. */
  topic(name: string, options: SendOptions = {}): Topic {
    const entity = this.#entities.get(name.toLowerCase()) ?? new Topic(name, options, this.#clock);
    if (!(entity instanceof Topic)) throw new Error(`${name} is a queue`);
    this.#entities.set(name.toLowerCase(), entity);
    return entity;
  }

  /** With all its messages; one of the same name made later knows nothing of it. */
  delete(name: string): void {
    const entity = this.#entities.get(name.toLowerCase());
    this.#entities.delete(name.toLowerCase());
    if (entity instanceof Queue) entity.inbox.clear();
    else for (const subscription of entity?.subscriptions.values() ?? []) subscription.clear();
  }

  /** What can be sent to. */
  target(address: string): Queue | Topic | null {
    return this.#entities.get(address.toLowerCase()) ?? null;
  }

  /** What can be received from, `/$management` cut off. */
  node(address: string): ReceiveNode | null {
    const path = entityOf(address);
    const inbox = this.#inbox(path.replace(DEAD_LETTERS, ''));
    if (!inbox) return null;
    const [owner, whole] = inbox;
    const dead = DEAD_LETTERS.test(path);
    return {
      path,
      store: dead ? whole.deadLetterStore : whole.store,
      sessions: whole.sessions && !dead,
      subscription: whole instanceof Subscription ? whole : null,
      status: () => (owner.status === 'active' && whole instanceof Subscription ? whole.status : owner.status),
    };
  }

  #inbox(path: string): readonly [Queue | Topic, Inbox] | null {
    const [, topicName, subscriptionName] = SUBSCRIPTION.exec(path) ?? [];
    const entity = this.#entities.get((topicName ?? path).toLowerCase());
    if (entity instanceof Queue) return subscriptionName === undefined ? [entity, entity.inbox] : null;
    const subscription = entity?.subscriptions.get(subscriptionName?.toLowerCase() ?? '');
    return entity && subscription ? [entity, subscription] : null;
  }
}

/** An address without `/$management`. */
export function entityOf(address: string): string {
  return address.replace(MANAGEMENT, '');
}

export function isManagement(address: string): boolean {
  return MANAGEMENT.test(address);
}
