// The body of an answer, in either encoding → the number of rejected records, and the message.
import assert from 'node:assert/strict';
import test from 'node:test';
import { readFailure, readSuccess } from '../../../../adapters/otlp/export-answer.ts';
import { successInProtobuf } from '../../../far-sides/otlp/log-receiver.ts';

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

for (const [what, body, expected] of [
  ['nothing', Buffer.alloc(0), { rejected: 0, message: '' }],
  ['an empty object', json({}), { rejected: 0, message: '' }],
  ['no partial success', json({ partialSuccess: null }), { rejected: 0, message: '' }],
  ['an empty partial success', json({ partialSuccess: {} }), { rejected: 0, message: '' }],
  [
    'a number as text',
    json({ partialSuccess: { rejectedLogRecords: '3', errorMessage: 'too old' } }),
    { rejected: 3, message: 'too old' },
  ],
  ['a number', json({ partialSuccess: { rejectedLogRecords: 3 } }), { rejected: 3, message: '' }],
  [
    'the names of the definitions',
    json({ partial_success: { rejected_log_records: '3', error_message: 'too old' } }),
    { rejected: 3, message: 'too old' },
  ],
  ['protobuf', successInProtobuf(3, 'too old'), { rejected: 3, message: 'too old' }],
  ['protobuf with a message alone', successInProtobuf(0, 'deprecated'), { rejected: 0, message: 'deprecated' }],
  ['protobuf with an empty partial success', Buffer.from([0x0a, 0]), { rejected: 0, message: '' }],
  ['protobuf with a field of tomorrow', Buffer.from([0x12, 1, 65, 0x0a, 2, 8, 1]), { rejected: 1, message: '' }],
] as const)
  test(`a success with ${what} is read`, () => {
    assert.deepEqual(readSuccess(body), expected);
  });

for (const [what, body] of [
  ['a body that was too long', null],
  ['a page', Buffer.from('<html>')],
  ['a list', json([])],
  ['a text', json('ok')],
  ['JSON that breaks off', Buffer.from('{"partialSuccess":{"rejectedLogRecords":"3"')],
  ['a partial success that is a text', json({ partialSuccess: 'no' })],
  ['a number of records that is none', json({ partialSuccess: { rejectedLogRecords: 'some' } })],
  ['a partial success that is a number, in protobuf', Buffer.from([8, 1])],
  ['a partial success that breaks off, in protobuf', Buffer.from([0x0a, 3, 8, 1])],
  ['a number of records that is a text, in protobuf', Buffer.from([0x0a, 3, 0x0a, 1, 65])],
] as const)
  test(`${what} is not an answer`, () => {
    assert.equal(readSuccess(body), null);
  });

test('the message of a failure is read from its Status in either encoding, or is empty', () => {
  assert.equal(readFailure(json({ code: 3, message: 'no' })), 'no');
  assert.equal(readFailure(Buffer.from([8, 3, 0x12, 2, 110, 111])), 'no');
  for (const body of [null, Buffer.alloc(0), Buffer.from('<html>'), json({ message: 7 }), Buffer.from([0x10, 7])])
    assert.equal(readFailure(body), '');
});

test('a long text is cut at 4,096 bytes', () => {
  const message = 'x'.repeat(1_000_000);
  assert.equal(readFailure(json({ message })).length, 4096);
  assert.equal(readFailure(Buffer.concat([Buffer.from([0x12, 0xc0, 0x84, 0x3d]), Buffer.from(message)])).length, 4096);
});
