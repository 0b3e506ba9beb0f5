// Records that kafkajs wrote → the same as two other clients read them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Kafka as Client, logLevel, Partitioners } from 'kafkajs';
import { readTopic, readTopicInJava } from './records.ts';
import { sharedKafka, withoutKafka, withoutOurKafka } from './shared-kafka.ts';

const AT_MS = 1_649_716_018_123;
const RECORDS = [
  {
    partition: 0,
    key: 'ключ',
    value: '{"a":"ü\\n"}',
    headers: [
      ['content-type', 'application/json'],
      ['ce_id', 'a:b, c'],
    ],
  },
  { partition: 0, key: null, value: 'no key, no headers', headers: [] },
  { partition: 1, key: 'tombstone', value: null, headers: [['empty', '']] },
] as const;

async function write(brokers: readonly string[], topic: string): Promise<void> {
  const client = new Client({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const producer = client.producer({
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  for (const { headers, ...record } of RECORDS)
    await producer.send({
      topic,
      messages: [{ ...record, headers: Object.fromEntries(headers), timestamp: String(AT_MS) }],
    });
  await producer.disconnect();
}

const EXPECTED = RECORDS.map((record, index) => ({
  ...record,
  offset: record.partition === 0 ? index : 0,
  timestampMs: AT_MS,
}));

test('kcat reads key, value, headers, place and time of each record', { skip: withoutKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic({ partitions: 2 });
  await write(kafka.brokers, topic);
  assert.deepEqual(await readTopic(kafka.brokers, topic), EXPECTED);
});

test('the console consumer of Kafka reads the same', { skip: withoutOurKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic({ partitions: 2 });
  await write(kafka.brokers, topic);
  assert.deepEqual(await readTopicInJava(kafka.brokers, topic, RECORDS.length), EXPECTED);
});

test('an empty topic has no records, and a missing one is an error', { skip: withoutKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  assert.deepEqual(await readTopic(kafka.brokers, await kafka.createTopic()), []);
  await assert.rejects(readTopic(kafka.brokers, kafka.uniqueName('never-made')), /Unknown topic/);
});
