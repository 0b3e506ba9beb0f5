// CloudEvents of a drill and of a real event, in each mode → `isDrill`, or a refusal.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ConsumerError } from '../../../src/consumer/consumer-error.ts';
import type { CloudEvent } from '../../../src/consumer/event.ts';
import { readBinary, readStructured, withDrill } from '../../../src/consumer/read-event.ts';
import { readHttp } from '../../../src/consumer/receive/http-event.ts';
import { parseKafkaMessage } from '../../../src/consumer/receive/kafka-message.ts';
import { parseServiceBusMessage } from '../../../src/consumer/receive/service-bus-message.ts';
import { deliveryOf, drillLife, lifeOf } from './deliveries.ts';

const ATTRIBUTES = { specversion: '1.0', id: '1', source: '/s', type: 'com.example.any' };

type Members = Readonly<Record<string, unknown>>;

/** A scheduled event as the bridge makes it: its attributes, and its data. */
function madeBy(change: ReturnType<typeof lifeOf>['scheduled']): { attributes: Members; data: Members } {
  const { data, ...attributes } = JSON.parse(new TextDecoder().decode(deliveryOf(change).bytes)) as { data: Members };
  return { attributes, data };
}

const real = madeBy(lifeOf().scheduled);
const drill = madeBy(drillLife().scheduled);

/** How attributes and data reach the library, by transport and mode. */
const WAYS: Readonly<Record<string, (attributes: Members, data: unknown) => CloudEvent>> = {
  structured: (attributes, data) => readStructured({ ...attributes, data }),
  binary: (attributes, data) =>
    readBinary({
      attributes: texts(attributes),
      contentType: 'application/json',
      data: { bytes: Buffer.from(JSON.stringify(data)) },
    }),
  batch: (attributes, data) => {
    const body = Buffer.from(JSON.stringify([{ ...attributes, data }]));
    const { events } = readHttp([['content-type', 'application/cloudevents-batch+json']], body, { modes: ['batch'] });
    return events[0] ?? assert.fail('the batch is empty');
  },
  'Kafka binary': (attributes, data) =>
    parseKafkaMessage({
      headers: { 'content-type': 'application/json', ...prefixed('ce_', texts(attributes)) },
      value: JSON.stringify(data),
    }),
  'Kafka structured': (attributes, data) =>
    parseKafkaMessage({
      headers: { 'content-type': 'application/cloudevents+json' },
      value: JSON.stringify({ ...attributes, data }),
    }),
  'Service Bus binary': (attributes, data) =>
    parseServiceBusMessage({
      contentType: 'application/json',
      applicationProperties: prefixed('cloudEvents:', attributes),
      body: data,
    }),
  'Service Bus structured': (attributes, data) =>
    parseServiceBusMessage({ contentType: 'application/cloudevents+json', body: { ...attributes, data } }),
};

function texts({ datacontenttype: _, ...attributes }: Members): Members {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)]));
}

function prefixed(prefix: string, { datacontenttype: _, ...attributes }: Members): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`${prefix}${name}`, value as string]));
}

const isRefused = (error: unknown) =>
  error instanceof ConsumerError &&
  error.code === 'not-a-cloudevent' &&
  /its attribute drill and its data/.test(error.message);

for (const [way, read] of Object.entries(WAYS)) {
  test(`${way}: isDrill is true for a drill by its data, and false for a real event`, () => {
    assert.equal(read(drill.attributes, drill.data).isDrill, true);
    assert.equal(read(real.attributes, real.data).isDrill, false);
    assert.equal(read({ ...real.attributes, drill: 'false' }, real.data).isDrill, false);
  });

  test(`${way}: a real event with the attribute of a drill is refused, and so is a drill without it`, () => {
    for (const value of [true, 'true'])
      assert.throws(() => read({ ...real.attributes, drill: value }, real.data), isRefused);
    const { drill: _, ...bare } = drill.attributes;
    assert.throws(() => read(bare, drill.data), isRefused);
    assert.throws(() => read({ ...drill.attributes, drill: 'false' }, drill.data), isRefused);
  });

  test(`${way}: isDrill of another type depends on its data, whatever the attribute means there`, () => {
    const other = { ...ATTRIBUTES, datacontenttype: 'application/json' };
    assert.equal(read({ ...other, drill: true }, {}).isDrill, false);
    assert.equal(read(other, { drill: true }).isDrill, true);
    assert.equal(read(other, 'a text').isDrill, false);
  });
}

test('in binary mode the attribute drill becomes a boolean', () => {
  const binary = readBinary({ attributes: { ...ATTRIBUTES, drill: 'true' }, contentType: undefined, data: undefined });
  assert.deepEqual([binary.isDrill, binary.drill], [false, true]);
});

test('an attribute that is already a boolean, as in AMQP, does not change', () => {
  for (const drill of [true, false]) {
    const event = readBinary({ attributes: { ...ATTRIBUTES, drill }, contentType: undefined, data: undefined });
    assert.deepEqual([event.drill, event.isDrill], [drill, false]);
  }
});

test('isDrill of an event made by hand depends on its data, and a given isDrill does not change', () => {
  const event = { ...ATTRIBUTES, specversion: '1.0', data: {} } as const;
  assert.equal(withDrill({ ...event, data: { drill: true } } satisfies CloudEvent).isDrill, true);
  assert.equal(withDrill({ ...event, drill: true } satisfies CloudEvent).isDrill, false);
  assert.equal(withDrill({ ...event, isDrill: true } satisfies CloudEvent).isDrill, true);
});

test('isDrill is not a member of the CloudEvent', () => {
  assert.equal(
    JSON.stringify(readStructured({ ...ATTRIBUTES, data: {} })),
    JSON.stringify({ ...ATTRIBUTES, data: {} }),
  );
});
