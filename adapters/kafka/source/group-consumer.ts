// A client and a group → kafkajs's consumer with our settings, and its cluster object.
import type { Cluster, Consumer, Kafka } from 'kafkajs';
import { groupAssigner } from './group-assigner.ts';

/** The least that brokers allow by default (`group.min.session.timeout.ms`): so long the partitions of a bridge that died stay with it. */
const SESSION_MS = 6_000;
const HEARTBEAT_MS = 2_000;
/** A live member learns of a rebalance within one long poll. */
const REBALANCE_MS = 10_000;
/** kafkajs sends heartbeats between its polls alone, and ends within one. */
const POLL_MS = 2_000;
/** So late a partition that was added to the topic is found. */
const METADATA_MS = 30_000;
const POLL_BYTES = 1024 ** 2;
const PARTITION_BYTES = 256 * 1024;

export interface GroupConsumer {
  readonly consumer: Consumer;
  readonly cluster: Cluster;
}

/** Opens nothing. */
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
    // Rebalances need a few tries of joining; what lasts longer ends the consumer, and the source loop starts another one.
    retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1_000, restartOnFailure: async () => false },
    partitionAssigners: [groupAssigner(AssignerProtocol, (cluster) => clusters.push(cluster))],
  });
  const [cluster] = clusters;
  if (cluster === undefined) throw new TypeError('kafkajs created a consumer without calling its assigner');
  return { consumer, cluster };
}
