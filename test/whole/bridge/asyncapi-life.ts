// Sinks → a maintenance with an approval, and whether what arrived fits the bridge's document.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { type AsyncApi, messageFaults, type SentMessage } from '../../support/asyncapi-document.ts';
import { readStream } from '../../support/event-stream.ts';
import { poll } from '../../support/poll.ts';
import { ChannelBridge } from './channel-bridge.ts';

/** The messages that arrived at a channel so far. */
export type Arrived = () => Promise<readonly SentMessage[]> | readonly SentMessage[];

/** Runs a maintenance with an approval, and returns the bridge and its document. */
export async function maintenance(t: TestContext, sinks: object, secrets: Readonly<Record<string, string>> = {}) {
  const azure = await localSimulator(t);
  const bridge = await ChannelBridge.start(t, azure, {}, secrets, sinks);
  const stream = await readStream(t, `${bridge.bridge.url}/v1/stream`);
  const { EventId } = azure.schedule({ EventType: 'Freeze', notice: '1h', startedFor: '500ms' });
  await poll(() => bridge.events.length > 0, 'a scheduled event');
  const body = JSON.stringify({ StartRequests: [{ EventId }] });
  await bridge.ask('POST', '/v1/approvals', 'ops', body, { 'Content-Type': 'application/json' });
  await poll(() => bridge.events.some(({ type }) => type.endsWith('.ended.v1')), 'the end of the event', 20_000);
  const answer = await fetch(`${bridge.bridge.url}/v1/asyncapi.json`);
  return { document: (await answer.json()) as AsyncApi, stream, sent: bridge.events.length };
}

export async function assertFits(
  document: AsyncApi,
  sent: number,
  channels: Readonly<Record<string, Arrived>>,
): Promise<void> {
  const faults = messageFaults(document);
  assert.ok(sent >= 5);
  for (const [channel, arrived] of Object.entries(channels)) {
    const count = async () => (await arrived()).flatMap(({ payload }) => payload).length;
    await poll(async () => (await count()) === sent, `${sent} events at ${channel}`, 20_000);
    for (const message of await arrived()) assert.equal(faults.ofChannel(channel, message), '', channel);
  }
}

export function jsonOf(bytes: Uint8Array | string): unknown {
  return JSON.parse(bytes.toString());
}
