// An adapter on virtual time → a lane that delivers to it, for what the far end's answers lead to.
import { Lane } from '../../src/delivery/lane.ts';
import type { LaneStatus } from '../../src/delivery/lane-report.ts';
import type { ManagedAdapter } from '../../src/delivery/managed-adapter.ts';
import { poll } from '../support/poll.ts';
import { MemoryLaneStore } from '../virtual/memory-lane-store.ts';
import type { VirtualTime } from '../virtual/virtual-time.ts';
import type { TestDeps } from './adapter-deps.ts';
import { type Sample, sampleDelivery } from './sample-deliveries.ts';

export interface AdapterLaneOptions {
  readonly adapter: ManagedAdapter;
  /** Those of the adapter. */
  readonly deps: TestDeps;
  /** That of `deps`. */
  readonly time: VirtualTime;
  readonly maxAgeMs?: number;
  /** Is given what closes the lane, to be called before the far end goes. */
  readonly atEnd: (close: () => Promise<void>) => void;
}

export interface AdapterLane {
  readonly lane: Lane;
  readonly store: MemoryLaneStore;
  /** At each change of state or reason. */
  readonly states: readonly LaneStatus[];
  /** Queues a sample and wakes the lane. @returns the CloudEvent's id */
  readonly queue: (sample?: Sample, given?: { readonly bytes?: Uint8Array; readonly id?: string }) => string;
  /** Lets virtual time pass, then waits until every request that began is answered and what became of it is stored. */
  readonly pass: (ms: number) => Promise<void>;
}

/** A started lane over a store in memory. Every back-off waits as long as it may. */
export function adapterLane({ adapter, deps, time, maxAgeMs, atEnd }: AdapterLaneOptions): AdapterLane {
  const { name, logger } = deps;
  const store = new MemoryLaneStore(time.wallMs);
  const states: LaneStatus[] = [];
  const lane = new Lane({
    name,
    adapter,
    store,
    deps: { ...deps, random: () => 1 },
    logger,
    onState: (status) => states.push(status),
    ...(maxAgeMs === undefined ? {} : { retry: { maxAgeMs } }),
  });
  atEnd(() => lane.close());
  lane.start();
  const isIdle = async () => {
    await time.advance(0);
    return lane.status().inFlight === 0;
  };
  return {
    lane,
    store,
    states,
    queue: (sample = {}, given = {}) => {
      const { id, bytes, partitionKey } = sampleDelivery(sample);
      const row = store.queue(name, partitionKey, { id, bytes, ...given });
      lane.wake();
      return row.id;
    },
    pass: async (ms) => {
      await time.advance(ms);
      await poll(isIdle, 'the running deliveries to end');
      await time.advance(0);
    },
  };
}
