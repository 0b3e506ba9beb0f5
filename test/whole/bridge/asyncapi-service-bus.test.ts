// A maintenance over webhooks, Service Bus and the stream → messages that fit the document.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { hook } from '../../support/running-bridge.ts';
import { type Arrived, assertFits, jsonOf, maintenance } from './asyncapi-life.ts';

test('what arrives at webhooks, a queue and a reader of the stream fits the document that the bridge serves', async (t) => {
  const server = await serviceBusServer(t);
  const queues = { binary: server.queue('binary'), structured: server.queue('structured') };
  const bus = { type: 'service-bus', connectionString: { env: 'BUS' } };
  const receivers = {
    structured: await WebhookReceiver.start(),
    binary: await WebhookReceiver.start(),
    batch: await WebhookReceiver.start(),
  };
  for (const receiver of Object.values(receivers)) t.after(() => receiver.stop());
  const HOOK = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const hooks = Object.entries(receivers).map(
    ([mode, { url }]) => [mode, hook(url, { mode, secrets: [{ env: 'HOOK' }] })] as const,
  );
  const sinks = {
    ...Object.fromEntries(hooks),
    'binary-queue': { ...bus, queue: 'binary' },
    'structured-queue': { ...bus, queue: 'structured', mode: 'structured' },
  };
  const { document, stream, sent } = await maintenance(t, sinks, { BUS: server.connectionString, HOOK });
  const posted =
    (mode: keyof typeof receivers): Arrived =>
    () =>
      receivers[mode].requests.map(({ headers, body }) => ({ headers, payload: jsonOf(body) }));
  const kept =
    (mode: keyof typeof queues): Arrived =>
    () =>
      queues[mode].messages().map(({ message, data }) => {
        const properties = Object.entries(message.applicationProperties).map(([name, { value }]) => [name, value]);
        return { headers: Object.fromEntries(properties) as object, payload: jsonOf(data) };
      });
  await assertFits(document, sent, {
    ...{ structured: posted('structured'), binary: posted('binary'), batch: posted('batch') },
    ...{ 'binary-queue': kept('binary'), 'structured-queue': kept('structured') },
    'v1.stream': () => stream.events.map(({ data }) => ({ payload: jsonOf(data) })),
  });
  assert.ok(!JSON.stringify(document).includes(HOOK));
});
