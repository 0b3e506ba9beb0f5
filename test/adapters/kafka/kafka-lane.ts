// A Kafka sink and its lane on virtual time → what a broker's answers lead to, seen from the lane's end.
import type { TestContext } from 'node:test';
import { Lane } from '../../../src/delivery/lane.ts';
import { MemoryLaneStore } from '../../support/memory-lane-store.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../support/virtual-time.ts';
import { type Sample, sampleDelivery } from '../sample-deliveries.ts';
import { createSink } from './start-kafka.ts';

const SINK = 'under-test';

export interface KafkaLane {
  readonly lane: Lane;
  readonly store: MemoryLaneStore;
  /** Queues a sample and wakes the lane. */
  readonly queue: (sample: Sample, given?: { readonly bytes?: Uint8Array }) => void;
  /** Lets virtual time pass, then waits until every request that began is answered and what became of it is stored. */
  readonly pass: (ms: number) => Promise<void>;
}

/** Every back-off waits as long as it may. @param options of the sink, beside its type */
export function kafkaLane(t: TestContext, options: Readonly<Record<string, unknown>>): KafkaLane {
  const time = new VirtualTime();
  const { adapter, deps } = createSink(t, { options, time });
  const store = new MemoryLaneStore(time.wallMs);
  const lane = new Lane({ name: SINK, adapter, store, deps: { ...deps, random: () => 1 }, logger: deps.logger });
  t.after(() => lane.close());
  lane.start();
  const isIdle = async () => {
    await time.advance(0);
    return lane.status().inFlight === 0;
  };
  return {
    lane,
    store,
    queue: (sample, given = {}) => {
      const { id, bytes, partitionKey } = sampleDelivery(sample);
      store.queue(SINK, partitionKey, { id, bytes, ...given });
      lane.wake();
    },
    pass: async (ms) => {
      await time.advance(ms);
      await poll(isIdle, 'the running deliveries to end');
      await time.advance(0);
    },
  };
}
