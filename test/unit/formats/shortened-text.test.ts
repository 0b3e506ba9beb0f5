// Texts within a length: whole characters of the beginning, and a sign of what is missing.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { shortenedText } from '../../../src/formats/shortened-text.ts';

test('a text that fits is whole, and one that is one unit longer ends in …', () => {
  assert.equal(shortenedText('abc', 3), 'abc');
  assert.equal(shortenedText('abcd', 3), 'ab…');
  assert.equal(shortenedText('a💥bc', 3), 'a…');
  assert.equal(shortenedText('a💥bc', 4), 'a💥…');
});

test('any text is within any length, and no character is cut in two', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 1, max: 50 }), (text, most) => {
      const made = shortenedText(text, most);
      assert.ok(made.length <= most && made.isWellFormed() === text.isWellFormed());
      if (made !== text) assert.ok(made.endsWith('…') && text.startsWith(made.slice(0, -1)) && made.length > most - 2);
    }),
  );
});
