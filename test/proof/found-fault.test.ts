// Demands that are met, and that are not → nothing, or the count of what is wrong.
import assert from 'node:assert/strict';
import test from 'node:test';
import { added, countsOfError, expect, expectAll, FoundFault } from './found-fault.ts';
import { NOTHING } from './part.ts';

const faultOf = (run: () => void): string | null => {
  try {
    run();
    return null;
  } catch (error) {
    return (error as FoundFault).fault;
  }
};

test('a demand that is not met has the count that it names', () => {
  assert.equal(
    faultOf(() => expect('a line', 'lost', 'a line')),
    null,
  );
  assert.equal(
    faultOf(() => expect(false, 'altered', 'a line')),
    'altered',
  );
});

test('two lists differ by what is lost, what is invented, or their order', () => {
  const compare = (found: readonly string[]) => faultOf(() => expectAll(found, ['a', 'b'], 'ids'));
  assert.deepEqual([['a', 'b'], ['a'], ['a', 'b', 'c'], ['b', 'a']].map(compare), [
    null,
    'lost',
    'invented',
    'misordered',
  ]);
});

test('a fault counts also as the cause of another error; any other error is a problem alone', () => {
  const error = new Error('crash after operation 3', { cause: new FoundFault('lost', 'a line') });
  const counts = countsOfError(error, 'file sink');
  assert.deepEqual([counts.lost, counts.problems.length], [1, 1]);
  assert.match(counts.problems[0] ?? '', /^file sink: crash after operation 3\nbecause of FoundFault: lost: a line/);
  const other = countsOfError(new Error('no strace'), 'store');
  assert.deepEqual({ ...other, problems: [] }, NOTHING);
});

test('counts are added one by one', () => {
  const counts = added([
    { ...NOTHING, lost: 1, kills: 2, problems: ['a'] },
    { ...NOTHING, lost: 1, maintenances: 5, problems: ['b'] },
  ]);
  assert.deepEqual(counts, { ...NOTHING, lost: 2, kills: 2, maintenances: 5, problems: ['a', 'b'] });
});
