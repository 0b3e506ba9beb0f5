// A broker of the tests → approval sources on it, what they receive, senders and commits.
import type { TestContext } from 'node:test';
import kafkajs, { type Admin, type Message } from 'kafkajs';
import * as v from 'valibot';
import type { ApprovalMessage } from '../../../adapters/approval-source.ts';
import { kafkaSource } from '../../../adapters/kafka/source/kafka-source.ts';
import { type ManagedSource, manageSource } from '../../../src/bridge/source-loop.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { poll } from '../../support/poll.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { type OpenedSource, Reading, textOf, type Verdict } from '../source-reading.ts';

export interface SourceSurroundings {
  /** The VM's name; `web_0` by default. */
  readonly observerId?: string;
  /** What `{ env: NAME }` stands for. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly time?: Deps;
}

/** A source until the test ends. */
export function openSource(
  t: TestContext,
  options: Readonly<Record<string, unknown>>,
  surroundings: SourceSurroundings = {},
): OpenedSource {
  const { observerId = 'web_0', secrets = {}, time = systemDeps() } = surroundings;
  const { logged, memory: _, stdout: __, ...deps } = adapterDeps({ time });
  const parsed = v.parse(kafkaSource.options, options);
  openSecrets(parsed, secrets);
  const source = manageSource(kafkaSource.create(parsed, { ...deps, name: 'ops', observerId }), 'ops');
  t.after(() => source[Symbol.asyncDispose]());
  return { source, logged };
}

/** Receives again and again, as the bridge does, until the test ends. */
export class SteadyReading {
  readonly messages: ApprovalMessage[] = [];
  /** What each call of `receive` rejected with, in order. */
  readonly failures: BridgeError[] = [];
  #reading: Reading;

  constructor(t: TestContext, source: ManagedSource, verdict?: Verdict) {
    this.#reading = this.#read(source, verdict);
    t.after(() => this.end());
  }

  get texts(): string[] {
    return this.messages.map(textOf);
  }

  async ready(): Promise<void> {
    await poll(() => this.#reading.isReady, 'a source that is ready', 30_000);
  }

  async until(count: number): Promise<void> {
    await poll(() => this.messages.length >= count, `${count} messages`, 30_000);
  }

  async end(): Promise<void> {
    await this.#reading.abort();
  }

  #read(source: ManagedSource, verdict: Verdict = () => 'settle'): Reading {
    const reading = new Reading(source, (message) => {
      this.messages.push(message);
      return verdict(message);
    });
    void reading.done.then((error) => {
      if (!(error instanceof BridgeError) || error.code === 'BRIDGE_ADAPTER_CLOSED') return;
      this.failures.push(error);
      this.#reading = this.#read(source, verdict);
    });
    return reading;
  }
}

/** The other end of a topic, by a client of its own. */
export class FarEnd {
  readonly topic: string;
  readonly #admin: Admin;
  readonly #send: (messages: Message[]) => Promise<unknown>;

  private constructor(topic: string, admin: Admin, send: (messages: Message[]) => Promise<unknown>) {
    this.topic = topic;
    this.#admin = admin;
    this.#send = send;
  }

  static async open(t: TestContext, brokers: readonly string[], topic: string): Promise<FarEnd> {
    const client = new kafkajs.Kafka({
      clientId: 'far-end',
      brokers: [...brokers],
      logLevel: kafkajs.logLevel.NOTHING,
    });
    const producer = client.producer({
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      metadataMaxAge: 500,
    });
    const admin = client.admin();
    await Promise.all([producer.connect(), admin.connect()]);
    t.after(() => Promise.all([producer.disconnect(), admin.disconnect()]));
    return new FarEnd(topic, admin, (messages) => producer.send({ topic, messages }));
  }

  /** Resolves once they are in the topic; to partition 0 by default, sent now. */
  async send(
    values: readonly (string | Buffer | null)[],
    partition = 0,
    timestamp = String(Date.now()),
  ): Promise<void> {
    await this.#send(values.map((value) => ({ value, partition, timestamp })));
  }

  /** By partition; -1 where the group has none. */
  async committed(groupId: string): Promise<number[]> {
    const [found] = await this.#admin.fetchOffsets({ groupId, topics: [this.topic] });
    return found === undefined
      ? []
      : found.partitions.sort((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset));
  }

  /** How many are in the group; 0 too where there is none. */
  async members(groupId: string): Promise<number> {
    const { groups } = await this.#admin.describeGroups([groupId]);
    return groups[0]?.members.length ?? 0;
  }

  /** Resolves once the brokers tell of them. */
  async addPartitions(count: number): Promise<void> {
    await this.#admin.createPartitions({ topicPartitions: [{ topic: this.topic, count }] });
    const led = async () => {
      const { topics } = await this.#admin.fetchTopicMetadata({ topics: [this.topic] });
      return topics[0]?.partitions.filter(({ leader }) => leader >= 0).length === count;
    };
    await poll(led, `${count} partitions`);
  }

  /** As retention does it. */
  async forgetBefore(offset: number): Promise<void> {
    // kafkajs asks for the leader in what it knows of the topic, and knows nothing by itself.
    await this.#admin.fetchTopicMetadata({ topics: [this.topic] });
    await this.#admin.deleteTopicRecords({ topic: this.topic, partitions: [{ partition: 0, offset: String(offset) }] });
  }

  /** The topic is deleted, and made anew by the same name. */
  async makeAnew(): Promise<void> {
    await this.#admin.deleteTopics({ topics: [this.topic] });
    await poll(async () => !(await this.exists()), 'a topic that is gone');
    await this.#admin.createTopics({ topics: [{ topic: this.topic }], waitForLeaders: true });
  }

  /** How many it ever had. */
  async end(): Promise<number> {
    const ends = await this.#admin.fetchTopicOffsets(this.topic);
    return ends.reduce((sum, { high }) => sum + Number(high), 0);
  }

  async exists(): Promise<boolean> {
    return (await this.#admin.listTopics()).includes(this.topic);
  }
}
