// A delivery in each mode of the HTTP binding → what is on the wire, and what cannot be put there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CloudEvent, HTTP } from 'cloudevents';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import type { ReceivedRequest } from '../../far-sides/webhook-receiver.ts';
import { scheduledEvent } from '../../support/events.ts';
import { approvalChange, context, eventChange, sightChange } from '../../unit/cloudevents/changes.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { startWebhook } from './start-webhook.ts';
import { webhookLane } from './webhook-lane.ts';

const never = new AbortController().signal;

/** A delivery of a change that the bridge makes. */
function deliveryOf(change: Parameters<typeof toJournalEntry>[0], source = context.source) {
  const { id, bytes } = toJournalEntry(change, { ...context, source });
  return { ...sampleDelivery(), id, bytes };
}

const ALL = [eventChange(), approvalChange(), sightChange()].map((change) => deliveryOf(change));

/** `ce-` headers and content type, each as often as it came. */
function attributesOf({ rawHeaders }: ReceivedRequest): string[][] {
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? '']] : [],
  );
  return pairs.filter(([name = '']) => name.startsWith('ce-') || name === 'content-type');
}

test('binary: every attribute is a header once, the content type is exactly application/json, the body is the data (H-3, H-4, H-5)', async (t) => {
  const { receiver, adapter } = await startWebhook(t, { options: { mode: 'binary' } });
  for (const delivery of ALL) assert.deepEqual(await adapter.deliver([delivery], never), ['accepted']);
  for (const [index, request] of receiver.requests.entries()) {
    const { data, datacontenttype, ...attributes } = JSON.parse(Buffer.from(ALL[index]?.bytes ?? []).toString());
    assert.equal(request.method, 'POST');
    assert.equal(request.headers['webhook-id'], attributes.id);
    assert.deepEqual(
      attributesOf(request).sort(),
      [
        ['content-type', datacontenttype],
        ...Object.entries(attributes).map(([name, value]) => [`ce-${name}`, String(value)]),
      ].sort(),
    );
    assert.equal(request.body.toString(), JSON.stringify(data));
  }
});

test('binary: the CloudEvents SDK reads the same as in structured mode, for every kind of event (H-2, H-15)', async (t) => {
  for (const mode of ['structured', 'binary', 'batch']) {
    const { receiver, adapter } = await startWebhook(t, { options: { mode } });
    for (const delivery of ALL) await adapter.deliver([delivery], never);
    const read = receiver.requests.map(
      ({ headers, body }) => [HTTP.toEvent({ headers, body: body.toString() })].flat()[0] as CloudEvent,
    );
    for (const [index, event] of read.entries()) {
      assert.ok(event.validate());
      const sent = JSON.parse(Buffer.from(ALL[index]?.bytes ?? []).toString());
      assert.deepEqual(
        JSON.parse(JSON.stringify({ ...event, severitynumber: Number(event['severitynumber']) })),
        sent,
        mode,
      );
    }
  }
});

test('binary: characters that are invalid in a header are percent-encoded on the wire, once (H-6, H-7)', async (t) => {
  const { receiver, adapter } = await startWebhook(t, { options: { mode: 'binary' } });
  const event = scheduledEvent({ eventType: 'Größe "€" 50% 😀' });
  assert.deepEqual(await adapter.deliver([deliveryOf(eventChange({ event }))], never), ['accepted']);
  const [request] = receiver.requests;
  assert.equal(request?.headers['ce-impact'], 'gr%C3%B6%C3%9Fe%20%22%E2%82%AC%22%2050%25%20%F0%9F%98%80');
  assert.equal(JSON.parse(request?.body.toString() ?? '').eventType, event.eventType);
});

test('binary: a redelivery has the same headers and bytes', async (t) => {
  const { receiver, deliver } = await startWebhook(t, { options: { mode: 'binary' } });
  receiver.next({ status: 503 });
  await deliver();
  await deliver();
  const [first, second] = receiver.requests;
  assert.deepEqual(first?.rawHeaders, second?.rawHeaders);
  assert.deepEqual(first?.body, second?.body);
});

