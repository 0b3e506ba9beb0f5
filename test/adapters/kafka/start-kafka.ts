// A topic of the shared Kafka and a sink that writes to it, for tests of single behaviours.
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import { kafkaSink } from '../../../adapters/kafka/kafka.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { KafkaProxy } from '../../far-sides/kafka/kafka-proxy.ts';
import { type ReadRecord, readTopic } from '../../far-sides/kafka/records.ts';
import type { TopicOptions } from '../../far-sides/kafka/requests.ts';
import { type Kafka, sharedKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { adapterDeps, type TestDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { type Sample, sampleDelivery } from '../sample-deliveries.ts';

export interface SinkSetup {
  readonly options: Readonly<Record<string, unknown>>;
  /** Values of the secrets that `options` names by `env`. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly time?: Deps;
}

export interface Sink {
  readonly adapter: ManagedAdapter;
  readonly deps: TestDeps;
  /** One call for all samples; without an end of its own. */
  readonly deliver: (...samples: readonly Sample[]) => Promise<readonly Outcome[]>;
}

export interface ProxiedSink extends Sink {
  readonly kafka: Kafka;
  readonly topic: string;
  /** Between the sink and the broker. */
  readonly proxy: KafkaProxy;
  /** All of the topic, by partition and offset. */
  readonly records: () => Promise<ReadRecord[]>;
}

/** Connects to nothing. */
export function createSink(t: TestContext, { options, secrets = {}, time }: SinkSetup): Sink {
  const parsed = v.parse(kafkaSink.options, { type: 'kafka', ...options });
  openSecrets(parsed, secrets);
  const deps = adapterDeps(time ? { time } : {});
  const adapter = manageAdapter(kafkaSink.create(parsed, deps), deps.name);
  t.after(() => adapter[Symbol.asyncDispose]());
  const deliver: Sink['deliver'] = (...samples) =>
    adapter.deliver(samples.map(sampleDelivery), new AbortController().signal);
  return { adapter, deps, deliver };
}

/** A new topic of the shared broker, behind a proxy. */
export async function startSink(
  t: TestContext,
  { topic: topicOptions = {}, ...setup }: Partial<SinkSetup> & { readonly topic?: TopicOptions } = {},
): Promise<ProxiedSink> {
  const shared = await sharedKafka(t);
  const topic = await shared.createTopic(topicOptions);
  const proxy = await KafkaProxy.start(t, shared.brokers);
  const sink = createSink(t, { ...setup, options: { brokers: [...proxy.brokers], topic, ...setup.options } });
  return { ...sink, kafka: shared, topic, proxy, records: () => readTopic(shared.brokers, topic) };
}

/** The ids of the CloudEvents in these records, whatever their mode. */
export function idsOf(records: readonly ReadRecord[]): string[] {
  return records.map(({ headers, value }) => {
    const id = headers.find(([name]) => name === 'ce_id')?.[1];
    return id ?? (JSON.parse(value ?? '{}') as { id: string }).id;
  });
}
