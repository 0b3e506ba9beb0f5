// Drills, the hold of everything and the acts of operators → the rows that the next process reads.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Drill } from '../../../../src/model/drills.ts';
import { type Outbox, openOutbox } from '../../../../src/outbox/outbox.ts';
import { scheduledEvent } from '../../../support/events.ts';
import { at, type TestStore, testStore } from '../../../virtual/outbox-fixture.ts';

function drill(id: string, more: Partial<Drill> = {}): Drill {
  return {
    ...{ id, occurrence: 3, event: scheduledEvent({ eventId: `DRILL-${id}` }), operator: 'ops', madeMs: 10 },
    ...{ startedMs: null, endedMs: null, outcome: null, missing: [] },
    ...more,
  };
}

function save(outbox: Outbox, ...drills: readonly Drill[]): void {
  outbox.transact((transaction) => {
    for (const one of drills) transaction.saveDrill(one);
  });
}

function reopened({ outbox, folder, time }: TestStore): Outbox {
  outbox.close();
  return openOutbox(folder, { deps: time, lock: true });
}

test('a drill is found with all of its data, also by the next process, and running ones are listed, the oldest first', (t) => {
  const store = testStore(t);
  const [late, early, ended] = [
    drill('late', { madeMs: 20, startedMs: 25 }),
    drill('early'),
    drill('ended', { madeMs: 5, startedMs: 6, endedMs: 7, outcome: 'canceled', missing: ['orders', 'billing'] }),
  ];
  save(store.outbox, late, early, ended);
  using next = reopened(store);
  assert.deepEqual(next.drills.find('ended'), ended);
  assert.equal(next.drills.find('unknown'), null);
  assert.deepEqual(next.drills.open(), [early, late]);
  const completed = { ...late, endedMs: 30, outcome: 'completed' } as const;
  save(next, completed);
  assert.deepEqual([next.drills.find('late'), next.drills.open()], [completed, [early]]);
});

test('the hold of everything is replaced and released, with a line of the record for each act', (t) => {
  const store = testStore(t);
  assert.equal(store.outbox.holdOfAll.load(), null);
  const hold = { by: 'ops', via: 'token', at: { wallMs: 5, elapsedMs: 1 }, reason: 'a release' };
  store.outbox.transact((transaction) => transaction.saveHoldOfAll(hold, 'ops', 5));
  using next = reopened(store);
  assert.deepEqual(next.holdOfAll.load(), { ...hold, at: at(5) });
  const other = { ...hold, by: 'orders', at: at(6), reason: null };
  next.transact((transaction) => transaction.saveHoldOfAll(other, 'orders', 6));
  assert.deepEqual(next.holdOfAll.load(), other);
  next.transact((transaction) => transaction.saveHoldOfAll(null, 'billing', 7));
  assert.equal(next.holdOfAll.load(), null);
  const line = { subject: null };
  assert.deepEqual(next.operatorActs.last(10), [
    { ...line, atMs: 7, operator: 'billing', act: 'release-all', detail: {} },
    { ...line, atMs: 6, operator: 'orders', act: 'hold-all', detail: { reason: null } },
    { ...line, atMs: 5, operator: 'ops', act: 'hold-all', detail: { reason: 'a release' } },
  ]);
  assert.equal(next.operatorActs.last(2).length, 2);
});

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
