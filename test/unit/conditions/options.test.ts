// Globs in the configuration: which are refused, at which path, and how many there may be.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as v from 'valibot';
import { globs } from '../../../src/conditions/options.ts';
import { formatFault } from '../../../src/schema/faults.ts';
import { validate } from '../../../src/schema/validate.ts';

function faultsOf(resources: unknown): string[] {
  const { faults } = validate(
    v.strictObject({ resources: globs('Names.') }),
    { resources },
    ['filter'],
    'configuration',
  );
  return faults.map(formatFault);
}

test('a character with a meaning in other globs is a fault at the path of its glob, which says what to write instead', () => {
  assert.deepEqual(faultsOf(['web_*', 'db_[01]']), [
    'filter.resources[1]: holds [, but only * (any text) and ? (any one character) have a meaning: write a glob for each alternative, or ? in its place',
  ]);
  assert.deepEqual(faultsOf(['!web_*']), [
    'filter.resources[0]: begins with !, but a glob cannot exclude names: list the names that must match, using only * and ?',
  ]);
});

test('a glob has 1 to 256 characters, a list 1 to 1,000 globs', () => {
  assert.deepEqual(faultsOf(['x'.repeat(256), ...Array.from({ length: 999 }, (_, index) => `web_${index}`)]), []);
  for (const glob of ['', 'x'.repeat(257)])
    assert.deepEqual(faultsOf([glob]), ['filter.resources[0]: must have 1 to 256 characters']);
  assert.match(faultsOf([])[0] ?? '', /^filter\.resources: must not be empty/);
  assert.match(
    faultsOf(Array.from({ length: 1001 }, () => '*'))[0] ?? '',
    /^filter\.resources: must not have more than 1000 globs/,
  );
});
