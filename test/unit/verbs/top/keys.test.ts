// Bytes of terminals → the keys, and nothing of what was pasted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KeyReader } from '../../../../src/verbs/top/keys.ts';

const read = (...pieces: readonly string[]) => {
  const reader = new KeyReader();
  return pieces.flatMap((piece) => reader.read(piece));
};

test('arrows of both modes, paging keys, Enter, Backspace, Ctrl-C and a lone Esc have names', () => {
  assert.deepEqual(read('\u001b[A\u001bOA\u001b[B\u001b[5~\u001b[6~\u001b[H\u001b[4~'), [
    ...['up', 'up', 'down', 'page-up', 'page-down', 'home', 'end'],
  ]);
  assert.deepEqual(read('\r', '\u007f', '\u0003', '\u001b'), ['enter', 'backspace', 'ctrl-c', 'escape']);
});

test('other sequences and control characters are no keys, and what follows them is', () => {
  assert.deepEqual(read('\u001b[1;5Cj\u001b[15~\u0001k'), [{ text: 'j' }, { text: 'k' }]);
});

test('a typed character may have several bytes', () => {
  assert.deepEqual(read('ä€😀'), [{ text: 'ä' }, { text: '€' }, { text: '😀' }]);
});

test('a pasted text is no key, in one piece or in several', () => {
  assert.deepEqual(read('\u001b[200~yes\ry\u001b[201~n'), [{ text: 'n' }]);
  assert.deepEqual(read('\u001b[200~y', 'y', 'y\u001b[201~n'), [{ text: 'n' }]);
});

test('no input makes it fail or hang', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (pieces) => {
      assert.ok(read(...pieces).length <= pieces.join('').length);
    }),
  );
});
