// Structured-mode bytes → binary mode's attributes and data, or why they are refused.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type BinaryEvent, toBinary } from '../../../src/cloudevents/binary.ts';
import { toCloudEvent, toJournalEntry } from '../../../src/cloudevents/event.ts';
import { scheduledEvent } from '../../support/events.ts';
import { approvalChange, context, eventChange, sightChange } from './changes.ts';

const bytesOf = (event: unknown) => new TextEncoder().encode(JSON.stringify(event));
const REQUIRED = { specversion: '1.0', id: 'a', source: '/s', type: 't' };

function binary(event: unknown): BinaryEvent {
  const made = toBinary(bytesOf(event));
  assert.ok(!('fault' in made), JSON.stringify(made));
  return made;
}

const textOf = ({ data }: BinaryEvent) => new TextDecoder('utf-8', { fatal: true }).decode(data);

test('every attribute and extension except datacontenttype becomes an attribute, as its canonical string (H-3, K-7)', () => {
  for (const change of [eventChange(), approvalChange(), sightChange()]) {
    const { data, datacontenttype, ...attributes } = toCloudEvent(change, context);
    const made = binary({ ...attributes, datacontenttype, data });
    assert.equal(datacontenttype, 'application/json');
    assert.deepEqual(
      made.attributes,
      Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)])),
    );
    assert.deepEqual(Object.keys(made.attributes), Object.keys(attributes));
  }
});

test('integers and booleans become their canonical strings (CE-6, K-7)', () => {
  const { attributes } = binary({
    ...REQUIRED,
    n: 9,
    least: -2_147_483_648,
    most: 2_147_483_647,
    yes: true,
    no: false,
    data: 1,
  });
  const { n, least, most, yes, no } = attributes;
  assert.deepEqual(
    { n, least, most, yes, no },
    { n: '9', least: '-2147483648', most: '2147483647', yes: 'true', no: 'false' },
  );
});

test('a null attribute counts as not set (JS-3, CE-8)', () => {
  assert.ok(!('subject' in binary({ ...REQUIRED, subject: null, data: 1 }).attributes));
});

test('data is JSON: a text keeps its quotes, and null, false and numbers are data, too (H-5, JS-4, JS-7)', () => {
  for (const data of ["I'm just a string", null, false, 0, 1.5, '', [], {}, { a: [1, { b: 'Grüße €😀' }] }]) {
    assert.equal(textOf(binary({ ...REQUIRED, data })), JSON.stringify(data));
  }
});

test('without a datacontenttype, data is JSON, too (JS-8)', () => {
  assert.equal(textOf(binary({ ...REQUIRED, data: { a: 1 } })), '{"a":1}');
});

test('for any data: the bytes are those in the structured form', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (data) => {
      const structured = JSON.stringify({ ...REQUIRED, data });
      const made = toBinary(new TextEncoder().encode(structured));
      assert.ok(!('fault' in made));
      assert.ok(structured.endsWith(`"data":${textOf(made)}}`));
    }),
  );
});

test("a journal entry's bytes always give the same binary form", () => {
  const { bytes } = toJournalEntry(
    eventChange({ event: scheduledEvent({ description: 'Wartung für „WestNO“ 😀' }) }),
    context,
  );
  assert.deepEqual(toBinary(bytes), toBinary(bytes));
});

/** Events that binary mode does not allow, or that the bridge never makes → a part of the fault. */
const FAULTS: readonly (readonly [what: string, event: unknown, says: RegExp])[] = [
  ['no data (W-2)', REQUIRED, /no data/],
  ['bytes in data_base64 (JS-5)', { ...REQUIRED, data_base64: 'aGlkZGVu' }, /not JSON/],
  ['data of another type', { ...REQUIRED, datacontenttype: 'text/plain', data: 'hidden' }, /datacontenttype/],
  ['no id (CE-1)', { ...REQUIRED, id: undefined, data: 1 }, /no id/],
  ['an empty source (CE-1)', { ...REQUIRED, source: '', data: 1 }, /attribute source/],
  ['a line end (CE-7)', { ...REQUIRED, source: 'hidden\r\nce-x: y', data: 1 }, /attribute source/],
  ['a lone surrogate (CE-7)', { ...REQUIRED, source: 'hidden\ud800', data: 1 }, /attribute source/],
  ['a noncharacter (CE-7)', { ...REQUIRED, source: 'hidden\ufffe', data: 1 }, /attribute source/],
  ['a fraction (CE-6)', { ...REQUIRED, n: 1.5, data: 1 }, /attribute n/],
  ['an integer beyond 32 bits (CE-6)', { ...REQUIRED, n: 2_147_483_648, data: 1 }, /attribute n/],
  ['an object for a value (CE-6)', { ...REQUIRED, n: { hidden: 1 }, data: 1 }, /attribute n/],
  ['a name in upper case (CE-3)', { ...REQUIRED, Bad: 'x', data: 1 }, /name/],
  ['a name with a line end (CE-3)', { ...REQUIRED, 'a\r\nb': 'x', data: 1 }, /name/],
  ['an array instead of an object', [1], /JSON object/],
  ['null instead of an object', null, /JSON object/],
  ['a number instead of an object', 5, /JSON object/],
];

for (const [what, event, says] of FAULTS) {
  test(`an event with ${what} is refused, and the fault shows no value of it`, () => {
    const made = toBinary(bytesOf(event));
    assert.ok('fault' in made);
    assert.match(made.fault, says);
    assert.doesNotMatch(made.fault, /hidden/);
  });
}

test('bytes that are not JSON, or not UTF-8, are refused', () => {
  const whole = bytesOf({ ...REQUIRED, subject: '~~', data: 1 });
  assert.ok(!('fault' in toBinary(whole)));
  const notUtf8 = Uint8Array.from(whole, (byte) => (byte === 0x7e ? 0xc0 : byte));
  for (const bytes of [new TextEncoder().encode('{'), notUtf8])
    assert.deepEqual(toBinary(bytes), { fault: 'it is not a JSON object' });
});
