// A consumer group and a topic → its first offsets, committed before it reads anything.
import type { Cluster, TopicOffsets } from 'kafkajs';
import { type Coordinator, partitionsOf, typeOf } from './group-coordinator.ts';

/** The broker's value for a partition without a committed offset. */
const NONE = '-1';

export interface ConsumerGroup {
  readonly groupId: string;
  readonly topic: string;
  /** The source's name in the configuration. */
  readonly source: string;
}

/** The end offsets, by partition. */
type Ends = ReadonlyMap<number, string>;

/**
 * Commits the end of each partition for a group without any offset in the topic. It lists the ends before it looks up
 * the offsets. So, if several bridges start one group together, none can commit past a message that was sent after the
 * first commit: a bridge that finds no offset listed its ends before the first commit. A group with offsets keeps them;
 * partitions without one were added later, and the group's members read these from their beginning.
 * @returns the committed offsets, or null if the group had offsets. @throws what kafkajs throws
 */
export async function startGroup(
  cluster: Cluster,
  coordinator: Coordinator,
  group: ConsumerGroup,
  commit: (ends: TopicOffsets) => Promise<unknown>,
): Promise<Ends | null> {
  const { topic } = group;
  const partitions = partitionsOf(cluster, topic).map((partition) => ({ partition }));
  const [ends = { topic, partitions: [] }] = await cluster.fetchTopicsOffset([
    { topic, partitions, fromBeginning: false },
  ]);
  if (await hasPositions(cluster, coordinator, group)) return null;
  await commit(ends);
  return new Map(ends.partitions.map(({ partition, offset }) => [partition, offset]));
}

/**
 * `startGroup` for a client that is not a member.
 * @returns `has-members` if the group has members, so that only they can commit
 */
export async function startGroupFromOutside(
  cluster: Cluster,
  coordinator: Coordinator,
  group: ConsumerGroup,
): Promise<Ends | null | 'has-members'> {
  const { groupId } = group;
  try {
    return await startGroup(cluster, coordinator, group, (ends) =>
      // The broker accepts an empty member id only for a group without members.
      coordinator.offsetCommit({ groupId, memberId: '', groupGenerationId: -1, topics: [ends] }),
    );
  } catch (error) {
    if (!['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION'].includes(typeOf(error) ?? '')) throw error;
    // Another bridge of this group commits before it joins. Another source of this bridge reads another topic.
    return (await hasPositions(cluster, coordinator, group)) ? null : 'has-members';
  }
}

/** Returns whether the group has an offset in the topic. Changes none. */
export async function hasPositions(
  cluster: Cluster,
  coordinator: Coordinator,
  { groupId, topic }: ConsumerGroup,
): Promise<boolean> {
  const partitions = partitionsOf(cluster, topic).map((partition) => ({ partition, offset: NONE }));
  const { responses } = await coordinator.offsetFetch({ groupId, topics: [{ topic, partitions }] });
  return responses.some(({ partitions }) => partitions.some(({ offset }) => offset !== NONE));
}
