// Deliveries → Kafka records, rule by rule of the binding (K-1 to K-10).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudEvent } from 'cloudevents';
import { encodeRecord, recordBytes } from '../../../adapters/kafka/sink/record-encoder.ts';
import { encodeStructured, toCloudEvent } from '../../../src/cloudevents/event.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { Change } from '../../../src/model/events.ts';
import { cloudEventOf } from '../../far-sides/kafka/cloud-event-of.ts';
import { approvalChange, context, eventChange, sightChange } from '../../unit/cloudevents/changes.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const binary = { mode: 'binary', keyed: true } as const;
const structured = { mode: 'structured', keyed: true } as const;

const CHANGES: readonly (readonly [what: string, change: Change])[] = [
  ['a scheduled event', eventChange()],
  ['an approval', approvalChange()],
  ['a blindness', sightChange()],
];

function deliveryOf(change: Change): Delivery {
  return { ...sampleDelivery(), bytes: encodeStructured(toCloudEvent(change, context)) };
}

/** As a consumer gets it. */
function readBack(record: ReturnType<typeof encodeRecord>) {
  return cloudEventOf({
    partition: 0,
    offset: 0,
    timestampMs: Number(record.timestamp),
    key: record.key === undefined ? null : String(record.key),
    value: record.value.toString(),
    headers: Object.entries(record.headers),
  });
}

for (const [what, change] of CHANGES) {
  test(`${what} in binary mode: a text header for each attribute that is set, and the data as value (K-1, K-2, K-3, K-7, K-8)`, () => {
    const delivery = deliveryOf(change);
    const { headers, value } = encodeRecord(delivery, binary, 'stream');
    const { data, datacontenttype, ...attributes } = JSON.parse(Buffer.from(delivery.bytes).toString());
    const expected = Object.entries(attributes).map(([name, text]) => [`ce_${name}`, String(text)]);
    assert.deepEqual(headers, { 'content-type': 'application/json', ...Object.fromEntries(expected) });
    assert.deepEqual(JSON.parse(value.toString()), data);
    assert.equal(datacontenttype, 'application/json');
  });

  test(`the SDK reads ${what} unchanged, in both modes`, () => {
    const delivery = deliveryOf(change);
    const sent = new CloudEvent(JSON.parse(Buffer.from(delivery.bytes).toString()), false);
    for (const options of [binary, structured]) {
      const { severitynumber, ...read } = JSON.parse(
        JSON.stringify(readBack(encodeRecord(delivery, options, 'stream'))),
      );
      const { severitynumber: number, ...expected } = JSON.parse(JSON.stringify(sent));
      assert.deepEqual(
        { ...read, severitynumber: Number(severitynumber) },
        { ...expected, severitynumber: Number(number) },
        options.mode,
      );
    }
  });
}

test('in structured mode the only header is the content type, and the value has the bytes of the journal (K-4)', () => {
  const delivery = sampleDelivery({ mark: '€ und „ß“' });
  const { headers, value } = encodeRecord(delivery, structured, 'stream');
  assert.deepEqual(headers, { 'content-type': 'application/cloudevents+json; charset=UTF-8' });
  assert.deepEqual(value, Buffer.from(delivery.bytes));
});

test('attributes are plain UTF-8 without percent-encoding (K-1)', () => {
  const event = { ...JSON.parse(Buffer.from(sampleDelivery().bytes).toString()), subject: 'a b%20"ü€"' };
  const { headers } = encodeRecord(
    { ...sampleDelivery(), bytes: Buffer.from(JSON.stringify(event)) },
    binary,
    'stream',
  );
  assert.equal(headers['ce_subject'], 'a b%20"ü€"');
});

test('the key is the partition key, and partitionkey stays among the headers (K-6); without a key nothing else changes', () => {
  const delivery = sampleDelivery({ partitionKey: 'event-1' });
  const { key, ...rest } = encodeRecord(delivery, binary, 'stream');
  assert.equal(key, 'event-1');
  assert.equal(rest.headers['ce_partitionkey'], 'event-1');
  assert.deepEqual(encodeRecord(delivery, { mode: 'binary', keyed: false }, 'stream'), rest);
});

test('the timestamp is the time of the event in whole milliseconds, rounded down (K-10)', () => {
  for (const options of [binary, structured]) {
    assert.equal(
      encodeRecord({ ...sampleDelivery(), timeMs: 1_767_225_600_123.9 }, options, 'stream').timestamp,
      '1767225600123',
    );
    assert.equal(encodeRecord({ ...sampleDelivery(), timeMs: 0 }, options, 'stream').timestamp, '0');
  }
});

test('a record is the same at every attempt', () => {
  for (const options of [binary, structured])
    assert.deepEqual(
      encodeRecord(sampleDelivery(), options, 'stream'),
      encodeRecord(sampleDelivery(), options, 'stream'),
    );
});

test('an event that binary mode cannot represent is refused without its payload in the message; structured mode accepts it', () => {
  const event = {
    ...JSON.parse(Buffer.from(sampleDelivery({ mark: 'payload' }).bytes).toString()),
    severitynumber: 1.5,
  };
  const delivery = { ...sampleDelivery(), bytes: Buffer.from(JSON.stringify(event)) };
  assert.throws(
    () => encodeRecord(delivery, binary, 'stream'),
    (error: Error & { code?: string; disposition?: string }) =>
      error.code === 'BRIDGE_DELIVERY_UNENCODABLE' &&
      error.disposition === 'refused' &&
      /sink stream: .*severitynumber.*structured/.test(error.message) &&
      !error.message.includes('payload'),
  );
  assert.deepEqual(encodeRecord(delivery, structured, 'stream').value, delivery.bytes);
});

test('the calculated size of a record is never too small', () => {
  const record = encodeRecord(sampleDelivery({ padding: 1000 }), binary, 'stream');
  const parts = [String(record.key), record.value, ...Object.entries(record.headers).flat()];
  const least = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  assert.ok(recordBytes(record) > least + 2 * Object.keys(record.headers).length);
});

test('the size of a record includes its key and the lengths of each header', () => {
  const empty = { value: Buffer.alloc(0), timestamp: '0', headers: {} };
  const least = recordBytes(empty);
  assert.equal(recordBytes({ ...empty, key: 'k'.repeat(300) }), least + 300);
  const headers = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`name-${index + 100}`, 'x'.repeat(200)]),
  );
  // Lengths of 64 bytes and more take two bytes.
  assert.ok(recordBytes({ ...empty, headers }) >= least + 100 * (8 + 1 + 200 + 2));
});
