// A receiver of log records → the records that arrive, and the outcome of each answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { answering, readRequest, successInProtobuf } from '../../far-sides/otlp/log-receiver.ts';
import { scheduledEvent } from '../../support/events.ts';
import { eventChange } from '../../unit/cloudevents/changes.ts';
import { failed } from '../contract.ts';
import { allDeliveries, deliveryOf, describing } from './deliveries.ts';
import { createOtlp, startOtlp } from './start-otlp.ts';

const never = new AbortController().signal;
const PROTOBUF = 'application/x-protobuf';

for (const encoding of ['protobuf', 'json'])
  for (const compression of ['gzip', 'none'])
    test(`in ${encoding} with compression ${compression}, the receiver reads every type of CloudEvent, and a repeat has the same bytes`, async (t) => {
      const { adapter, receiver } = await startOtlp(t, { options: { encoding, compression } });
      const batch = allDeliveries();
      for (const _ of [1, 2])
        assert.ok((await adapter.deliver(batch, never)).every((outcome) => outcome === 'accepted'));
      const [first, second] = receiver.http.requests;
      assert.ok(first && second);
      assert.deepEqual(first.body, second.body);
      assert.equal(receiver.records.length, 2 * batch.length);
      assert.equal(first.headers['content-type'], encoding === 'json' ? 'application/json' : PROTOBUF);
      assert.equal(first.headers['content-encoding'], compression === 'gzip' ? 'gzip' : undefined);
    });

test('a record has its event, its VM and its trace', async (t) => {
  const { adapter, receiver } = await startOtlp(t);
  await adapter.deliver([deliveryOf(eventChange({ event: scheduledEvent({ description: 'Host "swap"' }) }))], never);
  const [{ resource, scope, record, attributes } = assert.fail('nothing arrived')] = receiver.records;
  assert.deepEqual([resource['host.name'], resource['service.name']], ['WestNO_0', 'scheduled-events-bridge']);
  assert.deepEqual(scope, { name: 'scheduled-events-bridge' });
  assert.equal(record['eventName'], 'io.github.scheduled-events-bridge.scheduled.v1');
  assert.equal(record['timeUnixNano'], record['observedTimeUnixNano']);
  assert.equal(record['traceId'], 'c7061bacafdc4513b24baa5f13a16123');
  assert.equal(attributes['cloudevents.event_id'], 'c7061bac-afdc-4513-b24b-aa5f13a16123:scheduled');
  assert.equal(attributes['scheduled_events.description'], 'Host "swap"');
});

for (const [path, arrivesAt] of [
  ['', '/v1/logs'],
  ['/', '/v1/logs'],
  ['?key=1', '/v1/logs?key=1'],
  ['/v1/logs', '/v1/logs'],
  ['/otlp/v1/logs', '/otlp/v1/logs'],
  ['/custom/', '/custom/'],
] as const)
  test(`a url that ends in "${path}" means ${arrivesAt}`, async (t) => {
    const { receiver } = await startOtlp(t);
    const { adapter } = createOtlp(t, { url: `${new URL(receiver.url).origin}${path}` });
    assert.deepEqual(await adapter.deliver([describing('x')], never), ['accepted']);
    assert.equal(receiver.http.requests[0]?.path, arrivesAt);
  });

test('the message of a successful answer is logged as a warning, once', async (t) => {
  const { deliver, receiver, deps } = await startOtlp(t);
  receiver.message = 'attribute names with dots are deprecated';
  for (const _ of [1, 2]) assert.deepEqual(await deliver(), ['accepted']);
  const lines = deps.logged().match(/.*deprecated.*/g) ?? [];
  assert.equal(lines.length, 1);
  assert.equal(JSON.parse(lines[0] ?? '').level, 40);
  receiver.message = 'another one';
  await deliver();
  assert.match(deps.logged(), /another one/);
});

