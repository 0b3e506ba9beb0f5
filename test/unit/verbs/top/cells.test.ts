// Texts of others → exactly as many columns as asked, and no control characters.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cell, columnsOf, wrapped } from '../../../../src/verbs/top/cells.ts';

test('a text is padded, or cut with an ellipsis', () => {
  assert.deepEqual([cell('web_0', 8), cell('web_0', 5), cell('web_10', 5)], ['web_0   ', 'web_0', 'web_…']);
});

test('wide characters take two columns, and one that does not fit is left out', () => {
  assert.deepEqual([cell('東京', 5), cell('東京', 4), cell('東京都', 4)], ['東京 ', '東京', '東 …']);
});

test('control characters are escaped, and what has no width is left out', () => {
  assert.equal(cell('a\u001b[2J', 10), 'a\\u001b[2J'.slice(0, 10));
  assert.equal(cell('e\u0301\u200bx', 3), 'ex ');
});

test('every text fills its columns exactly, whatever it holds', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 40 }), (text, width) => {
      const shown = cell(text, width);
      assert.equal(columnsOf(shown), width);
      assert.doesNotMatch(shown, /\p{Cc}/u);
    }),
  );
});

test('lines are broken at blanks, a long word anywhere, and no character is lost', () => {
  assert.deepEqual(wrapped('held by ops: backup', 10), ['held by', 'ops:', 'backup']);
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z東]{1,30}$/)), fc.integer({ min: 2, max: 20 }), (words, width) => {
      const lines = wrapped(words.join(' '), width);
      assert.equal(lines.join('').replaceAll(' ', ''), words.join(''));
      for (const line of lines) assert.ok(columnsOf(line) <= width, line);
    }),
  );
});
