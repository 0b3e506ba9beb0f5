// Encoders that fail → which members are refused, and what the refusal shows.
import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeEach, unencodable, unfitForBinary } from '../../../src/cloudevents/unencodable.ts';
import { BridgeError } from '../../../src/errors.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';

test('one delivery that cannot be encoded is refused alone, at its place in the batch', () => {
  const store = new MemoryLaneStore(() => 0);
  const batch = ['a', 'b', 'c'].map((key) => store.queue('hooks', key));
  const { members, refused } = encodeEach(
    batch,
    ({ id }) => {
      if (id.startsWith('b')) throw new RangeError('a secret');
      return id.toUpperCase();
    },
    { sink: 'hooks', made: 'request' },
  );
  assert.deepEqual(members, [
    { index: 0, key: 'a', made: 'A:1' },
    { index: 2, key: 'c', made: 'C:3' },
  ]);
  assert.deepEqual(Object.keys(refused), ['1']);
  assert.ok(refused[1] instanceof BridgeError);
});

test('a refusal is final, and shows the kind of the error and none of its text', () => {
  for (const [cause, kind] of [
    [new RangeError('a secret'), 'RangeError'],
    ['a secret', 'string'],
  ] as const) {
    const { code, message, disposition } = unencodable(cause, 'hooks', 'record');
    assert.deepEqual([code, disposition], ['BRIDGE_DELIVERY_UNENCODABLE', 'refused']);
    assert.equal(
      message,
      `sink hooks: cannot make the record from this CloudEvent (${kind}); it becomes a dead letter; please report it`,
    );
  }
});

test('an error of the bridge passes as it is', () => {
  const error = new BridgeError('BRIDGE_INTERNAL', 'known');
  assert.equal(unencodable(error, 'hooks', 'line'), error);
});

test('what binary mode cannot carry is refused with the way out', () => {
  const { code, message, disposition } = unfitForBinary('it has no data', 'hooks');
  assert.deepEqual([code, disposition], ['BRIDGE_DELIVERY_UNENCODABLE', 'refused']);
  assert.equal(
    message,
    'sink hooks: this CloudEvent cannot be sent in binary mode: it has no data; it becomes a dead letter; mode: structured can send it',
  );
});
