// A delivery → its Service Bus message, by rules of the CloudEvents AMQP binding.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busMessageEncoder } from '../../../adapters/service-bus/sink/message-encoder.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createServiceBus, QUEUE } from './start-service-bus.ts';

const NOW = Date.UTC(2026, 0, 1);
type MessageOptions = Parameters<typeof busMessageEncoder>[0];

const DEFAULTS: MessageOptions = { mode: 'binary', sessions: false, attributePrefix: 'underscore' };

function encode(delivery: Delivery, options: Partial<MessageOptions> = {}, wallMs = NOW) {
  return busMessageEncoder({ ...DEFAULTS, ...options }, 'bus', { wallMs: () => wallMs })(delivery);
}

/** A sample with these attributes over its own; null takes one away. */
function deliveryWith(attributes: Readonly<Record<string, unknown>>, given: Partial<Delivery> = {}): Delivery {
  const sample = sampleDelivery();
  return {
    ...sample,
    bytes: Buffer.from(JSON.stringify({ ...JSON.parse(sample.bytes.toString()), ...attributes })),
    ...given,
  };
}

const RICH = {
  severitynumber: 17,
  severitytext: 'ERROR',
  expirytime: '2026-01-01T00:15:00Z',
  correlationid: 'the-event',
  flag: true,
  absent: null,
};

test('on the wire, binary mode is one data section, a content-type symbol, and strings under one prefix, for every type of attribute', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue(QUEUE);
  const { adapter } = createServiceBus(server);
  const delivery = deliveryWith(RICH);
  assert.deepEqual(await adapter.deliver([delivery], new AbortController().signal), ['accepted']);
  const [kept] = queue.messages();
  assert.ok(kept);
  const { properties, applicationProperties, messageAnnotations, body } = kept.message;
  assert.equal(body.kind, 'data');
  assert.deepEqual(kept.data.toString(), JSON.stringify(JSON.parse(delivery.bytes.toString()).data));
  const { data: _, datacontenttype: __, absent: ___, ...attributes } = JSON.parse(delivery.bytes.toString());
  assert.deepEqual(
    applicationProperties,
    Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [
        `cloudEvents_${name}`,
        { type: 'string', value: String(value) },
      ]),
    ),
  );
  assert.deepEqual(properties, {
    'message-id': { type: 'string', value: delivery.id },
    subject: { type: 'string', value: 'io.github.scheduled-events-bridge.updated.v1' },
    'correlation-id': { type: 'string', value: 'the-event' },
    'content-type': { type: 'symbol', value: 'application/json' },
  });
  assert.deepEqual(messageAnnotations, { 'x-opt-partition-key': { type: 'string', value: delivery.partitionKey } });
});

test('on the wire, structured mode is the journal’s bytes in one data section, without application properties', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue(QUEUE);
  const { adapter } = createServiceBus(server, { options: { mode: 'structured' } });
  const delivery = deliveryWith(RICH);
  assert.deepEqual(await adapter.deliver([delivery], new AbortController().signal), ['accepted']);
  const [kept] = queue.messages();
  assert.ok(kept);
  assert.deepEqual(kept.data, delivery.bytes);
  assert.deepEqual(kept.message.applicationProperties, {});
  assert.deepEqual(kept.message.properties['content-type'], {
    type: 'symbol',
    value: 'application/cloudevents+json; charset=utf-8',
  });
  assert.equal(kept.messageId, delivery.id);
  assert.equal(kept.message.properties['subject']?.value, 'io.github.scheduled-events-bridge.updated.v1');
});

test('attributePrefix: colon names every attribute with a colon, and none with an underscore', () => {
  const names = Object.keys(encode(deliveryWith(RICH), { attributePrefix: 'colon' }).applicationProperties ?? {});
  assert.ok(names.includes('cloudEvents:type'));
  assert.ok(names.every((name) => name.startsWith('cloudEvents:')));
});

test('the same delivery gives the same message at every attempt', () => {
  for (const mode of ['binary', 'structured'] as const)
    assert.deepEqual(encode(deliveryWith(RICH), { mode }, NOW), encode(deliveryWith(RICH), { mode }, NOW + 60_000));
});

test('with sessions the key is the session, without them the partition', () => {
  const delivery = sampleDelivery({ partitionKey: 'a-key' });
  const [session, partition] = [encode(delivery, { sessions: true }), encode(delivery)];
  assert.deepEqual([session.sessionId, session.partitionKey], ['a-key', undefined]);
  assert.deepEqual([partition.sessionId, partition.partitionKey], [undefined, 'a-key']);
});

test('an id or key of more than 128 characters is replaced by its hash, and stays unchanged in the CloudEvent', () => {
  const long = 'x'.repeat(129);
  const message = encode(deliveryWith({ id: long }, { id: long, partitionKey: long }), { sessions: true });
  assert.match(String(message.messageId), /^sha256:[0-9a-f]{64}$/);
  assert.equal(message.sessionId, message.messageId);
  assert.equal(message.applicationProperties?.['cloudEvents_id'], long);
  assert.notEqual(encode(deliveryWith({}, { id: `${long}y` })).messageId, message.messageId);
  assert.equal(encode(deliveryWith({}, { id: 'x'.repeat(128) })).messageId, 'x'.repeat(128));
});

test('the time to live is the configured ttl; with untilNotBefore it shrinks at each attempt, to at least a second', () => {
  const expiring = deliveryWith({ expirytime: '2026-01-01T00:15:00Z' });
  assert.equal(encode(expiring).timeToLive, undefined);
  assert.equal(encode(expiring, { ttl: 3_600_000 }).timeToLive, 3_600_000);
  assert.equal(encode(expiring, { ttl: 'untilNotBefore' }).timeToLive, 900_000);
  assert.equal(encode(expiring, { ttl: 'untilNotBefore' }, NOW + 600_000).timeToLive, 300_000);
  // 0 would mean for ever to the SDK.
  assert.equal(encode(expiring, { ttl: 'untilNotBefore' }, NOW + 900_000).timeToLive, 1000);
  assert.equal(
    encode(sampleDelivery(), { ttl: 'untilNotBefore' }).timeToLive,
    undefined,
    'what does not expire lives as the entity says',
  );
  assert.equal(encode(expiring, { ttl: 'untilNotBefore', mode: 'structured' }).timeToLive, 900_000);
});

test('attributes that exceed the property limits are refused in binary mode, and accepted in structured mode', () => {
  const half = 'x'.repeat(30 * 1024);
  for (const attributes of [{ subject: 'x'.repeat(33 * 1024) }, { a: half, b: half, c: half }]) {
    assert.throws(
      () => encode(deliveryWith(attributes)),
      (error) =>
        error instanceof BridgeError && error.code === 'BRIDGE_DELIVERY_UNENCODABLE' && error.disposition === 'refused',
    );
    assert.ok(encode(deliveryWith(attributes), { mode: 'structured' }).body);
  }
});

test('an event that binary mode cannot represent is refused with the reason, without its values', () => {
  for (const [attributes, says] of [
    [{ data: undefined }, /has no data/],
    [{ nested: { hidden: 1 } }, /attribute nested/],
    [{ float: 1.5 }, /attribute float/],
    [{ datacontenttype: 'text/hidden' }, /datacontenttype/],
  ] as const)
    assert.throws(
      () => encode(deliveryWith(attributes)),
      (error: Error) => says.test(error.message) && !error.message.includes('hidden'),
    );
});
