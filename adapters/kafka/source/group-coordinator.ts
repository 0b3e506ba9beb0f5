// A cluster and a consumer group → the group's coordinating broker, with its untyped requests.
import type { Broker, Cluster, TopicOffsets } from 'kafkajs';
import { type Deps, sleep } from '../../../src/time/clock.ts';

/** A cluster makes the topic of all positions when the first group asks for its coordinator, and reads it when brokers come and go. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 200;
const NOT_YET = ['GROUP_COORDINATOR_NOT_AVAILABLE', 'GROUP_LOAD_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP'];

/** The requests to a group's coordinator that are used here. */
export interface Coordinator {
  offsetCommit(request: {
    readonly groupId: string;
    readonly memberId: string;
    readonly groupGenerationId: number;
    readonly topics: TopicOffsets[];
  }): Promise<unknown>;
  offsetFetch: Broker['offsetFetch'];
  heartbeat(request: { readonly groupId: string; readonly groupGenerationId: number; readonly memberId: string }): Promise<unknown>;
  leaveGroup(request: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
}

/** Asks again, 10 s at most, while the coordinator of the group is not there yet. */
export async function whenCoordinated<T>(deps: Pick<Deps, 'after' | 'elapsedMs'>, ask: () => Promise<T>): Promise<T> {
  const endMs = deps.elapsedMs() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!NOT_YET.includes(typeOf(error) ?? '') || deps.elapsedMs() > endMs) throw error;
      await sleep(deps, PAUSE_MS);
    }
  }
}

/** @throws whatever kafkajs throws */
export async function coordinatorOf(cluster: Cluster, groupId: string): Promise<Coordinator> {
  return (await cluster.findGroupCoordinator({ groupId })) as unknown as Coordinator;
}

/** So that its partitions go to others at once. @throws whatever kafkajs throws */
export async function leaveGroup(cluster: Cluster, groupId: string, memberId: string): Promise<void> {
  await (await coordinatorOf(cluster, groupId)).leaveGroup({ groupId, memberId });
}

/** The topic's partitions, as the metadata has them that was read last. */
export function partitionsOf(cluster: Cluster, topic: string): number[] {
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
}

/** The name that kafkajs gives to an error of the protocol, which may be the cause of what it throws; undefined for any other. */
export function typeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return 'type' in error && typeof error.type === 'string' ? error.type : typeOf(error.cause);
}
