// Approvals and their record → what the store gives back, to the next process too.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { FIRST_PART } from '../../../src/approvals/views/queries.ts';
import type { EventApproval } from '../../../src/model/approvals.ts';
import { DATABASE_FILE } from '../../../src/outbox/folder.ts';
import { type Outbox, openOutbox } from '../../../src/outbox/outbox.ts';
import { scheduledEvent } from '../../support/events.ts';
import { approvalStep, at, knownEvent, knownState, type TestStore, testStore } from '../../virtual/outbox-fixture.ts';

const ORDERS = { approver: 'orders', via: 'certificate', isShared: false };
const TOPIC = { approver: 'billing', via: 'source:topic', isShared: true };

function approval(more: Partial<EventApproval> = {}): EventApproval {
  return {
    ...{ key: 'a', occurrence: 1, state: 'held', policy: 'policy[0]', isDryRun: false, at: at(9) },
    votes: [
      { ...ORDERS, at: at(5), event: scheduledEvent(), hasSeen: true },
      { ...TOPIC, at: at(6), event: scheduledEvent({ notBefore: null }), hasSeen: false },
    ],
    holds: [
      { ...TOPIC, reason: 'a "dump"\nis running', at: at(7), sentMs: 4, replaced: null },
      { ...ORDERS, reason: null, at: at(8), sentMs: null, replaced: { times: 2, sinceMs: 3 } },
    ],
    decision: {
      by: 'deadline',
      at: at(6),
      atOnce: false,
      dueMs: 4,
      rule: '0123456789abcdef',
      isSpent: true,
      window: null,
    },
    ...more,
  };
}

function save(store: TestStore, ...approvals: readonly EventApproval[]): void {
  store.outbox.transact((transaction) => {
    for (const one of approvals) transaction.saveApproval(one);
  });
}

function reopened(store: TestStore): Outbox {
  store.outbox.close();
  return openOutbox(store.folder, { deps: store.time, lock: true });
}

test('approvals come back with their votes, holds and decision, moments without elapsed time', (t) => {
  const store = testStore(t);
  const whole = approval();
  const elapsed = { elapsedMs: 17 };
  const ticking = approval({
    at: { ...whole.at, ...elapsed },
    votes: whole.votes.map((vote) => ({ ...vote, at: { ...vote.at, ...elapsed } })),
    holds: whole.holds.map((hold) => ({ ...hold, at: { ...hold.at, ...elapsed } })),
    decision: whole.decision && { ...whole.decision, at: { ...whole.decision.at, ...elapsed } },
  });
  const bare = approval({
    occurrence: 2,
    state: 'dry-run',
    votes: [],
    holds: [],
    decision: null,
    policy: null,
    isDryRun: true,
  });
  save(store, ticking, bare);
  using again = reopened(store);
  assert.deepEqual(again.approvals.of(1), whole);
  assert.deepEqual(again.approvals.of(2), bare);
});

test('open approvals are the last write of each occurrence that has not ended; the others are found by number', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => transaction.saveState(knownState([knownEvent('a', 1), knownEvent('b', 2)])));
  const [first, second] = [approval(), approval({ key: 'b', occurrence: 2, state: 'submitted', holds: [] })];
  save(store, approval({ votes: [] }), first, second);
  assert.deepEqual(store.outbox.approvals.open(), [first, second]);
  store.outbox.transact((transaction) => transaction.saveState(knownState([knownEvent('b', 2)])));
  assert.deepEqual(store.outbox.approvals.open(), [second]);
  assert.deepEqual(store.outbox.approvals.of(1), first);
  assert.equal(store.outbox.approvals.of(3), null);
});

test('a decision that a version before stored, without the content of its rule, is read', (t) => {
  const store = testStore(t);
  save(store, approval());
  store.outbox.close();
  const database = new DatabaseSync(join(store.folder, DATABASE_FILE));
  database.exec("UPDATE approvals SET decision = json_remove(decision, '$.rule'), sum = NULL");
  database.close();
  using again = openOutbox(store.folder, { deps: store.time, lock: true });
  assert.deepEqual(again.approvals.of(1)?.decision, { ...approval().decision, rule: null });
});

