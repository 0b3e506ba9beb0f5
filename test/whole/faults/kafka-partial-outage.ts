// Three brokers, one of which goes away → its own partitions wait for it, all others go on.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { inspect } from 'node:util';
import { BridgeError } from '../../../src/errors.ts';
import { createSink, idsOf } from '../../adapters/kafka/start-kafka.ts';
import { sampleDelivery } from '../../adapters/sample-deliveries.ts';
import type { Cluster } from '../../far-sides/kafka/cluster.ts';
import { readTopic } from '../../far-sides/kafka/records.ts';
import { readMetadata } from '../../far-sides/kafka/requests.ts';
import { poll } from '../../support/poll.ts';

const TOPIC = 'single';
const KEYS = Array.from({ length: 12 }, (_, index) => `key-${index}`);

/** Of a cluster of three that all run, as they do again behind it. */
export async function goThroughPartialOutage(t: TestContext, cluster: Cluster): Promise<void> {
  await cluster.createTopic(TOPIC, { partitions: 3 });
  const options = { brokers: [...cluster.addresses()], topic: TOPIC, timeout: '5s' };
  const samples = (seq: number) => KEYS.map((partitionKey) => ({ seq, partitionKey }));
  const [first = ''] = cluster.addresses();
  const leaders = (await readMetadata(first, [TOPIC])).topics.get(TOPIC) ?? [];
  // One of those that do not decide for the cluster.
  const { controllerId } = await readMetadata(first);
  const away = leaders.map(({ leader }) => leader).find((leader) => leader !== controllerId) ?? 0;
  const [alive = ''] = cluster.addresses().filter((_, index) => index !== away - 1);
  // Of the broker that goes away it hears from the cluster alone.
  const known = createSink(t, { options: { ...options, brokers: [alive] } });
  assert.deepEqual(new Set(await known.deliver(...samples(1))), new Set(['accepted']));
  const partitions = new Map(
    (await readTopic(cluster.addresses(), TOPIC)).map(({ key, partition }) => [key, partition]),
  );
  await cluster.broker(away).kill();
  const isAway = (key: string) =>
    leaders.some(({ partition, leader }) => partition === partitions.get(key) && leader === away);
  const [early, fresh] = [createSink(t, { options }), createSink(t, { options })];
  let seq = 1;
  for (const { deliver } of [known, known, early, fresh, known, early]) {
    // From then on the cluster itself says that these partitions have no leader.
    if (deliver === fresh.deliver)
      await poll(
        async () => (await readMetadata(alive, [TOPIC])).topics.get(TOPIC)?.some(({ leader }) => leader < 0) ?? false,
        'the leader to be missed',
        40_000,
      );
    seq += 1;
    await poll(async () => {
      const outcomes = await deliver(...samples(seq));
      if (deliver === known.deliver)
        for (const outcome of outcomes)
          assert.ok(!(outcome instanceof BridgeError) || outcome.scope === 'delivery', inspect(outcome));
      return KEYS.every((key, index) => (outcomes[index] === 'accepted') === !isAway(key));
    }, 'the partitions of the other brokers alone to take records');
  }
  await cluster.broker(away).start();
  await poll(
    async () => (await fresh.deliver(...samples(9))).every((outcome) => outcome === 'accepted'),
    'all partitions to take records',
  );
  const found = new Set(idsOf(await readTopic(cluster.addresses(), TOPIC)));
  for (const key of KEYS) assert.ok(found.has(sampleDelivery({ seq: 9, partitionKey: key }).id));
}
