// Members of a consumer group with their topics → the partitions of each member.
// Sources of one bridge share a group and read different topics; kafkajs's own assigner gives each member all topics that the leader reads.
import type { Assigner, AssignerProtocol, Cluster, GroupMember, PartitionAssigner } from 'kafkajs';
import { partitionsOf } from './group-coordinator.ts';

const NAME = 'scheduled-events-bridge';
const VERSION = 1;

/** Returns an assigner. @param seen receives each consumer's cluster, which kafkajs's types hide */
export function groupAssigner(protocol: typeof AssignerProtocol, seen: (cluster: Cluster) => void): PartitionAssigner {
  return ({ cluster }): Assigner => {
    seen(cluster);
    return {
      name: NAME,
      version: VERSION,
      protocol: ({ topics }) => ({
        name: NAME,
        metadata: protocol.MemberMetadata.encode({ version: VERSION, topics, userData: Buffer.alloc(0) }),
      }),
      async assign({ members, topics: own }) {
        const shares = new Map(members.map(({ memberId }) => [memberId, {} as Record<string, number[]>]));
        for (const [topic, readers] of readersOf(members, protocol)) {
          const partitions = own.includes(topic) ? partitionsOf(cluster, topic) : await foreignPartitions(cluster, topic);
          for (const [index, partition] of partitions.toSorted((a, b) => a - b).entries()) {
            const share = shares.get(readers[index % readers.length] ?? '');
            if (share) share[topic] = [...(share[topic] ?? []), partition];
          }
        }
        return [...shares].map(([memberId, assignment]) => ({
          memberId,
          memberAssignment: protocol.MemberAssignment.encode({ version: VERSION, assignment, userData: Buffer.alloc(0) }),
        }));
      },
    };
  };
}

/** Returns the members by topic, in the order of their ids. */
function readersOf(members: readonly GroupMember[], protocol: typeof AssignerProtocol): ReadonlyMap<string, readonly string[]> {
  const readers = new Map<string, string[]>();
  for (const { memberId, memberMetadata } of members) {
    for (const topic of protocol.MemberMetadata.decode(memberMetadata)?.topics ?? [])
      readers.set(topic, [...(readers.get(topic) ?? []), memberId].sort());
  }
  return readers;
}

/** Returns the partitions of another member's topic, or none if it does not exist. Asked separately, so that a missing topic does not affect the leader's own. */
async function foreignPartitions(cluster: Cluster, topic: string): Promise<number[]> {
  try {
    const [nodeId] = cluster.getNodeIds();
    const broker = await cluster.findBroker({ nodeId: String(nodeId) });
    const { topicMetadata } = await broker.metadata([topic]);
    return topicMetadata.flatMap(({ partitionMetadata }) => partitionMetadata.map(({ partitionId }) => partitionId));
  } catch {
    return [];
  }
}
