// The store for approvals, on disk and in memory → the same promises of both.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { pino } from 'pino';
import type { ApprovalStore } from '../../../src/approvals/store.ts';
import { FIRST_PART } from '../../../src/approvals/views/queries.ts';
import { approvalStore } from '../../../src/bridge/running-flow.ts';
import type { EventApproval } from '../../../src/model/approvals.ts';
import { Committer } from '../../../src/outbox/committer.ts';
import { MemoryApprovalStore } from '../../virtual/memory-approval-store.ts';
import { approvalStep, at, knownEvent, knownState, testStore } from '../../virtual/outbox-fixture.ts';
import { approvalChange, context, eventApproval } from '../cloudevents/changes.ts';

interface World {
  readonly store: ApprovalStore;
  /** The event a, occurrence 1, ends and comes back as occurrence 3. */
  readonly comeBack: (endedMs: number) => void;
  /** What was told to be on disk, by id. */
  readonly committed: string[];
}

/** The events a and b are known, as occurrences 1 and 2. */
function onDisk(t: TestContext): World {
  const { outbox, time } = testStore(t);
  const committed: string[] = [];
  const onCommitted = (entries: readonly { readonly id: string }[]) => committed.push(...entries.map(({ id }) => id));
  const committer = new Committer({ outbox, logger: pino({ level: 'silent' }), onCommitted });
  const routes = { sinks: [], resources: 'all' } as const;
  const store = approvalStore(committer, {
    speaker: () => context,
    known: () => committer.state.events,
    routes: () => routes,
    outbox,
    clock: time,
  });
  outbox.transact((transaction) => transaction.saveState(knownState([knownEvent('a', 1), knownEvent('b', 2)])));
  const comeBack = (endedMs: number): void => {
    const lastGoodAt = at(endedMs);
    outbox.transact((transaction) => transaction.saveState(knownState([knownEvent('b', 2)], { lastGoodAt })));
    outbox.transact((transaction) =>
      transaction.saveState(knownState([knownEvent('b', 2), knownEvent('a', 3)], { lastGoodAt })),
    );
    store.commit((transaction) => transaction.saveApproval(ballot({ occurrence: 3 })));
  };
  return { store, comeBack, committed };
}

function inMemory(): World {
  const store = new MemoryApprovalStore();
  const comeBack = (endedMs: number): void => {
    store.end('a', 1, endedMs);
    store.commit((transaction) => transaction.saveApproval(ballot({ occurrence: 3 })));
  };
  return { store, comeBack, committed: [] };
}

function ballot(more: Partial<EventApproval> = {}): EventApproval {
  const { votes, ...rest } = eventApproval({ key: 'a', decision: null, at: at(500), ...more });
  return { ...rest, votes: votes.map((vote) => ({ ...vote, at: at(vote.at.wallMs) })) };
}

for (const [where, world] of Object.entries({ 'on disk': onDisk, 'in memory': inMemory })) {
  test(`what a transaction wrote is there, ${where}: approvals without elapsed time, the record in its order, used ids`, (t) => {
    const { store } = world(t);
    const decided = { by: 'policy', atOnce: false, dueMs: 3, rule: null, isSpent: false, window: null } as const;
    const hold = { approver: 'billing', via: 'token', isShared: false, reason: 'a dump', sentMs: 5, replaced: null };
    store.commit((transaction) => {
      transaction.addSteps(1, [approvalStep('recorded', { approver: 'orders' })]);
      const ticking = { wallMs: 7, elapsedMs: 3 };
      const holds = [{ ...hold, at: ticking }];
      transaction.saveApproval(ballot({ at: ticking, holds, decision: { ...decided, at: ticking } }));
      transaction.addSteps(1, [approvalStep('decided'), approvalStep('answered', { status: 503 })]);
      transaction.addSteps(2, [approvalStep('left')]);
      transaction.publish([approvalChange({ id: 'recorded:1' })]);
    });
    const written = ballot({ at: at(7), holds: [{ ...hold, at: at(7) }], decision: { ...decided, at: at(7) } });
    assert.deepEqual(store.approvals.open(), [written]);
    assert.deepEqual(store.approvals.of(1), written);
    assert.equal(store.approvals.of(2), null);
    const answered = approvalStep('answered', { status: 503 });
    assert.deepEqual(store.approvals.record(1, FIRST_PART).steps, [
      approvalStep('recorded', { approver: 'orders' }),
      approvalStep('decided'),
      answered,
    ]);
    assert.deepEqual(store.approvals.record(2, FIRST_PART).steps, [approvalStep('left')]);
    assert.deepEqual(store.approvals.record(3, FIRST_PART).steps, []);
    assert.deepEqual([store.journal.isUsed('recorded:1'), store.journal.isUsed('recorded:2')], [true, false]);
  });

  test(`a transaction that throws has written nothing, ${where}`, (t) => {
    const { store, committed } = world(t);
    store.commit((transaction) => transaction.addSteps(1, [approvalStep('recorded')]));
    assert.throws(
      () =>
        store.commit((transaction) => {
          transaction.saveApproval(ballot());
          transaction.addSteps(1, [approvalStep('decided')]);
          transaction.publish([approvalChange({ id: 'recorded:1' })]);
          transaction.handleMessage({ source: 'topic', id: '1' }, null, 5);
          throw new Error('a mistake');
        }),
      /^Error: a mistake$/,
    );
    assert.deepEqual(
      [store.approvals.open(), store.approvals.of(1), store.approvals.record(1, FIRST_PART).steps],
      [[], null, [approvalStep('recorded')]],
    );
    assert.deepEqual(
      [store.journal.isUsed('recorded:1'), store.messages.find('topic', '1'), committed],
      [false, null, []],
    );
  });

  test(`an occurrence that has ended keeps approvals and record, and the newest of its event is found, ${where}`, (t) => {
    const { store, comeBack } = world(t);
    store.commit((transaction) => {
      transaction.saveApproval(ballot());
      transaction.addSteps(1, [approvalStep('submitted')]);
    });
    assert.deepEqual(
      [store.known.lastOccurrence('a'), store.known.lastEndedMs('a')],
      [{ occurrence: 1, endedMs: null }, null],
    );
    comeBack(1_000_700);
    assert.deepEqual(
      [store.known.lastOccurrence('a'), store.known.lastEndedMs('a')],
      [{ occurrence: 3, endedMs: null }, 1_000_700],
    );
    assert.deepEqual(store.approvals.open(), [ballot({ occurrence: 3 })]);
    assert.deepEqual(
      [store.approvals.of(1), store.approvals.record(1, FIRST_PART).steps],
      [ballot(), [approvalStep('submitted')]],
    );
    assert.equal(store.known.lastOccurrence('nobody'), null);
  });
}

test('a published CloudEvent is reported once it is on disk', (t) => {
  const { store, committed } = onDisk(t);
  store.commit((transaction) => {
    transaction.publish([approvalChange({ id: 'recorded:1' })]);
    transaction.publish([approvalChange({ id: 'recorded:2' })]);
    assert.deepEqual(committed, []);
  });
  assert.deepEqual(committed, ['recorded:1', 'recorded:2']);
});