test('the message in the Status of a failure is logged', async (t) => {
  const { deliver, receiver, deps } = await startOtlp(t);
  const status = Buffer.from([8, 3, 0x12, 5, ...Buffer.from('quota')]);
  receiver.http.next(
    answering(400, PROTOBUF, status),
    answering(503, 'application/json', '{"code":14,"message":"draining"}'),
  );
  assert.equal(failed((await deliver())[0]).code, 'BRIDGE_SINK_REFUSED');
  assert.equal(failed((await deliver())[0]).code, 'BRIDGE_SINK_UNAVAILABLE');
  assert.match(deps.logged(), /quota/);
  assert.match(deps.logged(), /draining/);
});

for (const [what, status, body, code] of [
  ['a word', 200, 'OK', 'BRIDGE_SINK_ANSWER'],
  ['JSON that breaks off', 200, '{"partialSuccess":{"rejec', 'BRIDGE_SINK_ANSWER'],
  ['more than 68 KiB', 200, ' '.repeat(69 * 1024), 'BRIDGE_SINK_ANSWER'],
  ['JSON of many values', 200, `{"a":[${'{},'.repeat(2000)}0]}`, 'BRIDGE_SINK_ANSWER'],
] as const)
  test(`${what} instead of an answer is ${code}`, async (t) => {
    const { deliver, receiver } = await startOtlp(t);
    receiver.http.default = answering(status, 'text/plain', body);
    assert.equal(failed((await deliver())[0]).code, code);
  });

test('an empty body, no content and an empty object are a full success', async (t) => {
  const { deliver, receiver } = await startOtlp(t);
  receiver.http.next(answering(200, PROTOBUF, ''), { status: 204 }, answering(202, 'application/json', '{}'));
  for (const _ of [1, 2, 3]) assert.deepEqual(await deliver(), ['accepted']);
});

test('a check posts a request without records: it finds a wrong path, key or encoding, and no record arrives', async (t) => {
  for (const [status, code] of [
    [401, 'BRIDGE_SINK_MISCONFIGURED'],
    [404, 'BRIDGE_SINK_MISCONFIGURED'],
    [415, 'BRIDGE_SINK_REFUSED'],
    [503, 'BRIDGE_SINK_UNAVAILABLE'],
  ] as const) {
    const { adapter, receiver } = await startOtlp(t);
    receiver.http.default = { status };
    await assert.rejects(adapter.check(never), { code });
  }
  const { adapter, receiver } = await startOtlp(t);
  assert.equal(await adapter.check(never), null);
  assert.deepEqual(readRequest(receiver.http.requests[0] ?? assert.fail('nothing was posted')), {});
  receiver.http.default = { status: 422 };
  assert.match((await adapter.check(never)) ?? '', /answered 422 to a request without log records/);
  assert.deepEqual(receiver.records, []);
});

test('bodies stay within maxBatchBytes for all types of CloudEvents', async (t) => {
  const batch = allDeliveries().filter(({ bytes }) => bytes.length < 4096);
  for (const encoding of ['protobuf', 'json']) {
    const { adapter, receiver } = await startOtlp(t, {
      options: { encoding, compression: 'none', maxBatchBytes: '64KiB' },
    });
    const full = fill(batch, adapter.limits.batchBytes);
    await adapter.deliver(full, never);
    const length = receiver.http.requests[0]?.body.length ?? 0;
    assert.ok(length <= 64 * 1024, `${length} bytes`);
  }
});

/** Fills a batch as a lane does. */
function fill(deliveries: readonly Delivery[], maxBytes: number): readonly Delivery[] {
  const full: Delivery[] = [];
  for (let bytes = 0, index = 0; ; index++) {
    const delivery = deliveries[index % deliveries.length] ?? assert.fail('no deliveries');
    bytes += delivery.bytes.length;
    if (bytes > maxBytes) return full;
    full.push(delivery);
  }
}

test('the partial success in these tests has the published encoding', () => {
  assert.equal(successInProtobuf(2, 'no').toString('hex'), '0a06080212026e6f');
});
