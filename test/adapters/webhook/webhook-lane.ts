// A receiver on loopback, a webhook sink and its lane on virtual time → what an answer leads to, seen from both ends.
import type { TestContext } from 'node:test';
import { Lane } from '../../../src/delivery/lane.ts';
import type { LaneStatus } from '../../../src/delivery/lane-report.ts';
import { INFO, type LogLine } from '../../support/lane-fixture.ts';
import { MemoryLaneStore } from '../../support/memory-lane-store.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../support/virtual-time.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';
import { type Sample, sampleDelivery } from '../sample-deliveries.ts';
import { createWebhook } from './start-webhook.ts';

const SINK = 'under-test';

export interface WebhookLaneOptions {
  /** Of the sink. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly maxAgeMs?: number;
  /** When the virtual time begins. */
  readonly startMs?: number;
}

export interface WebhookLane {
  readonly receiver: WebhookReceiver;
  readonly time: VirtualTime;
  readonly store: MemoryLaneStore;
  readonly lane: Lane;
  /** At each change of state or reason. */
  readonly states: readonly LaneStatus[];
  /** What an operator sees at level info. */
  readonly told: () => readonly LogLine[];
  /** Queues a sample and wakes the lane. */
  readonly queue: (sample?: Sample, given?: { readonly bytes?: Uint8Array; readonly id?: string }) => void;
  /** Lets virtual time pass, then waits until every request that began is answered and what became of it is stored. */
  readonly pass: (ms: number) => Promise<void>;
}

/** Every back-off waits as long as it may. */
export async function webhookLane(t: TestContext, { options, maxAgeMs, startMs }: WebhookLaneOptions = {}): Promise<WebhookLane> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const time = new VirtualTime(startMs === undefined ? {} : { startMs });
  const { adapter, deps } = createWebhook(t, { options: { url: receiver.url, ...options }, time });
  const store = new MemoryLaneStore(time.wallMs);
  const states: LaneStatus[] = [];
  const lane = new Lane({
    name: SINK,
    adapter,
    store,
    deps: { ...deps, random: () => 1 },
    logger: deps.logger,
    onState: (status) => states.push(status),
    ...(maxAgeMs === undefined ? {} : { retry: { maxAgeMs } }),
  });
  t.after(() => lane.close());
  lane.start();
  const isIdle = async () => {
    await time.advance(0);
    return lane.status().inFlight === 0;
  };
  return {
    receiver,
    time,
    store,
    lane,
    states,
    told: () => linesOf(deps.logged()).filter(({ level }) => level >= INFO),
    queue: (sample = {}, given = {}) => {
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

function linesOf(text: string): LogLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
}
