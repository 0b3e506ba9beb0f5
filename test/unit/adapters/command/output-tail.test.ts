// Output of any length in any chunks → its last 4 KiB as lines for a log.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutputTail } from '../../../../adapters/command/output-tail.ts';

function tailOf(...chunks: readonly (string | Uint8Array)[]): OutputTail {
  const tail = new OutputTail();
  for (const chunk of chunks) tail.add(Buffer.from(chunk));
  return tail;
}

test('lines are split at line feeds, of Windows too, wherever chunks end; empty ones are left out', () => {
  assert.deepEqual(tailOf('one\r\ntw', 'o\n\n', 'three').lines(), ['one', 'two', 'three']);
  assert.deepEqual(tailOf().lines(), []);
});

test('the last 4096 bytes stay, byte by byte or in one chunk', () => {
  const text = Array.from({ length: 2000 }, (_, index) => `line ${index}\n`).join('');
  const expected = text.slice(-4096).split('\n').slice(0, -1);
  assert.deepEqual(tailOf(text).lines(), expected);
  assert.deepEqual(tailOf(...text).lines(), expected);
  assert.equal(tailOf(text).bytes, text.length);
});

test('a character of UTF-8 that the cut went through is left out; what is no UTF-8 stays visible', () => {
  const [line = ''] = tailOf('€'.repeat(2000), 'a').lines();
  assert.ok(line.startsWith('€'));
  assert.deepEqual(tailOf(new Uint8Array([0x61, 0xff, 0x62])).lines(), ['a\ufffdb']);
  assert.deepEqual(tailOf(new Uint8Array(5000).fill(0x80)).lines().join('').length, 4096);
});

test('control characters are escaped in the text itself: C0 with tab, DEL, C1', () => {
  const [line] = tailOf('a\tb\u001b[31m\u0000\u007f\u0085\u009bc\rd\n').lines();
  assert.equal(line, 'a\\tb\\u001b[31m\\u0000\\u007f\\u0085\\u009bc\\rd');
});

test('secrets are shown as [secret], also across line feeds, chunks and cuts', () => {
  const hidden = ['first\nsecond', 'hunter2-hunter2'];
  assert.deepEqual(tailOf('a first\nsec', 'ond b hunter2-hunter2\n').lines(hidden), ['a [secret] b [secret]']);
  assert.deepEqual(
    tailOf(`hunter2-hunter2${'.'.repeat(4088)}`)
      .lines(hidden)[0]
      ?.slice(0, 12),
    '[secret]....',
  );
});

test('a line that is too long for a line of the log comes in pieces, none within a character', () => {
  const pieces = tailOf(`a${'😀'.repeat(600)}`).lines();
  assert.ok(pieces.every((piece) => piece.length <= 512 && piece.isWellFormed()));
  assert.equal(pieces.join(''), `a${'😀'.repeat(600)}`);
});

test('the last line is that of a terminal: without its end, after a carriage return, and cut at 1,000 characters', () => {
  const last = (...chunks: readonly (string | Uint8Array)[]) => tailOf(...chunks).lastLine([]);
  assert.equal(last(), null);
  assert.equal(last('\n \n'), null);
  assert.equal(last('one\ntwo\r\n\n'), 'two');
  assert.equal(last('10%\r20', '%'), '20%');
  assert.equal(last('a\tb\u001b'), 'a\\tb\\u001b');
  assert.equal(last(new Uint8Array([0x61, 0xe2, 0x82])), 'a', 'the rest of the character has not arrived');
  assert.equal(last('x'.repeat(3000))?.length, 1000);
});

test('the last line hides a secret that has not arrived completely, and the middle of a long one', () => {
  const secret = Array.from({ length: 20_000 }, (_, index) => String.fromCharCode(97 + ((index * index) % 26))).join(
    '',
  );
  assert.equal(tailOf('key ', secret.slice(0, 9)).lastLine([secret]), 'key [secret]');
  assert.equal(tailOf(secret.slice(0, 10_000)).lastLine([secret]), '[secret]');
  assert.deepEqual(tailOf(secret.slice(0, 10_000)).lines([secret]), ['[secret]']);
  assert.equal(tailOf('key abc').lastLine([secret]), 'key abc', 'three characters are no hint');
});
