// A namespace of the tests → sources of approvals on it, what they receive, and the other end, by the SDK alone.
import type { TestContext } from 'node:test';
import type { ServiceBusMessage } from '@azure/service-bus';
import * as v from 'valibot';
import type { ApprovalMessage, ApprovalSource, MessageVerdict } from '../../../adapters/adapter.ts';
import type { CredentialOf } from '../../../adapters/service-bus/access.ts';
import { ServiceBusSource, serviceBusSource } from '../../../adapters/service-bus/service-bus-source.ts';
import type { ServiceBusSourceOptions } from '../../../adapters/service-bus/service-bus-source-options.ts';
import type { Deps } from '../../../src/time.ts';
import { poll } from '../../support/poll.ts';
import { sdkClient } from '../../support/service-bus/sdk-client.ts';
import { type ServiceBusServer, type ServiceBusServerOptions, serviceBusServer } from '../../support/service-bus/service-bus-server.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';

export const QUEUE = 'approvals';

export interface OpenedSource {
  readonly source: ApprovalSource;
  /** Everything it logged so far. */
  readonly logged: () => string;
}

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
  const source = new ServiceBusSource(parsed, { ...deps, name: 'ops', observerId }, credentialOf);
  server.closeFirst(() => source[Symbol.asyncDispose]());
  return { source, logged };
}

/** What becomes of a message, `settle` by default. */
export type Verdict = (message: ApprovalMessage) => MessageVerdict | Promise<MessageVerdict>;

/** One call of `receive`. */
export class Reading {
  /** In the order in which they were taken, each with every time. */
  readonly messages: ApprovalMessage[] = [];
  /** What `receive` rejected with; undefined while it receives. */
  ended: unknown;
  isReady = false;
  readonly done: Promise<unknown>;
  readonly #abort = new AbortController();

  constructor(source: ApprovalSource, verdict: Verdict = () => 'settle') {
    const take = async (message: ApprovalMessage) => {
      this.messages.push(message);
      return await verdict(message);
    };
    const ready = () => {
      this.isReady = true;
    };
    this.done = source.receive(take, this.#abort.signal, ready).catch((error: unknown) => {
      this.ended = error;
      return error;
    });
  }

  get texts(): string[] {
    return this.messages.map(textOf);
  }

  /** @throws what `receive` rejected with before */
  async ready(): Promise<this> {
    await poll(() => this.isReady || this.ended !== undefined, 'a source that is ready');
    if (!this.isReady) throw this.ended;
    return this;
  }

  /** Resolves once so many messages were taken. */
  async until(count: number): Promise<void> {
    await poll(() => this.messages.length >= count || this.ended !== undefined, `message ${count}`);
    if (this.messages.length < count) throw this.ended;
  }

  /** @returns what `receive` rejects with */
  async abort(reason?: unknown): Promise<unknown> {
    this.#abort.abort(reason);
    return await this.done;
  }
}

/** A message's body as text. */
export function textOf({ body }: ApprovalMessage): string {
  return body === null ? 'null' : Buffer.from(body).toString();
}

/** Sends to a queue or topic, each text as one data section with itself as message id, in this order. */
export async function send(server: ServiceBusServer, texts: readonly string[], over: Partial<ServiceBusMessage> = {}, entity = QUEUE) {
  const sender = sdkClient(server).createSender(entity);
  await sender.sendMessages(texts.map((text) => ({ body: Buffer.from(text), messageId: text, ...over })));
  await sender.close();
}
