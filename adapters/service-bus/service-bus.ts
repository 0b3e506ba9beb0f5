// The kind `service-bus`: options → an adapter that sends messages, or a source of approvals.
import { encodeEach } from '../../src/cloudevents/unencodable.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, Outcome } from '../adapter.ts';
import { type CredentialOf, NamespaceAccess } from './connection/access.ts';
import {
  entityOf,
  type ServiceBusOptions,
  serviceBusOptions,
  sinkSecretFaults,
} from './options/service-bus-options.ts';
import { serviceBusChannel } from './service-bus-channel.ts';
import type { FaultPlace } from './service-bus-fault.ts';
import { busMessageEncoder, type EncodeBusMessage } from './sink/message-encoder.ts';
import { BusSender } from './sink/sender.ts';
import { checkSink } from './sink/service-bus-check.ts';
import { serviceBusSource } from './source/service-bus-source.ts';

/** Small enough for a link's credit, because each key of a call is a separate send. */
const LIMITS: AdapterLimits = { inFlight: 8, batch: 32, batchBytes: 192 * 1024 };
const SENDER_ROLE = 'Azure Service Bus Data Sender';

/**
 * Sends the messages of one key in sequence, and of different keys in parallel. Loads the SDK and connects at the first
 * use.
 */
export class ServiceBusAdapter implements Adapter {
  readonly limits = LIMITS;
  readonly #deps: AdapterDeps;
  readonly #access: NamespaceAccess;
  readonly #place: FaultPlace;
  readonly #encode: EncodeBusMessage;
  readonly #sender: BusSender;
  readonly #options: ServiceBusOptions;

  /** The secrets must be open. @throws BridgeError BRIDGE_CONFIG_INVALID with the key and no value */
  constructor(options: ServiceBusOptions, deps: AdapterDeps, credentialOf?: CredentialOf) {
    const { kind, path } = entityOf(options);
    this.#options = options;
    this.#deps = deps;
    const name = `sink ${deps.name}`;
    this.#access = new NamespaceAccess(
      options,
      { owner: `sinks.${deps.name}`, name, entity: path },
      deps,
      credentialOf,
    );
    this.#place = {
      who: `${name}: ${this.#access.host}`,
      entity: `${kind} ${path}`,
      operation: 'send',
      role: SENDER_ROLE,
    };
    this.#encode = busMessageEncoder(options, deps.name, deps);
    this.#sender = new BusSender(
      { entity: path, timeout: options.timeout, place: this.#place, access: this.#access },
      deps,
    );
  }

  /** Resolves the name, opens TLS, requests a token, presents it and attaches a sender link; sends no message. */
  async check(signal: AbortSignal): Promise<string | null> {
    const { timeout, sessions } = this.#options;
    const own = { access: this.#access, sender: this.#sender, place: this.#place, entity: entityOf(this.#options) };
    return await checkSink({ ...own, sessions, timeout }, this.#deps, signal);
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const ofWhat = { sink: this.#deps.name, made: 'message' } as const;
    const { members, refused } = encodeEach(batch, (delivery) => this.#encode(delivery), ofWhat);
    const outcomes: Outcome[] = refused;
    const sending = Array.from(Map.groupBy(members, ({ key }) => key).values(), async (group) => {
      const messages = group.map(({ made }) => made);
      const sent = await this.#sender.send(messages, signal);
      for (const [place, { index }] of group.entries()) outcomes[index] = sent[place] ?? 'accepted';
    });
    await Promise.all(sending);
    return outcomes;
  }

  async close(): Promise<void> {
    await this.#sender.close();
  }
}

/** Sends CloudEvents as AMQP messages, each accepted once the service has settled it. */
export const serviceBusSink: AdapterDefinition<ServiceBusOptions> = {
  type: 'service-bus',
  options: serviceBusOptions,
  secretFaults: sinkSecretFaults,
  create: (options, deps) => new ServiceBusAdapter(options, deps),
  channel: serviceBusChannel,
  source: serviceBusSource,
};
