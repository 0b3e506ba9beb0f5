// SseParser: lines and events whatever pieces they come in, and what is too long.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { SseParser } from '../../../../src/consumer/receive/sse-parser.ts';

function eventsOf(pieces: readonly Uint8Array[]) {
  const parser = new SseParser();
  return pieces.flatMap((piece) => [...parser.take(piece)]);
}

const bytes = (text: string) => new TextEncoder().encode(text);

test('fields are read up to their first colon, with one blank behind it, and all else is passed', () => {
  const lines = ['id: 7', 'data:a', 'data: b', 'data:  c:d', 'data', 'retry: 5', ': comment', 'other', '', ''];
  assert.deepEqual(eventsOf([bytes(lines.join('\n'))]), [{ id: '7', data: 'a\nb\n c:d\n' }]);
  assert.deepEqual(eventsOf([bytes('id: 8\n\n:\n\nid\n\n')]), [
    { id: '8', data: null },
    { id: '', data: null },
  ]);
});

test('lines end with LF, CR or both, and events are the same whatever pieces their bytes come in', () => {
  const text = fc.array(fc.constantFrom('data: x', 'data: é😀', 'id: 1', ':', '', '\r', '\n', '\r\n'), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(
      text,
      fc.constantFrom('\n', '\r', '\r\n'),
      fc.array(fc.integer({ min: 1, max: 9 })),
      (lines, end, sizes) => {
        const whole = bytes(`${lines.join(end)}${end}.`);
        const pieces: Uint8Array[] = [];
        for (let at = 0, index = 0; at < whole.length; index++) {
          const size = sizes[index % Math.max(1, sizes.length)] ?? 1;
          pieces.push(whole.subarray(at, at + size));
          at += size;
        }
        assert.deepEqual(eventsOf(pieces), eventsOf([whole]));
      },
    ),
  );
});

test('an event without an end is refused once it has 16 MiB, and costs no more than its length until then', () => {
  for (const piece of ['x'.repeat(65_536), `data: ${'x'.repeat(65_529)}\n`]) {
    const parser = new SseParser();
    const take = () => {
      for (let count = 0; count < 300; count++)
        for (const event of parser.take(bytes(piece))) assert.fail(String(event));
    };
    const fromMs = performance.now();
    assert.throws(take, { name: 'ConsumerError', code: 'too-large' });
    assert.ok(performance.now() - fromMs < 5000);
  }
  const parser = new SseParser();
  for (let count = 0; count < 5; count++) {
    const found = [...parser.take(bytes(`data: ${'x'.repeat(5 * 1024 * 1024)}\n\n`))];
    assert.equal(found.length, 1, 'each event has its own length');
  }
});
