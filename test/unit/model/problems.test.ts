// The problem types → titles that are all different.
import assert from 'node:assert/strict';
import test from 'node:test';
import { PROBLEMS } from '../../../src/model/problems.ts';

test('no two problem types have the same title', () => {
  const titles = Object.values(PROBLEMS).map(({ title }) => title);
  assert.equal(new Set(titles).size, titles.length);
});
