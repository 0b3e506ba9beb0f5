// A consumer group and a topic → its start position, committed before it reads anything.
import type { Cluster, TopicOffsets } from 'kafkajs';
import { type Coordinator, partitionsOf, typeOf } from './group-coordinator.ts';

/** What the broker says of a partition that the group never committed. */
const NONE = '-1';

/** Who reads what. */
export interface ConsumerGroup {
  readonly groupId: string;
  readonly topic: string;
  /** The source's name in the configuration. */
  readonly source: string;
}

/** Ends of partitions, by partition. */
export type Ends = ReadonlyMap<number, string>;

/**
 * Gives a group without any position in the topic the end of each partition. The ends are listed before the positions are looked up, so that
 * of several bridges that start one group together none can commit behind a message that was sent after the first commit: whoever finds no
 * position listed its ends before there was one. A group that has positions keeps them; partitions without one were added later, and
 * the group's members read those from their beginning.
 * @returns what was committed; null where there were positions. @throws whatever kafkajs throws
 */
export async function startGroup(
  cluster: Cluster,
  coordinator: Coordinator,
  group: ConsumerGroup,
  commit: (ends: TopicOffsets) => Promise<unknown>,
): Promise<Ends | null> {
  const { topic } = group;
  const partitions = partitionsOf(cluster, topic).map((partition) => ({ partition }));
  const [ends = { topic, partitions: [] }] = await cluster.fetchTopicsOffset([{ topic, partitions, fromBeginning: false }]);
  if (await hasPositions(cluster, coordinator, group)) return null;
  await commit(ends);
  return new Map(ends.partitions.map(({ partition, offset }) => [partition, offset]));
}

/** `startGroup` by somebody who is in no group. @returns `inhabited` where somebody is in this one, so that only its members can commit */
export async function startGroupFromOutside(
  cluster: Cluster,
  coordinator: Coordinator,
  group: ConsumerGroup,
): Promise<Ends | null | 'inhabited'> {
  const { groupId } = group;
  try {
    return await startGroup(cluster, coordinator, group, (ends) =>
      // Without a member's id: the broker accepts that only for a group without members.
      coordinator.offsetCommit({ groupId, memberId: '', groupGenerationId: -1, topics: [ends] }),
    );
  } catch (error) {
    if (!['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION'].includes(typeOf(error) ?? '')) throw error;
    // Another bridge of this group commits before it joins; another source of this bridge reads another topic.
    return (await hasPositions(cluster, coordinator, group)) ? null : 'inhabited';
  }
}

/** Whether the group ever committed a position in the topic. Moves none. */
export async function hasPositions(cluster: Cluster, coordinator: Coordinator, { groupId, topic }: ConsumerGroup): Promise<boolean> {
  const partitions = partitionsOf(cluster, topic).map((partition) => ({ partition, offset: NONE }));
  const { responses } = await coordinator.offsetFetch({ groupId, topics: [{ topic, partitions }] });
  return responses.some(({ partitions }) => partitions.some(({ offset }) => offset !== NONE));
}
