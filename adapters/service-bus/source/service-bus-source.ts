// A Service Bus queue or subscription → its approvals, settled by verdict.
import { orAbort } from '../../../src/time/clock.ts';
import { Running } from '../../../src/time/dispose.ts';
import type {
  ApprovalSource,
  ApprovalSourceDefinition,
  ApprovalSourceDeps,
  TakeMessage,
} from '../../approval-source.ts';
import { type CredentialOf, NamespaceAccess } from '../connection/access.ts';
import {
  readersOf,
  type ServiceBusSourceOptions,
  type SourceEntity,
  serviceBusSourceOptions,
  sourceEntityOf,
  sourceSecretFaults,
  streamsOf,
} from '../options/service-bus-source-options.ts';
import { serviceBusPlace } from '../service-bus-channel.ts';
import type { FaultPlace } from '../service-bus-fault.ts';
import { streamMessages } from './message-stream.ts';
import { Reception } from './reception.ts';
import { checkBusSource } from './service-bus-source-check.ts';
import { streamSessions } from './session-stream.ts';

const RECEIVER_ROLE = 'Azure Service Bus Data Receiver';

/** Approvals from a queue or subscription (behaviour 8.11). */
export const serviceBusSource: ApprovalSourceDefinition<ServiceBusSourceOptions> = {
  options: serviceBusSourceOptions,
  secretFaults: sourceSecretFaults,
  readersOf,
  streamsOf,
  channel: serviceBusPlace,
  create: (options, deps) => new ServiceBusSource(options, deps),
};

/** Loads the SDK and connects at each call. */
export class ServiceBusSource implements ApprovalSource {
  readonly canGiveBack = true;
  readonly #options: ServiceBusSourceOptions;
  readonly #deps: ApprovalSourceDeps;
  readonly #entity: SourceEntity;
  readonly #access: NamespaceAccess;
  readonly #place: FaultPlace;
  /** Work that continues after an aborted call. */
  readonly #endings = new Running();

  /** The secrets must be open. @throws BridgeError BRIDGE_CONFIG_INVALID with the key and no value */
  constructor(options: ServiceBusSourceOptions, deps: ApprovalSourceDeps, credentialOf?: CredentialOf) {
    this.#options = options;
    this.#deps = deps;
    this.#entity = sourceEntityOf(options);
    const { queue, topic = '' } = options;
    const place = { owner: `approvals.sources.${deps.name}`, name: `source ${deps.name}`, entity: queue ?? topic };
    this.#access = new NamespaceAccess(options, place, deps, credentialOf);
    this.#place = {
      who: `${place.name}: ${this.#access.host}`,
      entity: this.#entity.label,
      operation: 'receive',
      role: RECEIVER_ROLE,
    };
  }

  /** Resolves the name, opens TLS, requests a token, presents it and attaches a receiver link without credit. */
  async check(signal: AbortSignal): Promise<string | null> {
    await orAbort(this.#endings.track(checkBusSource(this.#parts(), this.#deps, signal)), signal);
    return null;
  }

  async receive(take: TakeMessage, signal: AbortSignal, ready: () => void): Promise<void> {
    const reception = new Reception({ ...this.#parts(), take, ready, stop: signal }, this.#deps);
    try {
      await orAbort(reception.run(this.#options.sessions ? streamSessions : streamMessages), signal);
    } finally {
      void this.#endings.track(reception.leave());
    }
  }

  /** Settles the current messages first, within a second. */
  async close(): Promise<void> {
    await this.#endings.ended();
  }

  #parts() {
    const { sessions, timeout } = this.#options;
    return { access: this.#access, entity: this.#entity, place: this.#place, sessions, timeout };
  }
}
