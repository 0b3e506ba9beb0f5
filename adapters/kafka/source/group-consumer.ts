// A client and a group → kafkajs's consumer with our settings, and its cluster object.
import type { Cluster, Consumer, Kafka } from 'kafkajs';
import { groupAssigner } from './group-assigner.ts';

/** The brokers' default minimum (`group.min.session.timeout.ms`). A crashed bridge keeps its partitions for this time. */
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
