// Deliveries → messages in one queue or topic, each accepted once the service has settled it.
import type { ServiceBusMessage } from '@azure/service-bus';
import { BridgeError } from '../../../src/errors.ts';
import type { Delivery } from '../../../src/model/events.ts';
import type { Adapter, AdapterDeps, AdapterLimits, Outcome } from '../../adapter.ts';
import { Access, type CredentialOf } from '../connection/access.ts';
import { entityOf, type ServiceBusOptions } from '../options/service-bus-options.ts';
import type { FaultPlace } from '../service-bus-fault.ts';
import { type EncodeMessage, messageEncoder } from './message-encoder.ts';
import { Sender } from './sender.ts';
import { checkSink } from './service-bus-check.ts';

/** Few enough for the credit that the service gives a link, as each key of a call is a send of its own. */
const LIMITS: AdapterLimits = { inFlight: 8, batch: 32, batchBytes: 192 * 1024 };
export const SENDER_ROLE = 'Azure Service Bus Data Sender';

/** The messages of one key go one after the other, those of different keys at once. Loads the SDK and connects at the first use. */
export class ServiceBusAdapter implements Adapter {
  readonly limits = LIMITS;
  readonly #deps: AdapterDeps;
  readonly #access: Access;
  readonly #place: FaultPlace;
  readonly #encode: EncodeMessage;
  readonly #sender: Sender;
  readonly #options: ServiceBusOptions;
  readonly #running = new Set<Promise<unknown>>();
  #disposal: Promise<void> | null = null;

  /** The secrets are open. @throws BridgeError BRIDGE_CONFIG_INVALID that names the key and no value */
  constructor(options: ServiceBusOptions, deps: AdapterDeps, credentialOf?: CredentialOf) {
    const { kind, path } = entityOf(options);
    this.#options = options;
    this.#deps = deps;
    const name = `sink ${deps.name}`;
    this.#access = new Access(options, { owner: `sinks.${deps.name}`, name, entity: path }, deps, credentialOf);
    this.#place = { who: `${name}: ${this.#access.host}`, entity: `${kind} ${path}`, doing: 'send', role: SENDER_ROLE };
    this.#encode = messageEncoder(options, deps.name, deps);
    this.#sender = new Sender({ entity: path, timeout: options.timeout, place: this.#place, access: this.#access }, deps);
  }

  /** Resolves the name, opens TLS, asks for a token, shows it and attaches a link for sending; sends no message. */
  async check(signal: AbortSignal): Promise<string | null> {
    signal.throwIfAborted();
    if (this.#disposal !== null) throw this.#closed();
    const { timeout, sessions } = this.#options;
    const own = { access: this.#access, sender: this.#sender, place: this.#place, entity: entityOf(this.#options) };
    return await this.#track(checkSink({ ...own, sessions, timeout }, this.#deps, signal));
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    signal.throwIfAborted();
    if (this.#disposal !== null) return batch.map(() => this.#closed());
    return await this.#track(this.#deliver(batch, signal));
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= Promise.allSettled(this.#running).then(() => this.#sender.close());
    return this.#disposal;
  }

  async #deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const outcomes = new Map<Delivery, Outcome>();
    const groups = Map.groupBy(batch, ({ partitionKey }) => partitionKey).values();
    await Promise.all(Array.from(groups, (group) => this.#sendGroup(group, outcomes, signal)));
    return batch.map((delivery) => outcomes.get(delivery) ?? this.#closed());
  }

  /** One key, in order. */
  async #sendGroup(group: readonly Delivery[], outcomes: Map<Delivery, Outcome>, signal: AbortSignal): Promise<void> {
    const sendable: Delivery[] = [];
    const messages: ServiceBusMessage[] = [];
    for (const delivery of group) {
      try {
        messages.push(this.#encode(delivery));
        sendable.push(delivery);
      } catch (error) {
        outcomes.set(delivery, error instanceof BridgeError ? error : this.#unencodable(error));
      }
    }
    const sent = await this.#sender.send(messages, signal);
    for (const [index, delivery] of sendable.entries()) outcomes.set(delivery, sent[index] ?? 'accepted');
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  /** A foreign message may quote the payload, so its kind alone is told. */
  #unencodable(cause: unknown): BridgeError {
    const kind = cause instanceof Error ? cause.name : typeof cause;
    const message = `sink ${this.#deps.name}: no message could be made of this CloudEvent (${kind}); it goes to the dead letters, please report it`;
    return new BridgeError('BRIDGE_DELIVERY_UNENCODABLE', message, { disposition: 'refused' });
  }

  #closed(): BridgeError {
    const message = `sink ${this.#deps.name} is closed: the bridge is stopping, and delivers this after its next start`;
    return new BridgeError('BRIDGE_ADAPTER_CLOSED', message, { disposition: 'retry', scope: 'sink' });
  }
}
