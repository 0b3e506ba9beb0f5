// Messages and limits → whole or cut messages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { boundedMessage } from '../../../../../adapters/syslog/message/message-encoder.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bounded(header: string, message: string, maxBytes: number): string | null {
  const bytes = boundedMessage(Buffer.from(header), Buffer.from(message), maxBytes);
  return bytes === null ? null : strict.decode(bytes);
}

test('a message that fits exactly stays whole', () => {
  assert.equal(bounded('head ', 'tail', 9), 'head tail');
});

test('a message that is one byte too long is cut and ends in …', () => {
  assert.equal(bounded('head ', 'tails', 9), 'head t…');
  assert.equal(bounded('head ', 'äöü€', 12), 'head äö…');
  assert.equal(bounded('head ', 'äöü€', 11), 'head ä…');
  assert.equal(bounded('head ', '🙂🙂🙂', 15), 'head 🙂…');
});

test('a backslash that would escape the … is dropped, and an escaped backslash stays', () => {
  assert.equal(bounded('head ', 'ab\\\\cdef', 11), 'head ab…');
  assert.equal(bounded('head ', 'ab\\\\cdef', 12), 'head ab\\\\…');
});

test('a header that leaves no room for the … gives null', () => {
  assert.equal(bounded('head ', 'message', 8), 'head …');
  assert.equal(bounded('head ', 'message', 7), null);
});

test('any text is cut within any limit, between characters, and keeps every character that fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 8, max: 200 }), (text, maxBytes) => {
      const message = text.toWellFormed();
      const result = bounded('head ', message, maxBytes) ?? assert.fail('refused');
      assert.ok(Buffer.byteLength(result) <= maxBytes);
      if (result === `head ${message}`) return;
      assert.ok(result.endsWith('…'));
      assert.ok(`head ${message}`.startsWith(result.slice(0, -1)));
      // Four bytes of a character, or an escape, have no room in what is left.
      assert.ok(Buffer.byteLength(result) > maxBytes - 5);
    }),
  );
});
