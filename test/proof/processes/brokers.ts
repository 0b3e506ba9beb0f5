// Service Bus in this process and a real Kafka → far sides of sinks that can go away.
import type { TestContext } from 'node:test';
import { KafkaProxy } from '../../far-sides/kafka/kafka-proxy.ts';
import { readTopic } from '../../far-sides/kafka/records.ts';
import { createTopic } from '../../far-sides/kafka/requests.ts';
import { launchShared, withoutOurKafka } from '../../far-sides/kafka/shared-kafka.ts';
import type { AmqpMessage } from '../../far-sides/service-bus/amqp-message.ts';
import { serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import type { FarSide } from './far-sides.ts';

let made = 0;

/** Starts a broker that ends with the scope; or says why there is none. */
export async function startKafka(scope: Pick<TestContext, 'after'>): Promise<readonly string[] | string> {
  if (withoutOurKafka) return withoutOurKafka;
  const { cluster, shared } = await launchShared();
  scope.after(() => cluster[Symbol.asyncDispose]());
  return shared.listeners.PLAINTEXT;
}

export async function serviceBus(t: TestContext): Promise<FarSide> {
  const server = await serviceBusServer(t);
  const queue = server.queue('events');
  return {
    name: 'bus',
    settings: {
      type: 'service-bus',
      connectionString: { env: 'BUS' },
      queue: 'events',
      mode: 'structured',
      timeout: '1s',
    },
    env: { BUS: server.connectionString },
    arrivals: () => queue.messages().map(({ message }) => ({ text: bodyOf(message.body), atMs: null })),
    leave: () => server.leave(),
    comeBack: () => server.comeBack(),
  };
}

function bodyOf(body: AmqpMessage['body']): string {
  return body.kind === 'data' ? Buffer.concat(body.sections).toString() : '';
}

export async function kafka(t: TestContext, brokers: readonly string[]): Promise<FarSide> {
  const topic = `proof-${process.pid}-${made++}`;
  await createTopic(brokers[0] ?? '', topic, {});
  const proxy = await KafkaProxy.start(t, brokers);
  return {
    name: 'kafka',
    settings: { type: 'kafka', brokers: proxy.brokers, topic, mode: 'structured', timeout: '1s' },
    arrivals: async () => (await readTopic(brokers, topic)).map(({ value }) => ({ text: value ?? '', atMs: null })),
    leave: () => proxy.refuse(),
    comeBack: () => proxy.accept(),
  };
}
