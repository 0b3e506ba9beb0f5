// A client and a group → kafkajs's consumer, its cluster, and the partitions of each member.
import type { Assigner, AssignerProtocol, Cluster, Consumer, GroupMember, Kafka, PartitionAssigner } from 'kafkajs';
import { partitionsOf } from './group-coordinator.ts';

/**
 * The brokers' default minimum (`group.min.session.timeout.ms`). A crashed bridge keeps its partitions for this time.
 */
const SESSION_MS = 6_000;
const HEARTBEAT_MS = 2_000;
/** A running member notices a rebalance within one long poll. */
const REBALANCE_MS = 10_000;
/** kafkajs sends heartbeats only between its polls, and needs up to one poll to stop. */
const POLL_MS = 2_000;
/** A partition that is added to the topic is found within this time. */
const METADATA_MS = 30_000;
const POLL_BYTES = 1024 ** 2;
const PARTITION_BYTES = 256 * 1024;

export interface GroupConsumer {
  readonly consumer: Consumer;
  readonly cluster: Cluster;
}

/** Creates the consumer without connecting. */
export async function groupConsumer(kafka: Kafka, groupId: string): Promise<GroupConsumer> {
  const { AssignerProtocol } = await import('../client/kafkajs.ts');
  await import('./codecs/decompression.ts');
  const clusters: Cluster[] = [];
  const consumer = kafka.consumer({
    groupId,
    sessionTimeout: SESSION_MS,
    heartbeatInterval: HEARTBEAT_MS,
    rebalanceTimeout: REBALANCE_MS,
    maxWaitTimeInMs: POLL_MS,
    maxBytes: POLL_BYTES,
    maxBytesPerPartition: PARTITION_BYTES,
    metadataMaxAge: METADATA_MS,
    allowAutoTopicCreation: false,
    // Rebalances need a few attempts to join. If they fail, the consumer ends, and the source loop starts another one.
    retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1_000, restartOnFailure: async () => false },
    partitionAssigners: [groupAssigner(AssignerProtocol, (cluster) => clusters.push(cluster))],
  });
  const [cluster] = clusters;
  if (cluster === undefined) throw new TypeError('kafkajs created a consumer without calling its assigner');
  return { consumer, cluster };
}

const NAME = 'scheduled-events-bridge';
const VERSION = 1;

/** Returns an assigner. @param seen receives each consumer's cluster, which kafkajs's types hide */
function groupAssigner(protocol: typeof AssignerProtocol, seen: (cluster: Cluster) => void): PartitionAssigner {
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
          const partitions = own.includes(topic)
            ? partitionsOf(cluster, topic)
            : await foreignPartitions(cluster, topic);
          for (const [index, partition] of partitions.toSorted((a, b) => a - b).entries()) {
            const share = shares.get(readers[index % readers.length] ?? '');
            if (share) share[topic] = [...(share[topic] ?? []), partition];
          }
        }
        return [...shares].map(([memberId, assignment]) => ({
          memberId,
          memberAssignment: protocol.MemberAssignment.encode({
            version: VERSION,
            assignment,
            userData: Buffer.alloc(0),
          }),
        }));
      },
    };
  };
}

/** Returns the members by topic, in the order of their ids. */
function readersOf(
  members: readonly GroupMember[],
  protocol: typeof AssignerProtocol,
): ReadonlyMap<string, readonly string[]> {
  const readers = new Map<string, string[]>();
  for (const { memberId, memberMetadata } of members) {
    for (const topic of protocol.MemberMetadata.decode(memberMetadata)?.topics ?? [])
      readers.set(topic, [...(readers.get(topic) ?? []), memberId].sort());
  }
  return readers;
}

/**
 * Returns the partitions of another member's topic, or none if it does not exist. Asked separately, so that a missing
 * topic does not affect the leader's own.
 */
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
