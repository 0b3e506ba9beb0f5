// JSON of any form → counted values and levels, as a parser that makes objects counts them.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { hasFewValues } from '../../../src/formats/json-bounds.ts';

/** The limit at which the text just passes. */
function countedIn(text: string): number {
  const bytes = Buffer.from(text);
  let most = 0;
  while (!hasFewValues(bytes, most)) most += 1;
  return most;
}

/** The same of a parsed value: each array and object counts 1, and each of its commas. */
function countOf(value: unknown): number {
  const within = (one: unknown): number =>
    typeof one === 'object' && one !== null
      ? 1 +
        Math.max(0, Object.keys(one).length - 1) +
        Object.values(one).reduce<number>((sum, each) => sum + within(each), 0)
      : 0;
  return 1 + within(value);
}

test('the values of any JSON are counted, whatever its texts hold', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      // A repeated key is one member of the value, and two of the text.
      assert.ok(countedIn(text) >= countOf(JSON.parse(text)));
    }),
    { numRuns: 500 },
  );
  for (const [text, count] of [
    ['[]', 2],
    ['[1,2]', 3],
    ['{"a":{},"b":[]}', 5],
    ['"[{,,,"', 1],
    ['["\\",\\\\",1]', 3],
    ['["\\\\\\"[["]', 2],
  ] as const)
    assert.equal(countedIn(text), count, text);
});

test('more than 100 levels are too many, and closed ones do not count', () => {
  assert.equal(hasFewValues(Buffer.from('['.repeat(100)), 1000), true);
  assert.equal(hasFewValues(Buffer.from('['.repeat(101)), 1000), false);
  assert.equal(hasFewValues(Buffer.from(`[${'[{}],'.repeat(300)}0]`), 1000), true);
});

test('broken JSON ends the count, too', () => {
  for (const text of ['', '"', '"\\', '["\\"', ']]]]', '\\"']) hasFewValues(Buffer.from(text), 10);
});
