// An I/O error at the Nth call on the store, for one N of sixty → nothing is lost.
import assert from 'node:assert/strict';
import test from 'node:test';
import { failEachCall } from './disk-errors.ts';
import { withoutStrace } from './strace.ts';

test('an I/O error at any call on the store loses nothing and stops no later start', {
  skip: withoutStrace,
}, async (t) => {
  const { calls, runs, refused } = await failEachCall({ seed: 1, oneOf: 60 });
  t.diagnostic(`${calls} calls, ${runs} runs with an error, ${refused} ended with an error of the store`);
  assert.ok(calls > 300 && runs > 20, `${calls} calls, ${runs} runs`);
});
