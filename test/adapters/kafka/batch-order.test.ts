// A batch of which one partition fails, one loses its answer and one goes well → each key in order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KafkaProxy } from '../../far-sides/kafka/kafka-proxy.ts';
import { readTopic } from '../../far-sides/kafka/records.ts';
import { sharedKafka, withoutKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { API } from '../../far-sides/kafka/wire.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterLane } from '../adapter-lane.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createSink, idsOf } from './start-kafka.ts';

const NOT_LEADER = 6;
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
const EACH = 4;

for (const idempotent of [false, true]) {
  test(`one batch, three fates: no key is reordered, and nothing that was answered comes twice (idempotent: ${idempotent})`, {
    skip: withoutKafka,
  }, async (t) => {
    const kafka = await sharedKafka(t);
    const topic = await kafka.createTopic({ partitions: 3 });
    const proxy = await KafkaProxy.start(t, kafka.brokers);
    const time = new VirtualTime();
    const { adapter, deps } = createSink(t, {
      options: { brokers: [...proxy.brokers], topic, idempotent, timeout: '10s' },
      time,
    });
    const { lane, queue, store } = adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) });
    const asked = new Map<number, number>();
    // The leader of partition 0 moves, twice; partition 1 has the records, and its answer is lost; partition 2 is well.
    proxy.rule = ({ api, partitions: [produced] }) => {
      if (api !== API.produce || produced === undefined) return undefined;
      const { partition } = produced;
      asked.set(partition, (asked.get(partition) ?? 0) + 1);
      if (partition === 0 && (asked.get(0) ?? 0) <= 2) return { error: NOT_LEADER };
      return partition === 1 && asked.get(1) === 1 ? 'swallow' : undefined;
    };
    const sent = Array.from({ length: EACH }, (_, seq) =>
      KEYS.map((partitionKey) => queue({ seq: seq + 1, partitionKey })),
    ).flat();
    const isDone = async () => {
      // A turn of real time for the broker, a few milliseconds of virtual time.
      await time.advance(10);
      return store.open.length === 0;
    };
    await poll(isDone, () => `${store.open.length} to be accepted: ${lane.status().reason}`);
    const records = await readTopic(kafka.brokers, topic);
    assert.deepEqual(new Set(records.map(({ partition }) => partition)), new Set([0, 1, 2]), 'each fate has keys');
    assert.deepEqual(new Set(idsOf(records)), new Set(sent));
    for (const key of KEYS) {
      const expected = Array.from({ length: EACH }, (_, seq) => sampleDelivery({ seq: seq + 1, partitionKey: key }).id);
      const own = records.filter((record) => record.key === key);
      const ids = idsOf(own);
      // A lost answer brings the key's records again as a whole, behind themselves.
      const isRepeated = own[0]?.partition === 1;
      assert.deepEqual(
        ids,
        isRepeated ? [...expected, ...expected] : expected,
        `key ${key} on partition ${own[0]?.partition}`,
      );
    }
    assert.ok((asked.get(0) ?? 0) >= 3, 'what failed was tried again');
  });
}
