// Kafka and Service Bus messages, good and bad → the same CloudEvent, or a ConsumerError.
import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeRecord } from '../../../../adapters/kafka/sink/record-encoder.ts';
import { busMessageEncoder } from '../../../../adapters/service-bus/sink/message-encoder.ts';
import { ConsumerError } from '../../../../src/consumer/consumer-error.ts';
import { changeOf, isChange } from '../../../../src/consumer/event.ts';
import { type KafkaMessage, parseKafkaMessage } from '../../../../src/consumer/receive/kafka-message.ts';
import {
  parseServiceBusMessage,
  type ServiceBusMessage,
} from '../../../../src/consumer/receive/service-bus-message.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';
import { deliveryOf, everyChange, lifeOf } from '../deliveries.ts';

const made = everyChange().map(deliveryOf);
const journalled = made.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()));

/** Messages as the broker delivers them: kafkajs has header values as Buffers. */
function fetched(mode: 'binary' | 'structured', buffers: boolean): KafkaMessage[] {
  return made.map((delivery) => {
    const { value, headers } = encodeRecord(delivery, { mode, keyed: true }, 'stream');
    const given = Object.entries(headers).map(([name, text]) => [name, buffers ? Buffer.from(text) : text]);
    return { value, headers: Object.fromEntries(given) };
  });
}

for (const mode of ['binary', 'structured'] as const) {
  for (const buffers of [true, false]) {
    test(`a record of the Kafka adapter in ${mode} mode, headers as ${buffers ? 'Buffers' : 'texts'}, gives the CloudEvent that the bridge made`, () => {
      const events = fetched(mode, buffers).map((message) => parseKafkaMessage(message));
      assert.deepEqual(events, journalled);
    });
  }

  for (const attributePrefix of ['underscore', 'colon'] as const) {
    test(`a message of the Service Bus adapter in ${mode} mode with ${attributePrefix} gives it, too, if the SDK has parsed the body or not`, () => {
      const encode = busMessageEncoder({ mode, sessions: false, attributePrefix }, 'bus', new VirtualTime());
      const messages = made.map(encode);
      assert.deepEqual(
        messages.map((message) => parseServiceBusMessage(message as ServiceBusMessage)),
        journalled,
      );
      const parsed = messages.map(({ body, ...rest }) => ({
        ...rest,
        body: JSON.parse((body as Buffer).toString()) as unknown,
      }));
      assert.deepEqual(
        parsed.map((message) => parseServiceBusMessage(message as ServiceBusMessage)),
        journalled,
      );
    });
  }
}

test("AMQP's own types of attributes are read as texts", () => {
  const message = {
    body: { a: 1 },
    contentType: 'application/json',
    applicationProperties: {
      'cloudEvents:specversion': '1.0',
      'cloudEvents:id': '1',
      'cloudEvents:source': '/s',
      'cloudEvents:type': 't',
      'cloudEvents:time': new Date(0),
      'cloudEvents:flag': true,
      'cloudEvents:severitynumber': 9,
      other: 'ignored',
    },
  };
  const event = parseServiceBusMessage(message);
  assert.deepEqual(
    [event.time, event['flag'], event.severitynumber, event['other']],
    ['1970-01-01T00:00:00.000Z', true, 9, undefined],
  );
});

test('an event without data has none', () => {
  const headers = { ce_specversion: '1.0', ce_id: '1', ce_source: '/s', ce_type: 't' };
  assert.equal(parseKafkaMessage({ value: null, headers }).data, undefined);
});

test('the guard recognizes the change, and types its data', () => {
  const [record] = fetched('structured', true);
  assert.ok(record);
  const event = parseKafkaMessage(record);
  assert.ok(isChange(event, 'scheduled'));
  assert.deepEqual(
    [event.data.eventType, changeOf(event), isChange(event, 'ended'), changeOf(event, 'other')],
    ['Freeze', 'scheduled', false, null],
  );
});

test('with another type prefix the data is checked, too', () => {
  const bytes = Buffer.from(deliveryOf(lifeOf().scheduled).bytes).toString().replace('"eventId"', '"eventID"');
  const message = { value: bytes, headers: { 'content-type': 'application/cloudevents+json' } };
  const renamed = { ...message, value: bytes.replaceAll('io.github.scheduled-events-bridge', 'com.example') };
  assert.throws(() => parseKafkaMessage(message), /must have eventId: string/);
  assert.throws(() => parseKafkaMessage(renamed, { typePrefix: 'com.example' }), /must have eventId: string/);
  assert.equal(parseKafkaMessage(renamed).type, 'com.example.scheduled.v1');
});

const STRUCTURED = { 'content-type': 'application/cloudevents+json' };
const ATTRIBUTES = {
  ce_specversion: '1.0',
  ce_id: '1',
  ce_source: '/s',
  ce_type: 't',
  'content-type': 'application/json',
};

for (const [what, message, code] of [
  ['a tombstone', { value: null }, 'not-a-cloudevent'],
  ['a plain message', { value: '{}', headers: { 'content-type': 'application/json' } }, 'not-a-cloudevent'],
  ['a structured event without a value', { value: null, headers: STRUCTURED }, 'not-a-cloudevent'],
  ['a structured event that is not JSON', { value: 'x', headers: STRUCTURED }, 'not-a-cloudevent'],
  ['a binary event without an id', { value: '{}', headers: { ...ATTRIBUTES, ce_id: undefined } }, 'not-a-cloudevent'],
  [
    'a header that is not UTF-8',
    { value: '{}', headers: { ...ATTRIBUTES, ce_a: Buffer.from([0xff]) } },
    'not-a-cloudevent',
  ],
  ['a batch', { value: '[]', headers: { 'content-type': 'application/cloudevents-batch+json' } }, 'not-a-cloudevent'],
  [
    'another format',
    { value: 'x', headers: { 'content-type': 'application/cloudevents+avro' } },
    'unsupported-media-type',
  ],
] as const satisfies readonly [string, KafkaMessage, string][]) {
  test(`from Kafka, ${what} is refused`, () => {
    assert.throws(
      () => parseKafkaMessage(message),
      (error) => error instanceof ConsumerError && error.code === code,
    );
  });
}

for (const [what, message, code] of [
  ['a plain message', { body: {} }, 'not-a-cloudevent'],
  [
    'a structured event with a body that is not an event',
    { body: 'x', contentType: 'application/cloudevents+json' },
    'not-a-cloudevent',
  ],
  ['a batch', { body: [], contentType: 'application/cloudevents-batch+json' }, 'not-a-cloudevent'],
  ['another format', { body: {}, contentType: 'application/cloudevents+avro' }, 'unsupported-media-type'],
  [
    'an attribute that is a map',
    { body: {}, applicationProperties: { cloudEvents_specversion: '1.0', cloudEvents_id: {} } },
    'not-a-cloudevent',
  ],
] as const satisfies readonly [string, ServiceBusMessage, string][]) {
  test(`from Service Bus, ${what} is refused`, () => {
    assert.throws(
      () => parseServiceBusMessage(message),
      (error) => error instanceof ConsumerError && error.code === code,
    );
  });
}
