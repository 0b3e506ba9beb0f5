// A client, group and topic → a check that the group could read the topic, without joining it.
import type { Cluster, Kafka } from 'kafkajs';
import type { Deps } from '../../../src/time/clock.ts';
import { groupConsumer } from './group-consumer.ts';
import { coordinatorOf, partitionsOf, retryUntilCoordinated, typeOf } from './group-coordinator.ts';
import { type ConsumerGroup, hasPositions } from './group-start.ts';

/** Answers of a group to a heartbeat of a client that may join and is not a member. */
const NOT_A_MEMBER = ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS'];

interface CheckDeps extends Pick<Deps, 'after' | 'elapsedMs'> {
  /** Called when a broker accepts this client. */
  readonly connected: () => void;
}

/**
 * Connects, authenticates, finds the topic, and checks the rights for reading. It sends an empty fetch request to each
 * leader, and a heartbeat of an unknown member to the group's coordinator. Receives nothing, joins nothing, moves no
 * offset.
 * @returns a remark if the group is new, otherwise null. @throws what kafkajs throws
 */
export async function checkKafkaSource(kafka: Kafka, group: ConsumerGroup, deps: CheckDeps): Promise<string | null> {
  const { groupId, topic } = group;
  const { consumer, cluster } = await groupConsumer(kafka, groupId);
  try {
    await consumer.connect();
    deps.connected();
    await consumer.subscribe({ topic });
    const isKnown = await retryUntilCoordinated(deps, () => checkGroup(cluster, group));
    const [ends] = await cluster.fetchTopicsOffset([
      { topic, partitions: partitionsOf(cluster, topic).map((partition) => ({ partition })), fromBeginning: false },
    ]);
    const offsets = new Map(ends?.partitions.map(({ partition, offset }) => [partition, offset]));
    for (const [nodeId, partitions] of Object.entries(cluster.findLeaderForPartitions(topic, [...offsets.keys()]))) {
      const broker = await cluster.findBroker({ nodeId });
      const wanted = partitions.map((partition) => ({
        partition,
        fetchOffset: offsets.get(partition) ?? '0',
        maxBytes: 1,
      }));
      await broker.fetch({ maxWaitTime: 0, minBytes: 0, maxBytes: 1, topics: [{ topic, partitions: wanted }] });
    }
    return isKnown ? null : `the consumer group ${groupId} is new: it will start at the end of topic ${topic}`;
  } finally {
    await consumer.disconnect().catch(() => {});
  }
}

/** Returns whether the group has offsets. @throws what kafkajs throws, if this user may not join the group */
async function checkGroup(cluster: Cluster, group: ConsumerGroup): Promise<boolean> {
  const { groupId } = group;
  const coordinator = await coordinatorOf(cluster, groupId);
  await coordinator.heartbeat({ groupId, groupGenerationId: 0, memberId: groupId }).catch((error: unknown) => {
    if (!NOT_A_MEMBER.includes(typeOf(error) ?? '')) throw error;
  });
  return await hasPositions(cluster, coordinator, group);
}
