// The adapter contract → kafka in each mode; a real broker behind a proxy, read by kcat.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import type { CloudEvent } from 'cloudevents';
import { kafkaSink } from '../../../adapters/kafka/kafka.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { cloudEventOf } from '../../far-sides/kafka/cloud-event-of.ts';
import { KafkaProxy } from '../../far-sides/kafka/kafka-proxy.ts';
import { fromKcat } from '../../far-sides/kafka/records.ts';
import { USERS } from '../../far-sides/kafka/security.ts';
import { sharedKafka, withoutOurKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { API } from '../../far-sides/kafka/wire.ts';
import { type Arrival, type Clause, type FarSide, testAdapter } from '../contract.ts';

const MESSAGE_TOO_LARGE = 10;
const noPause: Partial<Record<Clause, string>> = {
  'an overload is retried after the pause that the far side asks for':
    'Kafka asks for a pause beside an answer that accepts, and the client keeps it by itself: there is no failure to tell it with',
};
const oneAtATime: Partial<Record<Clause, string>> = {
  'a key that gets no answer does not hold up another':
    'with idempotent: true there is one request at a time, over all partitions',
};

if (withoutOurKafka) {
  test('kafka: the adapter contract', { skip: withoutOurKafka });
} else {
  testAdapter({
    definition: kafkaSink,
    variant: 'binary mode',
    start: brokerOf({}),
    onTheWire: dataOf,
    awayIs: 'retry',
    skip: noPause,
  });
  testAdapter({
    definition: kafkaSink,
    variant: 'structured mode',
    start: brokerOf({ mode: 'structured' }),
    awayIs: 'retry',
    skip: noPause,
  });
  testAdapter({
    definition: kafkaSink,
    variant: 'idempotent',
    start: brokerOf({ idempotent: true, compression: 'gzip' }),
    onTheWire: dataOf,
    awayIs: 'retry',
    skip: { ...noPause, ...oneAtATime },
  });
}

function brokerOf(options: Readonly<Record<string, unknown>>): (t: TestContext) => Promise<FarSide> {
  return (t) => startBroker(t, options);
}

async function startBroker(t: TestContext, options: Readonly<Record<string, unknown>>): Promise<FarSide> {
  const shared = await sharedKafka(t);
  // The keys a and b are in different ones.
  const topic = await shared.createTopic({ partitions: 3 });
  const proxy = await KafkaProxy.start(t, shared.listener('SASL'));
  const arrivals = follow(t, shared.brokers, topic);
  const produced = (fault: 'swallow' | { readonly error: number }) => {
    proxy.rule = ({ api }) => (api === API.produce ? fault : undefined);
  };
  return {
    options: {
      type: 'kafka',
      brokers: [...proxy.brokers],
      topic,
      sasl: { mechanism: 'plain', username: 'writer', password: { env: 'KAFKA_PASSWORD' } },
      ...options,
    },
    secrets: { KAFKA_PASSWORD: USERS.writer },
    arrivals: () => arrivals,
    contacts: () => proxy.connections,
    hang: () => produced('swallow'),
    isStuck: () => proxy.count('produce') > 0,
    stuckBytes: 0,
    accept: () => {
      proxy.rule = () => undefined;
    },
    refuse: () => produced({ error: MESSAGE_TOO_LARGE }),
    leave: async () => proxy.refuse(),
    comeBack: () => proxy.accept(),
  };
}

/** What is in the topic, now and later; in order within a partition. */
function follow(t: TestContext, brokers: readonly string[], topic: string): readonly Arrival[] {
  const found: Arrival[] = [];
  const args = [
    '-C',
    '-b',
    brokers.join(','),
    '-t',
    topic,
    '-o',
    'beginning',
    '-q',
    '-u',
    '-J',
    '-X',
    'fetch.wait.max.ms=10',
  ];
  const kcat = spawn('kcat', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => kcat.kill());
  createInterface(kcat.stdout).on('line', (line) => {
    const record = fromKcat(JSON.parse(line));
    found.push({ bytes: Buffer.from(record.value ?? ''), event: cloudEventOf(record) as CloudEvent<unknown> });
  });
  return found;
}

/** The value in binary mode. */
function dataOf({ bytes }: Delivery): Uint8Array {
  return Buffer.from(JSON.stringify(JSON.parse(Buffer.from(bytes).toString()).data));
}
