// A topic that is missing, made by the sink or later, or changed → what the sink says and does.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import kafkajs from 'kafkajs';
import { KafkaProxy } from '../../far-sides/kafka/kafka-proxy.ts';
import { createTopic, deleteTopic, readMetadata } from '../../far-sides/kafka/requests.ts';
import { sharedKafka, withoutKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { poll } from '../../support/poll.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { kafkaLane } from './kafka-lane.ts';
import { createSink, idsOf, startSink } from './start-kafka.ts';

const TOPIC_RESOURCE = 2;

/** A name that no topic has, at the shared broker, which makes every topic that a client asks for carelessly. */
async function missingTopic(t: TestContext) {
  const kafka = await sharedKafka(t);
  const topic = kafka.uniqueName('missing');
  t.after(() => deleteTopic(kafka.address, topic));
  const isThere = async () => (await readMetadata(kafka.address, [topic])).topics.has(topic);
  return { kafka, topic, isThere };
}

test('a missing topic is reported as misconfigured, and never created by accident', {
  skip: withoutKafka,
}, async (t) => {
  const { kafka, topic, isThere } = await missingTopic(t);
  const { deliver, adapter } = createSink(t, { options: { brokers: [...kafka.brokers], topic } });
  for (const attempt of [1, 2]) {
    const failure = failed((await deliver({ seq: attempt }))[0]);
    assert.deepEqual(
      [failure.code, failure.disposition, failure.scope, failure.status],
      ['BRIDGE_KAFKA_NO_TOPIC', 'misconfigured', 'sink', 'UNKNOWN_TOPIC_OR_PARTITION'],
    );
    assert.ok(
      failure.message.includes(`topic ${topic} does not exist`) && failure.message.includes('createTopic'),
      failure.message,
    );
  }
  await assert.rejects(adapter.check(new AbortController().signal), { code: 'BRIDGE_KAFKA_NO_TOPIC' });
  assert.equal(await isThere(), false);
});

test('a lane with a missing topic reports it, loses nothing, and delivers once the topic exists', {
  skip: withoutKafka,
}, async (t) => {
  const { kafka, topic } = await missingTopic(t);
  const { lane, queue, pass, store } = kafkaLane(t, { brokers: [...kafka.brokers], topic });
  for (const seq of [1, 2, 3]) queue({ seq });
  await pass(0);
  assert.equal(lane.status().state, 'misconfigured');
  assert.match(lane.status().reason ?? '', new RegExp(`topic ${topic} does not exist`));
  assert.deepEqual([store.open.length, store.dead.length], [3, 0]);
  await createTopic(kafka.address, topic);
  await poll(async () => {
    await pass(10_000);
    return store.accepted.length === 3;
  }, 'the deliveries');
  assert.equal(lane.status().state, 'delivering');
});

for (const idempotent of [false, true]) {
  test(`createTopic creates a missing topic with its settings (idempotent: ${idempotent})`, {
    skip: withoutKafka,
  }, async (t) => {
    const { kafka, topic } = await missingTopic(t);
    const wanted = {
      partitions: 3,
      replicationFactor: 1,
      config: { 'retention.ms': 3_600_000, 'cleanup.policy': 'compact' },
    };
    const options = { brokers: [...kafka.brokers], topic, createTopic: wanted, idempotent };
    const { deliver } = createSink(t, { options });
    // A topic is known before it takes records.
    await poll(async () => (await deliver({ seq: 1 }))[0] === 'accepted', 'the first delivery');
    assert.equal((await readMetadata(kafka.address, [topic])).topics.get(topic)?.length, 3);
    const admin = new kafkajs.Kafka({ brokers: [...kafka.brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    t.after(() => admin.disconnect());
    const configNames = Object.keys(wanted.config);
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: TOPIC_RESOURCE, name: topic, configNames }],
    });
    const found = Object.fromEntries(
      resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]) ?? [],
    );
    assert.deepEqual(found, { 'retention.ms': '3600000', 'cleanup.policy': 'compact' });
  });
}

