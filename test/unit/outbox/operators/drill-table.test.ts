// Drills → the rows that the next process reads.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Drill } from '../../../../src/model/drills.ts';
import { type Outbox, openOutbox } from '../../../../src/outbox/outbox.ts';
import { scheduledEvent } from '../../../support/events.ts';
import { type TestStore, testStore } from '../../../virtual/outbox-fixture.ts';

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
