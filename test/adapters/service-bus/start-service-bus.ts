// A namespace on loopback and a service-bus sink that sends to it, for tests of single behaviours.
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import type { CredentialOf } from '../../../adapters/service-bus/connection/access.ts';
import { serviceBusOptions } from '../../../adapters/service-bus/options/service-bus-options.ts';
import { ServiceBusAdapter } from '../../../adapters/service-bus/service-bus.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Deps } from '../../../src/time/clock.ts';
import {
  type ServiceBusServer,
  type ServiceBusServerOptions,
  serviceBusServer,
} from '../../far-sides/service-bus/service-bus-server.ts';
import { adapterDeps, type TestDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { type Sample, sampleDelivery } from '../sample-deliveries.ts';

/** Itself, or what follows from the server that runs. */
type OfServer<T> = T | ((server: ServiceBusServer) => T);

export interface ServiceBusSetup {
  /** Over the defaults of these tests: the server's connection string, queue `maintenance`. */
  readonly options?: OfServer<Readonly<Record<string, unknown>>>;
  readonly secrets?: OfServer<Readonly<Record<string, string>>>;
  readonly server?: ServiceBusServerOptions;
  readonly time?: Deps;
  readonly credentialOf?: CredentialOf;
  /** Once the server runs, and before the secrets are opened. */
  readonly beforeOpen?: (server: ServiceBusServer) => Promise<void>;
}

export interface ServiceBus {
  readonly adapter: ManagedAdapter;
  readonly server: ServiceBusServer;
  readonly deps: TestDeps;
  readonly deliver: (sample?: Sample, signal?: AbortSignal) => Promise<Outcome | undefined>;
}

export const QUEUE = 'maintenance';

export async function startServiceBus(t: TestContext, setup: ServiceBusSetup = {}): Promise<ServiceBus> {
  const server = await serviceBusServer(t, setup.server);
  server.queue(QUEUE);
  await setup.beforeOpen?.(server);
  return { server, ...createServiceBus(server, setup) };
}

/** A sink of a server that runs already, or will. */
export function createServiceBus(server: ServiceBusServer, setup: ServiceBusSetup = {}): Omit<ServiceBus, 'server'> {
  const { time, credentialOf } = setup;
  const options = of(setup.options, server) ?? {};
  const secrets = of(setup.secrets, server) ?? {};
  const way = 'namespace' in options || 'connectionString' in options ? {} : { connectionString: { env: 'BUS' } };
  const entity = 'topic' in options || 'queue' in options ? {} : { queue: QUEUE };
  const parsed = v.parse(serviceBusOptions, { ...way, ...entity, ...options });
  openSecrets(parsed, { BUS: server.connectionString, ...secrets });
  const deps = adapterDeps(time && { time });
  const adapter = manageAdapter(new ServiceBusAdapter(parsed, deps, credentialOf), deps.name);
  server.closeFirst(() => adapter[Symbol.asyncDispose]());
  const deliver: ServiceBus['deliver'] = async (sample = {}, signal = new AbortController().signal) =>
    (await adapter.deliver([sampleDelivery(sample)], signal))[0];
  return { adapter, deps, deliver };
}

function of<T extends object>(value: OfServer<T> | undefined, server: ServiceBusServer): T | undefined {
  return typeof value === 'function' ? value(server) : value;
}
