// A bridge with three approvers → ways to speak to it: HTTP, Kafka topics, Service Bus queues.
import type { TestContext } from 'node:test';
import kafkajs from 'kafkajs';
import type { SimulatedAzure } from '../../../src/simulator.ts';
import type { Kafka } from '../../far-sides/kafka/shared-kafka.ts';
import { sdkClient } from '../../far-sides/service-bus/sdk-client.ts';
import type { ServiceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { poll } from '../../support/poll.ts';
import { ChannelBridge, SPEAKERS, type Speaker } from './channel-bridge.ts';

/**
 * How a body is sent: as it is, as a CloudEvent's data in the body (`structured`), or with its attributes beside the
 * body.
 */
export type Mode = 'plain' | 'structured' | 'binary';

/** What approvers can do, whatever they speak through. */
export interface Channel {
  /** `taken`; `waits`: kept, or left to others, until its event comes; else the type of the refusal. */
  approve(as: Speaker, body: string, mode?: Mode): Promise<string>;
  hold(as: Speaker, EventId: string, reason: string): Promise<string>;
  release(as: Speaker, EventId: string): Promise<string>;
  /** As the record of an approval has it. */
  via(as: Speaker): string;
}

/** CloudEvents' attributes, for whoever wants them. */
const ATTRIBUTES = { specversion: '1.0', id: '1', source: '/pipeline', type: 'com.example.drained' };
const STRUCTURED = 'application/cloudevents+json';

/** The bridge's own endpoint. */
export class HttpChannel implements Channel {
  readonly #bridge: ChannelBridge;

  constructor(bridge: ChannelBridge) {
    this.#bridge = bridge;
  }

  approve(as: Speaker, body: string, mode: Mode = 'plain'): Promise<string> {
    const attributes = Object.entries(ATTRIBUTES).map(([name, value]) => [`ce-${name}`, value]);
    const headers = {
      'Content-Type': mode === 'structured' ? STRUCTURED : 'application/json',
      ...(mode === 'binary' && Object.fromEntries(attributes)),
    };
    return this.#said(this.#bridge.ask('POST', '/v1/approvals', as, body, headers));
  }

  hold(as: Speaker, EventId: string, reason: string): Promise<string> {
    const headers = { 'Content-Type': 'application/json' };
    return this.#said(this.#bridge.ask('POST', '/v1/holds', as, JSON.stringify({ EventId, reason }), headers));
  }

  release(as: Speaker, EventId: string): Promise<string> {
    return this.#said(this.#bridge.ask('DELETE', `/v1/holds/${EventId}`, as));
  }

  via(): string {
    return 'token';
  }

  async #said(asked: Promise<{ readonly status: number; readonly body: unknown }>): Promise<string> {
    const { status, body } = await asked;
    if (status < 300) return 'taken';
    return (body as { type: string }).type.split(/[#/:]/).at(-1) ?? '';
  }
}

/** A source for each approver, called as it is. */
abstract class SourceChannel implements Channel {
  abstract approve(as: Speaker, body: string, mode?: Mode): Promise<string>;

  hold(as: Speaker, EventId: string, reason: string): Promise<string> {
    return this.approve(as, JSON.stringify({ Holds: [{ EventId, reason }] }));
  }

  release(as: Speaker, EventId: string): Promise<string> {
    return this.approve(as, JSON.stringify({ Releases: [{ EventId }] }));
  }

  via(as: Speaker): string {
    return `source:${as}`;
  }
}

/** Resolves with the record's offset once it is in the topic. */
type Send = (topic: string, value: string, headers: Record<string, string>) => Promise<number>;

/** A topic of one partition for each approver, each read by a group of its own. */
export class KafkaChannel extends SourceChannel {
  readonly #bridge: ChannelBridge;
  readonly #topics: Readonly<Record<Speaker, string>>;
  readonly #send: Send;

  private constructor(bridge: ChannelBridge, topics: Readonly<Record<Speaker, string>>, send: Send) {
    super();
    this.#bridge = bridge;
    this.#topics = topics;
    this.#send = send;
  }

  static async open(
    t: TestContext,
    kafka: Kafka,
    azure: SimulatedAzure,
  ): Promise<{ bridge: ChannelBridge; channel: Channel }> {
    const made = await Promise.all(SPEAKERS.map(async (name) => [name, await kafka.createTopic()] as const));
    const topics = Object.fromEntries(made) as Record<Speaker, string>;
    const source = (name: Speaker) => ({
      type: 'kafka',
      brokers: kafka.brokers,
      topic: topics[name],
      groupId: kafka.uniqueName('group'),
      approver: name,
    });
    const client = new kafkajs.Kafka({
      clientId: 'far-end',
      brokers: [...kafka.brokers],
      logLevel: kafkajs.logLevel.NOTHING,
    });
    const producer = client.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
    await producer.connect();
    t.after(() => producer.disconnect());
    const bridge = await ChannelBridge.start(
      t,
      azure,
      Object.fromEntries(SPEAKERS.map((name) => [name, source(name)])),
    );
    const send: Send = async (topic, value, headers) => {
      const [stored] = await producer.send({ topic, messages: [{ value, headers }] });
      return Number(stored?.baseOffset);
    };
    return { bridge, channel: new KafkaChannel(bridge, topics, send) };
  }

  /** The log names the record that was refused or passed over. */
  async approve(as: Speaker, body: string, mode: Mode = 'plain'): Promise<string> {
    const topic = this.#topics[as];
    const before = await this.#results(as, this.#bridge.freshMetrics());
    const headers =
      mode === 'binary'
        ? Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, value]) => [`ce_${name}`, value]))
        : {};
    const offset = await this.#send(topic, body, {
      ...headers,
      ...(mode === 'structured' && { 'content-type': STRUCTURED }),
    });
    let result: string | undefined;
    const isDone = async () => {
      const now = await this.#results(as);
      result = [...now.keys()].find((name) => (now.get(name) ?? 0) > (before.get(name) ?? 0));
      return result !== undefined;
    };
    await poll(isDone, `what becomes of the record ${offset} of ${as}`);
    if (result === 'parked') return 'waits';
    if (result === 'settled' || result === 'repeated') return 'taken';
    const line = this.#bridge.logs.find(({ place }) => isAt(place, topic, offset));
    return result === 'invalid' && line !== undefined ? 'bad-request' : String(line?.['type']);
  }

  async #results(as: Speaker, asked = this.#bridge.metrics()): Promise<ReadonlyMap<string, number>> {
    const names = ['settled', 'repeated', 'parked', 'refused', 'invalid'];
    const metrics = await asked;
    return new Map(
      names.map((name) => [name, metrics.get(`approval_messages_total{source="${as}",result="${name}"}`) ?? 0]),
    );
  }
}

