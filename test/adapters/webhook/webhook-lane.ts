// A receiver, a webhook sink, its lane on virtual time → what an answer leads to, from both ends.
import type { TestContext } from 'node:test';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { INFO, type LogLine } from '../../virtual/lane-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { type AdapterLane, type AdapterLaneOptions, adapterLane } from '../adapter-lane.ts';
import { createWebhook } from './start-webhook.ts';

export interface WebhookLaneOptions extends Pick<AdapterLaneOptions, 'maxAgeMs'> {
  /** Of the sink. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** When the virtual time begins. */
  readonly startMs?: number;
}

export interface WebhookLane extends AdapterLane {
  readonly receiver: WebhookReceiver;
  readonly time: VirtualTime;
  /** What an operator sees at level info. */
  readonly told: () => readonly LogLine[];
}

/** Every back-off waits as long as it may. */
export async function webhookLane(
  t: TestContext,
  { options, startMs, ...more }: WebhookLaneOptions = {},
): Promise<WebhookLane> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const time = new VirtualTime(startMs === undefined ? {} : { startMs });
  const { adapter, deps } = createWebhook(t, { options: { url: receiver.url, ...options }, time });
  return {
    ...adapterLane({ adapter, deps, time, ...more, atEnd: (close) => t.after(close) }),
    receiver,
    time,
    told: () => linesOf(deps.logged()).filter(({ level }) => level >= INFO),
  };
}

function linesOf(text: string): LogLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
}
