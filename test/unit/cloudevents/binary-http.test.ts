// Attributes → HTTP headers: names, percent-encoding, and a strict receiver's way back.
import assert from 'node:assert/strict';
import test from 'node:test';
import { HTTP } from 'cloudevents';
import fc from 'fast-check';
import { httpHeaders, percentEncode, toBinary } from '../../../src/cloudevents/binary.ts';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import { context, eventChange } from './changes.ts';

test('each attribute, also traceparent, has one header: ce- and its name (H-3, H-9)', () => {
  const headers = httpHeaders({ attributes: { id: 'a', traceparent: '00-1-2-01' } });
  assert.deepEqual(headers, { 'content-type': 'application/json', 'ce-id': 'a', 'ce-traceparent': '00-1-2-01' });
});

test('the content type is exactly application/json, and there is no ce-datacontenttype (H-4)', () => {
  const event = toBinary(toJournalEntry(eventChange(), context).bytes);
  assert.ok(!('fault' in event));
  const headers = httpHeaders(event);
  assert.equal(headers['content-type'], 'application/json');
  assert.ok(!('ce-datacontenttype' in headers));
});

/** Values → headers, by the specification's rules and its example. */
const ENCODED: readonly (readonly [value: string, header: string])[] = [
  ['Euro € 😀', 'Euro%20%E2%82%AC%20%F0%9F%98%80'],
  ['"quoted"', '%22quoted%22'],
  ['50%', '50%25'],
  ['a%20b', 'a%2520b'],
  ['é', '%C3%A9'],
  ['\u007f', '%7F'],
  ["!#$&'()*+,-./:;<=>?@[\\]^_`{|}~", "!#$&'()*+,-./:;<=>?@[\\]^_`{|}~"],
  ['2022-04-11T22:26:58.001+02:00', '2022-04-11T22:26:58.001+02:00'],
];

for (const [value, header] of ENCODED) {
  test(`${JSON.stringify(value)} is ${header} in a header (H-6, H-7, H-8)`, () =>
    assert.equal(percentEncode(value), header));
}

/** Any text of whole characters, half of them those that the rules mention. */
const values = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(' ', '"', '%', '!', '~', '\u007f', 'é', '€', '😀', '2', '5') }),
);

test('for any value: the header is printable ASCII without space, quote and loose percent sign (H-6)', () => {
  fc.assert(
    fc.property(values, (value) => assert.match(percentEncode(value), /^([\x21\x23\x24\x26-\x7e]|%[0-9A-F]{2})*$/)),
  );
});

test('for any value: one round of percent-decoding returns it, so it was encoded once (H-7, H-14)', () => {
  fc.assert(fc.property(values, (value) => assert.equal(decodeURIComponent(percentEncode(value)), value)));
});

test('characters that need no encoding are not encoded (H-6)', () => {
  const plain = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) });
  fc.assert(
    fc.property(plain, (value) => assert.equal(percentEncode(value), value.replace(/["%]/g, encodeURIComponent))),
  );
});

test('the CloudEvents SDK reads the original event from the headers and the body', () => {
  const { bytes, id } = toJournalEntry(eventChange(), context);
  const event = toBinary(bytes);
  assert.ok(!('fault' in event));
  const { severitynumber, ...read } = HTTP.toEvent<Record<string, unknown>>({
    headers: httpHeaders(event),
    body: Buffer.from(event.data).toString(),
  }) as unknown as Record<string, unknown>;
  const { severitynumber: number, ...sent } = JSON.parse(Buffer.from(bytes).toString());
  assert.equal(read['id'], id);
  assert.deepEqual(JSON.parse(JSON.stringify(read)), sent);
  // The SDK reads every extension as a text, also this integer.
  assert.equal(Number(severitynumber), number);
});
