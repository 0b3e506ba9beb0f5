// Untrusted bytes → wanted fields, or null.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { readFields } from '../../../../adapters/otlp/protobuf-reader.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

test('wanted fields of each wire type are read, and all others are skipped', () => {
  const fields = readFields(hex('089601' + '1203616263' + '190000000000000000' + '2501020304' + '2a00'), [1, 2]);
  assert.deepEqual(
    [...(fields ?? [])],
    [
      [1, 150n],
      [2, hex('616263')],
    ],
  );
});

test('if a field is repeated, the last one counts', () => {
  assert.equal(readFields(hex('08010802'), [1])?.get(1), 2n);
});

for (const [what, bytes] of [
  ['a page of HTML', Buffer.from('<html>Welcome</html>')],
  ['a word', Buffer.from('OK')],
  ['a line', Buffer.from('ok\n')],
  ['JSON', Buffer.from('{"partialSuccess":{}}')],
  ['a text that is cut off', hex('120474657374'.slice(0, 8))],
  ['a length beyond all memory', hex('12ffffffffffffffffff01')],
  ['a number without an end', hex('08ffffffffffffffffffffff')],
  ['a fixed number that is cut off', hex('09000000')],
  ['a group', hex('0b0c')],
  ['field 0', hex('0001')],
] as const)
  test(`${what} is not a message`, () => {
    assert.equal(readFields(bytes, [1, 2]), null);
  });

test('any bytes give fields or null, never an error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const fields = readFields(bytes, [1, 2]);
      assert.ok(fields === null || fields.size <= 2);
    }),
  );
});
