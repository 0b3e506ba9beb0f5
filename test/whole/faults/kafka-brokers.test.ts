// Brokers killed, frozen, relieved of partitions amid deliveries → nothing lost, all in order.
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { Cluster } from '../../far-sides/kafka/cluster.ts';
import { readMetadata, type TopicOptions, type TopicPartition } from '../../far-sides/kafka/requests.ts';
import { withoutOurKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { poll } from '../../support/poll.ts';
import { kafkaAdmin } from './kafka-admin.ts';
import { goThroughPartialOutage } from './kafka-partial-outage.ts';
import { isUncertain, Stream } from './kafka-stream.ts';

const CHANGES = 1000;
const PARTITIONS = 6;
const TOPICS = ['plain', 'idempotent'];
/** Who is dead is known sooner. */
const QUICK = { 'broker.session.timeout.ms': '2000', 'broker.heartbeat.interval.ms': '250' };
const skip = withoutOurKafka;

/** Two sinks that write at once, each to a topic of its own. */
interface Fixture {
  readonly cluster: Cluster;
  readonly streams: readonly { readonly topic: string; readonly stream: Stream }[];
  /**
   * Sends so many changes to each: a third before the trouble, one while it begins, one when it resolves. Resolves once
   * all are accepted.
   */
  readonly during: (changes: number, trouble: () => Promise<void>) => Promise<void>;
  /** Of the first topic, as the first broker that runs sees them. */
  readonly partitions: () => Promise<readonly TopicPartition[]>;
  /** Resolves once every replica of every partition is in sync. */
  readonly inSync: () => Promise<void>;
}

async function started(t: TestContext, cluster: Cluster, config: TopicOptions['config'] = {}): Promise<Fixture> {
  const replicationFactor = cluster.brokers.length;
  const brokers = cluster.addresses();
  const streams: { topic: string; stream: Stream }[] = [];
  for (const topic of TOPICS) {
    await cluster.createTopic(topic, { partitions: PARTITIONS, replicationFactor, config });
    const options = { brokers, topic, idempotent: topic === 'idempotent', timeout: '2s' };
    streams.push({ topic, stream: Stream.start(t, { options }) });
  }
  const read = async () => {
    const running = cluster.brokers.find(({ pid }) => pid);
    assert.ok(running);
    return (await readMetadata(running.address(), TOPICS)).topics;
  };
  return {
    cluster,
    streams,
    during: async (changes, trouble) => {
      const send = () => {
        for (const { stream } of streams) stream.send(Math.ceil(changes / 3));
      };
      const done = () => Promise.all(streams.map(({ stream }) => stream.done()));
      send();
      await done();
      send();
      await trouble();
      send();
      await done();
    },
    partitions: async () => (await read()).get('plain') ?? [],
    inSync: () =>
      poll(
        async () => [...(await read()).values()].flat().every(({ inSync }) => inSync.length === replicationFactor),
        'all replicas to be in sync',
      ),
  };
}

async function assertExplained({ cluster, streams }: Fixture): Promise<void> {
  for (const { topic, stream } of streams) await stream.assertExplained(cluster.addresses(), topic, isUncertain);
}

suite('while 1,000 changes of 20 keys are delivered by each of two sinks', { concurrency: true }, () => {
  test('the only broker is killed and comes back: all arrives, in order', { skip }, async (t) => {
    const fixture = await started(t, await Cluster.start(t));
    const { cluster, streams, during } = fixture;
    await during(CHANGES, async () => {
      await cluster.broker(1).kill();
      await poll(() => streams.every(({ stream }) => stream.failures.length > 0), 'a failure of each');
      await cluster.broker(1).start();
    });
    await assertExplained(fixture);
  });

  test('of three brokers one is frozen, the leader killed, the leader relieved: all arrives, in order', {
    skip,
  }, async (t) => {
    const cluster = await Cluster.start(t, { brokers: 3, properties: QUICK });
    const fixture = await started(t, cluster, { 'min.insync.replicas': '2' });
    const { during, partitions, inSync } = fixture;
    const hasLeft = async (nodeId: number) =>
      (await partitions()).every(({ leader }) => leader !== nodeId && leader > 0);

    // The one that the sinks ask first.
    const frozen = cluster.broker(1);
    assert.equal(await hasLeft(1), false);
    await during(CHANGES / 3, async () => frozen.freeze());
    frozen.thaw();
    await inSync();

    const killed = cluster.broker((await partitions())[0]?.leader ?? 0);
    await during(CHANGES / 3, () => killed.kill());
    await killed.start();

    const relieved = (await partitions())[0]?.leader ?? 0;
    await during(CHANGES / 3, async () => {
      await assign(
        t,
        cluster,
        cluster.brokers.map(({ nodeId }) => nodeId).filter((nodeId) => nodeId !== relieved),
      );
      await poll(() => hasLeft(relieved), 'the leaders to move');
    });
    await assertExplained(fixture);

    await t.test(
      'and while one is away, the partitions that it alone keeps fail, no others, over a new connection too',
      (t) => goThroughPartialOutage(t, cluster),
    );
  });
});

/** Lets these brokers alone hold the replicas of all partitions, whoever did before. */
async function assign(t: TestContext, cluster: Cluster, replicas: number[]): Promise<void> {
  const admin = await kafkaAdmin(
    t,
    cluster.brokers.map((broker) => broker.address()),
  );
  const partitionAssignment = Array.from({ length: PARTITIONS }, (_, partition) => ({ partition, replicas }));
  await admin.alterPartitionReassignments({ topics: TOPICS.map((topic) => ({ topic, partitionAssignment })) });
}
