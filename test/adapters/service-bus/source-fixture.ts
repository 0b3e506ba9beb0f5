// A namespace of the tests → sources of approvals on it, and the other end, by the SDK alone.
import type { TestContext } from 'node:test';
import type { ServiceBusMessage } from '@azure/service-bus';
import * as v from 'valibot';
import type { CredentialOf } from '../../../adapters/service-bus/connection/access.ts';
import type { ServiceBusSourceOptions } from '../../../adapters/service-bus/options/service-bus-source-options.ts';
import { ServiceBusSource, serviceBusSource } from '../../../adapters/service-bus/source/service-bus-source.ts';
import { manageSource } from '../../../src/bridge/source-loop.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { sdkClient } from '../../far-sides/service-bus/sdk-client.ts';
import {
  type ServiceBusServer,
  type ServiceBusServerOptions,
  serviceBusServer,
} from '../../far-sides/service-bus/service-bus-server.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import type { OpenedSource } from '../source-reading.ts';

export const QUEUE = 'approvals';

export interface SourceSetup {
  /** Over the defaults of these tests: the server's connection string, queue `approvals`. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly observerId?: string;
  readonly time?: Deps;
  readonly credentialOf?: CredentialOf;
}

/** A server with the queue. */
export async function openServer(t: TestContext, options?: ServiceBusServerOptions): Promise<ServiceBusServer> {
  const server = await serviceBusServer(t, options);
  server.queue(QUEUE);
  return server;
}

/** A source until the server goes. */
export function openSource(server: ServiceBusServer, setup: SourceSetup = {}): OpenedSource {
  const { options = {}, secrets = {}, observerId = 'web_0', time, credentialOf } = setup;
  const { logged, memory: _, stdout: __, ...deps } = adapterDeps(time && { time });
  const way = 'namespace' in options ? {} : { connectionString: { env: 'BUS' } };
  const entity = 'topic' in options ? {} : { queue: QUEUE };
  const parsed = v.parse(serviceBusSource.options, { ...way, ...entity, ...options }) as ServiceBusSourceOptions;
  openSecrets(parsed, { BUS: server.connectionString, ...secrets });
  const source = manageSource(new ServiceBusSource(parsed, { ...deps, name: 'ops', observerId }, credentialOf), 'ops');
  server.closeFirst(() => source[Symbol.asyncDispose]());
  return { source, logged };
}

/** Sends to a queue or topic, each text as one data section with itself as message id, in this order. */
export async function send(
  server: ServiceBusServer,
  texts: readonly string[],
  over: Partial<ServiceBusMessage> = {},
  entity = QUEUE,
) {
  const sender = sdkClient(server).createSender(entity);
  await sender.sendMessages(texts.map((text) => ({ body: Buffer.from(text), messageId: text, ...over })));
  await sender.close();
}
