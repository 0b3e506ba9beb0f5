// The hold of everything, set and released → its row, and a line of the record for each act.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Outbox, openOutbox } from '../../../../src/outbox/outbox.ts';
import { at, type TestStore, testStore } from '../../../virtual/outbox-fixture.ts';

function reopened({ outbox, folder, time }: TestStore): Outbox {
  outbox.close();
  return openOutbox(folder, { deps: time, lock: true });
}

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
