// Ended events → those whose names budgets still count.
import assert from 'node:assert/strict';
import test from 'node:test';
import { testStore } from '../../virtual/outbox-fixture.ts';

test('ended events whose names budgets count are found by the time of their end, those of the last 31 days', (t) => {
  const { outbox } = testStore(t);
  const dayMs = 86_400_000;
  const rest = (occurrence: number, endedMs: number) => ({ occurrence, resources: ['web_0', 'web_1'], endedMs });
  outbox.transact((transaction) => {
    transaction.addRest(rest(2, 2_000));
    transaction.addRest(rest(1, 1_000));
  });
  assert.deepEqual(outbox.rests.since(1_000), [rest(1, 1_000), rest(2, 2_000)]);
  assert.deepEqual(outbox.rests.since(1_001), [rest(2, 2_000)]);
  outbox.transact((transaction) => transaction.addRest(rest(3, 31 * dayMs + 2_000)));
  assert.deepEqual(
    outbox.rests.since(0).map(({ occurrence }) => occurrence),
    [2, 3],
  );
});
