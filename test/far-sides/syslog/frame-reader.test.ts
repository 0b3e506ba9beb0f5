// Chunks of a stream → the messages that the tests' server reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameReader } from './frame-reader.ts';

test('counted messages are read whole, however the stream is split into chunks', () => {
  const stream = Buffer.from('5 <1>1 3 a\nb');
  for (let cut = 0; cut <= stream.length; cut++) {
    const reader = new FrameReader('counted');
    const messages = [...reader.read(stream.subarray(0, cut)), ...reader.read(stream.subarray(cut))];
    assert.deepEqual(messages.map(String), ['<1>1 ', 'a\nb']);
  }
});

test('a line ends at its line feed', () => {
  const reader = new FrameReader('lines');
  assert.deepEqual([...reader.read(Buffer.from('a\nb')), ...reader.read(Buffer.from('c\n'))].map(String), ['a', 'bc']);
});

test('a frame without a valid count is rejected', () => {
  assert.throws(() => new FrameReader('counted').read(Buffer.from('<28>1 x')), /no count of octets/);
});
