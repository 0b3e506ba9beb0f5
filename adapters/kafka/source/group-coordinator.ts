// A cluster and a consumer group → the group's coordinating broker, with its untyped requests.
import type { Broker, Cluster, TopicOffsets } from 'kafkajs';
import { type Deps, sleep } from '../../../src/time/clock.ts';

/**
 * Time limit for a coordinator that is not ready: a cluster creates the topic of all offsets at the first request, and
 * loads it after broker changes.
 */
const COORDINATOR_WAIT_MS = 10_000;
const PAUSE_MS = 200;
const NOT_READY = ['GROUP_COORDINATOR_NOT_AVAILABLE', 'GROUP_LOAD_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP'];

/** The requests to a group's coordinator. */
export interface Coordinator {
  offsetCommit(request: {
    readonly groupId: string;
    readonly memberId: string;
    readonly groupGenerationId: number;
    readonly topics: TopicOffsets[];
  }): Promise<unknown>;
  offsetFetch: Broker['offsetFetch'];
  heartbeat(request: {
    readonly groupId: string;
    readonly groupGenerationId: number;
    readonly memberId: string;
  }): Promise<unknown>;
  leaveGroup(request: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
}

/** Repeats `ask` for at most 10 s while the group's coordinator is not ready. */
export async function retryUntilCoordinated<T>(
  deps: Pick<Deps, 'after' | 'elapsedMs'>,
  ask: () => Promise<T>,
): Promise<T> {
  const endMs = deps.elapsedMs() + COORDINATOR_WAIT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!NOT_READY.includes(typeOf(error) ?? '') || deps.elapsedMs() > endMs) throw error;
      await sleep(deps, PAUSE_MS);
    }
  }
}

/** Returns the coordinating broker of a group. @throws what kafkajs throws */
export async function coordinatorOf(cluster: Cluster, groupId: string): Promise<Coordinator> {
  return (await cluster.findGroupCoordinator({ groupId })) as unknown as Coordinator;
}

/** Leaves the group, so that other members get its partitions at once. @throws what kafkajs throws */
export async function leaveGroup(cluster: Cluster, groupId: string, memberId: string): Promise<void> {
  await (await coordinatorOf(cluster, groupId)).leaveGroup({ groupId, memberId });
}

/** Returns the topic's partitions of the last metadata. */
export function partitionsOf(cluster: Cluster, topic: string): number[] {
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
}

/** Returns the name of a protocol error, which may be the cause of kafkajs's error; undefined for other errors. */
export function typeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return 'type' in error && typeof error.type === 'string' ? error.type : typeOf(error.cause);
}
