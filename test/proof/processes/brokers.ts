// Service Bus in this process and a real Kafka → far sides of sinks that can go away.
import type { TestContext } from 'node:test';
import { KafkaProxy } from '../../far-sides/kafka/kafka-proxy.ts';
import { readTopic } from '../../far-sides/kafka/records.ts';
import { createTopic } from '../../far-sides/kafka/requests.ts';
import { launchShared, withoutOurKafka } from '../../far-sides/kafka/shared-kafka.ts';
import type { AmqpMessage } from '../../far-sides/service-bus/amqp-message.ts';
import { serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { type Arrival, type FarSide, Looks } from './far-sides.ts';

/** A broker that stays has answered within this time. */
const ANSWERED_MS = 2000;

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
  const looks = new Looks(() => queue.messages().map(({ message }) => bodyOf(message.body)));
  const leftMs: number[] = [];
  // Its answer may be lost.
  const isDoubtful = ({ fromMs, atMs }: Arrival) => leftMs.some((ms) => ms >= fromMs && ms - atMs <= ANSWERED_MS);
  return {
    name: 'bus',
    settings: {
      type: 'service-bus',
      connectionString: { env: 'BUS' },
      queue: 'events',
      mode: 'structured',
    },
    env: { BUS: server.connectionString },
    look: looks.look,
    arrivals: () => looks.arrivals().map((arrival) => (isDoubtful(arrival) ? { ...arrival, readMs: null } : arrival)),
    leave: () => {
      leftMs.push(performance.now());
      return server.leave();
    },
    comeBack: () => server.comeBack(),
  };
}

function bodyOf(body: AmqpMessage['body']): string {
  return body.kind === 'data' ? Buffer.concat(body.sections).toString() : '';
}

/** The clock of a record is that of the bridge, which a fault may change. */
const UNDATED = { fromMs: Number.NEGATIVE_INFINITY, atMs: Number.POSITIVE_INFINITY };

export async function kafka(t: TestContext, brokers: readonly string[]): Promise<FarSide> {
  const topic = `proof-${process.pid}-${made++}`;
  await createTopic(brokers[0] ?? '', topic, {});
  let readMs: number | null = Number.POSITIVE_INFINITY;
  const proxy = await KafkaProxy.start(t, brokers);
  return {
    name: 'kafka',
    settings: { type: 'kafka', brokers: proxy.brokers, topic, mode: 'structured' },
    arrivals: async () =>
      (await readTopic(brokers, topic)).map(({ value }) => ({ ...UNDATED, readMs, text: value ?? '' })),
    leave: () => {
      readMs = null;
      proxy.refuse();
    },
    comeBack: () => proxy.accept(),
  };
}