function isAt(place: unknown, topic: string, offset: number): boolean {
  const at = place as { topic?: string; offset?: number } | undefined;
  return at?.topic === topic && at.offset === offset;
}

/** A queue for each approver, read by the bridges of a group together. */
export class ServiceBusChannel extends SourceChannel {
  readonly #bridge: ChannelBridge;
  readonly #server: ServiceBusServer;
  readonly #client: ReturnType<typeof sdkClient>;
  #sent = 0;

  private constructor(bridge: ChannelBridge, server: ServiceBusServer) {
    super();
    this.#bridge = bridge;
    this.#server = server;
    this.#client = sdkClient(server);
  }

  static async open(
    t: TestContext,
    server: ServiceBusServer,
    azure: SimulatedAzure,
  ): Promise<{ bridge: ChannelBridge; channel: Channel }> {
    for (const name of SPEAKERS) server.queue(name);
    const source = (name: Speaker) => ({
      type: 'service-bus',
      connectionString: { env: 'BUS' },
      queue: name,
      approver: name,
    });
    const sources = Object.fromEntries(SPEAKERS.map((name) => [name, source(name)]));
    const bridge = await ChannelBridge.start(t, azure, sources, { BUS: server.connectionString });
    return { bridge, channel: new ServiceBusChannel(bridge, server) };
  }

  /** The broker tells: gone, or among the dead letters. */
  async approve(as: Speaker, body: string, mode: Mode = 'plain'): Promise<string> {
    const queue = this.#server.queue(as);
    const before = await this.#bridge.messages(as, 'given_back', this.#bridge.freshMetrics());
    const sender = this.#client.createSender(as);
    const dead = queue.deadLetters().length;
    const attributes = Object.fromEntries(
      Object.entries(ATTRIBUTES).map(([name, value]) => [`cloudEvents_${name}`, value]),
    );
    await sender.sendMessages({
      body: Buffer.from(body),
      messageId: `said-${++this.#sent}`,
      ...(mode === 'structured' && { contentType: STRUCTURED }),
      ...(mode === 'binary' && { contentType: 'application/json', applicationProperties: attributes }),
    });
    await sender.close();
    let isGivenBack = false;
    const isDone = async () => {
      isGivenBack = (await this.#bridge.messages(as, 'given_back')) > before;
      return isGivenBack || queue.messages().length === 0;
    };
    await poll(isDone, `what becomes of a message of ${as}`);
    if (isGivenBack) return 'waits';
    const letters = queue.deadLetters();
    return letters.length === dead ? 'taken' : (letters.at(-1)?.deadLetter?.reason ?? '');
  }
}