test('several bridges that create the topic at once create only one', { skip: withoutKafka }, async (t) => {
  const { kafka, topic } = await missingTopic(t);
  const options = { brokers: [...kafka.brokers], topic, createTopic: { partitions: 1, replicationFactor: 1 } };
  const bridges = Array.from({ length: 4 }, () => createSink(t, { options }));
  await Promise.all(
    bridges.map(({ deliver }) => poll(async () => (await deliver({ seq: 1 }))[0] === 'accepted', 'a delivery')),
  );
});

test('createTopic that the cluster rejects is reported as misconfigured, with the cause', {
  skip: withoutKafka,
}, async (t) => {
  const { kafka, topic, isThere } = await missingTopic(t);
  const faults = [
    [{ partitions: 1, replicationFactor: 9 }, 'INVALID_REPLICATION_FACTOR', /createTopic\.replicationFactor/],
    [
      { partitions: 1, replicationFactor: 1, config: { 'retention.ms': 'soon' } },
      'INVALID_CONFIG',
      /createTopic\.config/,
    ],
  ] as const;
  for (const [wanted, status, message] of faults) {
    const { deliver, adapter } = createSink(t, {
      options: { brokers: [...kafka.brokers], topic, createTopic: wanted },
    });
    const failure = failed((await deliver({ seq: 1 }))[0]);
    assert.deepEqual(
      [failure.code, failure.disposition, failure.status],
      ['BRIDGE_KAFKA_MISCONFIGURED', 'misconfigured', status],
    );
    assert.match(failure.message, message);
    await assert.rejects(adapter.check(new AbortController().signal), { code: 'BRIDGE_KAFKA_MISCONFIGURED', status });
  }
  assert.equal(await isThere(), false);
});

test('a check of a sink that will create its topic reports this and creates none', {
  skip: withoutKafka,
}, async (t) => {
  const { kafka, topic, isThere } = await missingTopic(t);
  const { adapter } = createSink(t, {
    options: { brokers: [...kafka.brokers], topic, createTopic: { partitions: 1, replicationFactor: 1 } },
  });
  assert.match(
    (await adapter.check(new AbortController().signal)) ?? '',
    /does not exist yet: the first delivery creates it/,
  );
  assert.equal(await isThere(), false);
});

test('a topic that is created again with fewer partitions loses nothing, although kafkajs drops records for a missing partition', {
  skip: withoutKafka,
}, async (t) => {
  const { deliver, kafka, topic, records } = await startSink(t, { topic: { partitions: 3 } });
  const all = ['a', 'b', 'k2'].map((partitionKey, index) => ({ seq: index + 1, partitionKey }));
  assert.deepEqual(await deliver(...all), ['accepted', 'accepted', 'accepted']);
  await deleteTopic(kafka.address, topic);
  await poll(async () => !(await readMetadata(kafka.address, [topic])).topics.has(topic), 'the topic to go');
  await createTopic(kafka.address, topic);
  const waiting = new Map(all.map((sample) => [sample.seq, { ...sample, seq: sample.seq + 10 }]));
  await poll(async () => {
    for (const [key, sample] of waiting) if ((await deliver(sample))[0] === 'accepted') waiting.delete(key);
    return waiting.size === 0;
  }, 'the deliveries');
  const found = new Set(idsOf(await records()));
  for (const { seq, partitionKey } of all) assert.ok(found.has(sampleDelivery({ seq: seq + 10, partitionKey }).id));
});

test('an unreachable advertised address is reported, with the wrong setting', { skip: withoutKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  const proxy = await KafkaProxy.start(t, kafka.brokers, { advertised: '127.0.0.1:1' });
  const { deliver, adapter } = createSink(t, { options: { brokers: [...proxy.brokers], topic } });
  const expected = new RegExp(
    `${proxy.brokers[0]} answered and named 127\\.0\\.0\\.1:1 for a partition of the topic \\(advertised\\.listeners\\).*ECONNREFUSED.*set advertised`,
  );
  const failure = failed((await deliver({ seq: 1 }))[0]);
  assert.deepEqual([failure.code, failure.disposition, failure.scope], ['BRIDGE_KAFKA_ADVERTISED', 'retry', 'sink']);
  assert.match(failure.message, expected);
  await assert.rejects(adapter.check(new AbortController().signal), {
    code: 'BRIDGE_KAFKA_ADVERTISED',
    message: expected,
  });
});
