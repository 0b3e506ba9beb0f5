// Sizes as people write them → bytes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseSize, SIZE_PATTERN } from '../../../src/formats/sizes.ts';

test('every unit is read', () => {
  assert.deepEqual(['0B', '512B', '64KiB', '1MiB', '2GiB'].map(parseSize), [0, 512, 65_536, 1_048_576, 2_147_483_648]);
});

test('a text that is not a size is null, and the pattern agrees', () => {
  for (const text of ['', '64', 'KiB', '64 KiB', '64kib', '64KB', '64k', '-1KiB', '1.5KiB', '1KiB\n', '1TiB']) {
    assert.equal(parseSize(text), null, text);
    assert.equal(new RegExp(SIZE_PATTERN).test(text), false, text);
  }
});

test('a size of more digits than a number can hold is not a size', () => {
  assert.equal(parseSize(`${'9'.repeat(400)}KiB`), null);
});
