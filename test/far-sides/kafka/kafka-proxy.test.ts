// A proxy before the real broker → what a client sees of each fault, and what the broker has of it.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Kafka as Client, logLevel, Partitioners, type Producer, type RecordMetadata } from 'kafkajs';
import { poll } from '../../support/poll.ts';
import { Hold, KafkaProxy } from './kafka-proxy.ts';
import { readHeader } from './proxied-answers.ts';
import { readTopic } from './records.ts';
import { readMetadata } from './requests.ts';
import { type Kafka, sharedKafka, withoutKafka } from './shared-kafka.ts';
import { API, int16, int32, string } from './wire.ts';

interface Fixture {
  readonly kafka: Kafka;
  readonly proxy: KafkaProxy;
  readonly topic: string;
  readonly client: Client;
  /** Connected. */
  readonly producer: Producer;
  send(value: string): Promise<RecordMetadata[]>;
  /** What the broker has. */
  stored(): Promise<(string | null)[]>;
}

/** `requestTimeout`: short, for who waits for it in vain. */
async function fixture(t: TestContext, requestTimeout = 400): Promise<Fixture> {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  const proxy = await KafkaProxy.start(t, kafka.brokers);
  const client = new Client({
    brokers: [...proxy.brokers],
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
    requestTimeout,
  });
  const producer = client.producer({
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  t.after(() => producer.disconnect());
  await producer.connect();
  return {
    kafka,
    proxy,
    topic,
    client,
    producer,
    send: (value) => producer.send({ topic, messages: [{ value }] }),
    stored: async () => (await readTopic(kafka.brokers, topic)).map((record) => record.value),
  };
}

test('without a fault the proxy forwards everything, and a client finds every broker through it', {
  skip: withoutKafka,
}, async (t) => {
  const { kafka, proxy, topic, client, send, stored } = await fixture(t);
  await send('a');
  assert.deepEqual(await stored(), ['a']);
  const admin = client.admin();
  t.after(() => admin.disconnect());
  await admin.connect();
  const { brokers } = await admin.describeCluster();
  assert.deepEqual(
    brokers.map(({ host, port }) => `${host}:${port}`),
    proxy.brokers,
  );
  const [sent] = proxy.requests.filter(({ partitions }) => partitions.length > 0);
  assert.deepEqual(
    [sent?.broker, sent?.partitions[0]?.topic, sent?.partitions[0]?.partition],
    [kafka.address, topic, 0],
  );
  assert.deepEqual([proxy.count('produce'), proxy.count('fetch')], [1, 0]);
  assert.ok(proxy.connections >= 2);
});

test('a consumer group works through the proxy', { skip: withoutKafka }, async (t) => {
  const { kafka, proxy, topic, send } = await fixture(t);
  await send('a');
  const client = new Client({ brokers: [...proxy.brokers], logLevel: logLevel.NOTHING });
  const consumer = client.consumer({ groupId: kafka.uniqueName('group'), maxWaitTimeInMs: 50 });
  t.after(() => consumer.disconnect());
  await consumer.subscribe({ topic, fromBeginning: true });
  const values: string[] = [];
  await consumer.run({ eachMessage: async ({ message }) => void values.push(String(message.value)) });
  await poll(() => values.length > 0, 'a message');
  assert.deepEqual(values, ['a']);
  assert.ok(proxy.count('findCoordinator') > 0 && proxy.count('joinGroup') > 0);
});

test('cut before: the connection of the client closes, and the broker has nothing', {
  skip: withoutKafka,
}, async (t) => {
  const { proxy, send, stored } = await fixture(t);
  proxy.next('produce', 'cut before');
  await assert.rejects(send('a'), /Closed connection/);
  assert.deepEqual(await stored(), []);
  await send('b');
  assert.deepEqual(await stored(), ['b']);
});

test('cut after: the connection of the client closes, but the broker has the record', {
  skip: withoutKafka,
}, async (t) => {
  const { proxy, send, stored } = await fixture(t);
  proxy.next('produce', 'cut after');
  await assert.rejects(send('a'), /Closed connection/);
  assert.deepEqual(await stored(), ['a']);
});

test('drop and swallow: no answer arrives, and the broker has the record only with swallow', {
  skip: withoutKafka,
}, async (t) => {
  const { proxy, send, stored } = await fixture(t);
  proxy.next('produce', 'drop', 'swallow');
  await assert.rejects(send('dropped'), /timed out/);
  assert.deepEqual(await stored(), []);
  await assert.rejects(send('swallowed'), /timed out/);
  assert.deepEqual(await stored(), ['swallowed']);
});

test('a hold keeps the answer until it is released', { skip: withoutKafka }, async (t) => {
  const { proxy, send, stored } = await fixture(t, 30_000);
  const hold = new Hold();
  proxy.next('produce', hold);
  let answered = false;
  const sent = send('a').then(() => {
    answered = true;
  });
  await hold.reached;
  assert.deepEqual([await stored(), answered], [['a'], false]);
  hold.release();
  await sent;
});

test('an error is answered instead of the broker, which has nothing', { skip: withoutKafka }, async (t) => {
  const { proxy, send, stored } = await fixture(t);
  const storageError = 56;
  proxy.next('produce', { error: storageError });
  await assert.rejects(send('a'), /Disk error/);
  assert.deepEqual(await stored(), []);
  assert.equal((await send('b'))[0]?.errorCode, 0);
});

test('throttling is in an answer of the broker', { skip: withoutKafka }, async (t) => {
  const { proxy, send, stored } = await fixture(t);
  const throttleMs = 300;
  proxy.next('produce', { throttleMs });
  assert.equal((await send('a'))[0]?.baseOffset, '0');
  const startMs = performance.now();
  // kafkajs keeps its next request back for so long, which no machine can do too slowly.
  await send('b');
  assert.ok(performance.now() - startMs > throttleMs / 2);
  assert.deepEqual(await stored(), ['a', 'b']);
});

test('a rule decides about every request that no fault was queued for', { skip: withoutKafka }, async (t) => {
  const { proxy, send, stored } = await fixture(t);
  const notEnoughReplicas = 19;
  proxy.rule = ({ partitions }) => (partitions.length > 0 ? { error: notEnoughReplicas } : undefined);
  await assert.rejects(send('a'), /fewer in-sync replicas/);
  await assert.rejects(send('b'), /fewer in-sync replicas/);
  proxy.rule = () => undefined;
  await send('c');
  assert.deepEqual(await stored(), ['c']);
});

test('the proxy accepts connections again at the same address after refusing them', {
  skip: withoutKafka,
}, async (t) => {
  const { proxy, send, stored } = await fixture(t);
  proxy.refuse();
  await assert.rejects(send('a'), /ECONNREFUSED|Closed connection/);
  await proxy.accept();
  await send('b');
  assert.deepEqual(await stored(), ['b']);
  assert.ok(proxy.open > 0);
  proxy.cut();
  await poll(() => proxy.open === 0, 'all connections to be gone');
});

test('the proxy can advertise an unreachable address to clients', { skip: withoutKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const proxy = await KafkaProxy.start(t, kafka.brokers, { advertised: 'nowhere.invalid:9092' });
  const [address] = proxy.brokers;
  assert.ok(address);
  assert.deepEqual((await readMetadata(address)).brokers, [{ nodeId: 1, address: 'nowhere.invalid:9092' }]);
});

test('an unknown version of a request is an error, and is not forwarded', () => {
  const metadata = (version: number) =>
    Buffer.concat([int16(API.metadata), int16(version), int32(7), string('client')]);
  assert.deepEqual(readHeader(metadata(8)), { api: API.metadata, version: 8, correlationId: 7, clientId: 'client' });
  assert.throws(() => readHeader(metadata(9)), /cannot read version 9/);
});
