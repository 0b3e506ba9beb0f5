// Batches through a lane to a real broker → records by the options; too large ones alone are lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { kafkaLane } from './kafka-lane.ts';
import { createSink, idsOf, startSink } from './start-kafka.ts';

const MINUTE_MS = 60_000;
const keyOf = (seq: number) => 'abc'[seq % 3] ?? 'a';
const idOf = (seq: number) => sampleDelivery({ seq, partitionKey: keyOf(seq) }).id;
const isProduced = (ids: readonly string[], key: string) => ids.filter((id) => id.startsWith(`${key}:`));

for (const idempotent of [false, true]) {
  test(`only a record that is too large becomes a dead letter, and the rest of its batch arrives in order (idempotent: ${idempotent})`, {
    skip: withoutKafka,
  }, async (t) => {
    const { proxy, topic, records } = await startSink(t, { topic: { config: { 'max.message.bytes': '8000' } } });
    const { queue, pass, store } = kafkaLane(t, { brokers: [...proxy.brokers], topic, idempotent });
    for (let seq = 0; seq < 8; seq++) queue({ seq, partitionKey: keyOf(seq), padding: seq === 4 ? 9000 : 0 });
    await pass(0);
    assert.deepEqual(
      store.dead.map(({ row, reason, status }) => [row.id, reason, status]),
      [[idOf(4), 'refused', 'MESSAGE_TOO_LARGE']],
    );
    assert.equal(store.open.length, 0);
    const ids = idsOf(await records());
    for (const key of 'abc') {
      const expected = [0, 1, 2, 3, 5, 6, 7].filter((seq) => keyOf(seq) === key).map(idOf);
      assert.deepEqual(isProduced(ids, key), expected);
    }
  });
}

test('records that together exceed the request limit are sent in smaller requests, each once', {
  skip: withoutKafka,
}, async (t) => {
  const { proxy, topic, records } = await startSink(t, { topic: { config: { 'max.message.bytes': '8000' } } });
  const { queue, pass, store } = kafkaLane(t, { brokers: [...proxy.brokers], topic });
  for (let seq = 0; seq < 12; seq++) queue({ seq, partitionKey: keyOf(seq), padding: 3000 });
  await pass(0);
  assert.deepEqual([store.accepted.length, store.dead.length], [12, 0]);
  const ids = idsOf(await records());
  assert.equal(ids.length, 12);
  for (const key of 'abc') {
    const expected = Array.from({ length: 12 }, (_, seq) => seq).filter((seq) => keyOf(seq) === key);
    assert.deepEqual(isProduced(ids, key), expected.map(idOf));
  }
});

test('only an event that cannot be encoded becomes a dead letter, and the others of its batch arrive', {
  skip: withoutKafka,
}, async (t) => {
  const { proxy, topic, records } = await startSink(t);
  const { queue, pass, store } = kafkaLane(t, { brokers: [...proxy.brokers], topic });
  queue({ seq: 0, partitionKey: 'a' });
  queue({ seq: 1, partitionKey: 'b' }, { bytes: Buffer.from('{"specversion":"1.0"}') });
  queue({ seq: 2, partitionKey: 'c' });
  await pass(0);
  assert.deepEqual(
    store.dead.map(({ row, status }) => [row.partitionKey, status]),
    [['b', 'BRIDGE_DELIVERY_UNENCODABLE']],
  );
  assert.equal(store.open.length, 0);
  assert.equal((await records()).length, 2);
});

test('queued events are sent in one request for each partition', { skip: withoutKafka }, async (t) => {
  const { proxy, topic } = await startSink(t, { topic: { partitions: 3 } });
  const { queue, pass, store } = kafkaLane(t, { brokers: [...proxy.brokers], topic });
  for (let seq = 0; seq < 300; seq++) queue({ seq, partitionKey: `key-${seq}` });
  await pass(0);
  assert.equal(store.accepted.length, 300);
  const partitions = proxy.requests.flatMap((request) => request.partitions.map(({ partition }) => partition));
  assert.deepEqual(partitions.toSorted(), [0, 1, 2]);
});

test('keyed: false omits the key, and every record of a partition key stays in one partition', {
  skip: withoutKafka,
}, async (t) => {
  const keyed = await startSink(t, { topic: { partitions: 6 } });
  const keyless = await startSink(t, { topic: { partitions: 6 }, options: { keyed: false } });
  const samples = Array.from({ length: 24 }, (_, seq) => ({ seq, partitionKey: `key-${seq % 8}` }));
  for (const { deliver } of [keyed, keyless]) await deliver(...samples);
  const [withKeys, without] = [await keyed.records(), await keyless.records()];
  assert.deepEqual(
    without.map(({ partition, headers, value }) => [partition, headers, value]),
    withKeys.map(({ partition, headers, value }) => [partition, headers, value]),
  );
  assert.ok(without.every(({ key }) => key === null));
  assert.ok(withKeys.every(({ key, headers }) => key === headers.find(([name]) => name === 'ce_partitionkey')?.[1]));
});

test('compression: gzip makes a request smaller, and a consumer reads the same', { skip: withoutKafka }, async (t) => {
  const [plain, zipped] = [await startSink(t), await startSink(t, { options: { compression: 'gzip' } })];
  const samples = Array.from({ length: 20 }, (_, seq) => ({ seq, padding: 500 }));
  for (const { deliver } of [plain, zipped]) await deliver(...samples);
  const sizeOf = ({ proxy }: typeof plain) =>
    proxy.requests.flatMap(({ partitions }) => partitions).reduce((sum, { bytes }) => sum + bytes, 0);
  assert.ok(sizeOf(zipped) < sizeOf(plain) / 3);
  const read = async ({ records }: typeof plain) =>
    (await records()).map(({ key, value, headers, timestampMs }) => [key, value, headers, timestampMs]);
  assert.deepEqual(await read(zipped), await read(plain));
});

test('with Event Hubs a request that exceeds the limit is refused before it is sent', async (t) => {
  const options = { brokers: ['127.0.0.1:1'], topic: 'hub', preset: 'event-hubs', ssl: false };
  const { adapter, deliver } = createSink(t, { options });
  assert.ok(adapter.limits.batchBytes < 1_046_528 * 0.6);
  const failure = failed((await deliver({ seq: 1, padding: 1_100_000 }))[0]);
  assert.deepEqual(
    [failure.code, failure.disposition, failure.status],
    ['BRIDGE_KAFKA_REFUSED', 'refused', 'MESSAGE_TOO_LARGE'],
  );
});

test('an idle connection is closed after nine minutes, and the next delivery opens another', {
  skip: withoutKafka,
}, async (t) => {
  const time = new VirtualTime();
  const { deliver, proxy } = await startSink(t, { time });
  await deliver({ seq: 1 });
  const { connections } = proxy;
  await time.advance(9 * MINUTE_MS - 1);
  assert.equal(proxy.open, 1);
  await time.advance(2);
  await poll(() => proxy.open === 0, 'the connection to close');
  assert.deepEqual(await deliver({ seq: 2 }), ['accepted']);
  assert.equal(proxy.connections, connections + 1);
});
