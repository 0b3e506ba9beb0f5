// A Kafka sink and its lane on virtual time → what a broker's answers lead to, at the lane's end.
import type { TestContext } from 'node:test';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { type AdapterLane, adapterLane } from '../adapter-lane.ts';
import { createSink } from './start-kafka.ts';

/** Every back-off waits as long as it may. @param options of the sink, beside its type */
export function kafkaLane(t: TestContext, options: Readonly<Record<string, unknown>>): AdapterLane {
  const time = new VirtualTime();
  const { adapter, deps } = createSink(t, { options, time });
  return adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) });
}