test('the record of an occurrence is read in the order in which it was written, with unchanged lines', (t) => {
  const store = testStore(t);
  const lines = [
    approvalStep('recorded', { approver: 'orders', via: 'token', policy: 'documentation', atMs: 9 }),
    approvalStep('decided', { reason: 'quorum', atMs: 9 }),
    approvalStep('answered', { status: 503, atMs: 8 }),
    approvalStep('answered', { status: 'ECONNREFUSED', reason: 'nobody listens', atMs: 10 }),
    approvalStep('submitted', { status: 200, atMs: 11 }),
  ];
  store.outbox.transact((transaction) => transaction.addSteps(1, lines.slice(0, 2)));
  store.outbox.transact((transaction) => {
    transaction.addSteps(2, [approvalStep('left')]);
    transaction.addSteps(1, lines.slice(2, 3));
    transaction.addSteps(1, []);
    transaction.addSteps(1, lines.slice(3));
  });
  using again = reopened(store);
  assert.deepEqual(again.approvals.record(1, FIRST_PART).steps, lines);
  assert.deepEqual(again.approvals.record(2, FIRST_PART).steps, [approvalStep('left')]);
  assert.deepEqual(again.approvals.record(3, FIRST_PART).steps, []);
});

test('a transaction that fails leaves approvals and record as they were', (t) => {
  const store = testStore(t);
  save(store, approval());
  store.outbox.transact((transaction) => transaction.addSteps(1, [approvalStep('held')]));
  const work = (): void =>
    store.outbox.transact((transaction) => {
      transaction.saveApproval(approval({ state: 'submitting', holds: [] }));
      transaction.addSteps(1, [approvalStep('released')]);
      throw new Error('a mistake');
    });
  assert.throws(work, /^Error: a mistake$/);
  assert.deepEqual(store.outbox.approvals.of(1), approval());
  assert.deepEqual(store.outbox.approvals.record(1, FIRST_PART).steps, [approvalStep('held')]);
});

test('a record that does not fit on the disk rolls its approvals back', (t) => {
  const store = testStore(t, { maxPages: 60 });
  const long = approvalStep('failed', { reason: 'x'.repeat(4000) });
  const work = (): void =>
    store.outbox.transact((transaction) => {
      transaction.saveApproval(approval());
      transaction.addSteps(
        1,
        Array.from({ length: 100 }, () => long),
      );
    });
  assert.throws(work, { code: 'BRIDGE_STORE_FULL' });
  assert.deepEqual([store.outbox.approvals.of(1), store.outbox.approvals.record(1, FIRST_PART).steps], [null, []]);
});

test('a line of the record cannot be changed by any program that opens the database', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => transaction.addSteps(1, [approvalStep('held', { approver: 'orders' })]));
  const other = new DatabaseSync(join(store.folder, 'outbox.db'));
  t.after(() => other.close());
  assert.throws(
    () => other.exec(`UPDATE approval_steps SET approver = 'billing'`),
    /a line of the record of approvals never changes/,
  );
  assert.equal(store.outbox.approvals.record(1, FIRST_PART).steps[0]?.approver, 'orders');
});

test('no statement of the program changes or removes a line of the record, except the one that deletes an old occurrence', () => {
  const root = join(import.meta.dirname, '../../..');
  const statements = globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
    [
      ...readFileSync(join(root, path), 'utf8').matchAll(
        /(UPDATE|DELETE FROM|REPLACE INTO|DROP TABLE)\s+approval_steps[^`']*/g,
      ),
    ].map(([sql]) => `${path}: ${sql}`),
  );
  assert.deepEqual(statements, ['src/outbox/retention.ts: DELETE FROM approval_steps WHERE occurrence = ?']);
});