test('structured: the content type has charset UTF-8, the body is the whole event, and no attribute is a header (H-10, H-11)', async (t) => {
  const { receiver, deliver } = await startWebhook(t, { options: { mode: 'structured' } });
  await deliver();
  const [request] = receiver.requests;
  assert.ok(request);
  assert.deepEqual(attributesOf(request), [['content-type', 'application/cloudevents+json; charset=utf-8']]);
  assert.deepEqual(request.body, Buffer.from(sampleDelivery().bytes));
});

test('every delivery has a body and a content type, in each mode (W-2)', async (t) => {
  for (const mode of ['structured', 'binary', 'batch']) {
    const { receiver, deliver } = await startWebhook(t, { options: { mode } });
    await deliver();
    assert.ok(receiver.requests[0]?.headers['content-type']);
    assert.ok((receiver.requests[0]?.body.byteLength ?? 0) > 2);
  }
});

test('a request may contain one event in structured and binary mode, and a hundred in a batch', async (t) => {
  const limits = async (options: Readonly<Record<string, unknown>>) =>
    (await startWebhook(t, { options })).adapter.limits;
  assert.equal((await limits({})).batch, 1);
  assert.equal((await limits({ mode: 'binary', maxBatch: 50 })).batch, 1);
  assert.deepEqual(await limits({ mode: 'batch' }), { inFlight: 16, batch: 100, batchBytes: 65_536 - 101 });
  assert.deepEqual(await limits({ mode: 'batch', maxBatch: 1, maxBatchBytes: '4KiB' }), {
    inFlight: 16,
    batch: 1,
    batchBytes: 4_094,
  });
});

/** An event that binary mode cannot hold, and nothing of whose attributes may be told. */
const tooLarge = () => deliveryOf(eventChange(), `/hidden/${'€'.repeat(800)}`);

test('binary: attributes of over 6 KiB of headers are refused without a request, and no value is shown (CE-10)', async (t) => {
  const { receiver, adapter } = await startWebhook(t, { options: { mode: 'binary' } });
  const [outcome] = await adapter.deliver([tooLarge()], never);
  const failure = failed(outcome);
  assert.deepEqual(
    [failure.code, failure.disposition, failure.scope],
    ['BRIDGE_DELIVERY_UNENCODABLE', 'refused', 'delivery'],
  );
  assert.match(
    failure.message,
    /^sink under-test: .*attributes need \d+ bytes of headers.*dead letter.*mode: structured/,
  );
  assert.doesNotMatch(failure.message, /hidden/);
  assert.equal(receiver.connections, 0);
});

test('binary: attributes just below the limit arrive at a server with common limits', async (t) => {
  const { adapter } = await startWebhook(t, { options: { mode: 'binary' } });
  assert.deepEqual(await adapter.deliver([deliveryOf(eventChange(), `/${'x'.repeat(5_000)}`)], never), ['accepted']);
});

test('only an event that cannot be encoded becomes a dead letter, with the reason; the next of its key is delivered', async (t) => {
  const { receiver, queue, pass, store, lane, told } = await webhookLane(t, { options: { mode: 'binary' } });
  queue({ seq: 1 });
  queue({ seq: 2 }, { bytes: tooLarge().bytes });
  queue({ seq: 3 });
  await pass(0);
  assert.equal(receiver.requests.length, 2);
  assert.deepEqual(
    store.dead.map(({ row, reason, status }) => [row.id, reason, status]),
    [[sampleDelivery({ seq: 2 }).id, 'refused', 'BRIDGE_DELIVERY_UNENCODABLE']],
  );
  assert.equal(store.accepted.length, 2);
  assert.equal(lane.status().state, 'delivering');
  assert.match(JSON.stringify(told()), /bytes of headers/);
  assert.doesNotMatch(JSON.stringify(told()), /hidden/);
});
