// The table of kafkajs's repairs, titles of tests → each repair has a test, each title a repair.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { tableBelow } from './markdown-page.ts';

const TESTS = 'unit/adapters/kafka/client/repairs/kafkajs-repairs.test.ts';

test('the repairs of the table are those that the titles of tests name', () => {
  const named = tableBelow('adapters/kafka/client/repairs/README.md', 'Repairs of kafkajs 2.2.4').map(
    ([name = '']) => name,
  );
  const text = readFileSync(join(import.meta.dirname, '..', TESTS), 'utf8');
  const inTitles = [...text.matchAll(/\(repair: ([a-z0-9, -]+)\)'/g)].flatMap(([, names = '']) => names.split(', '));
  // One title is made for each row of a list, whose last cell it is.
  const inRows = [...text.matchAll(/'([a-z-]+)'\],$/gm)].map(([, name = '']) => name);
  assert.ok(named.length > 15);
  assert.deepEqual([...new Set([...inTitles, ...inRows])].sort(), named.map((name) => name.replaceAll('`', '')).sort());
});
