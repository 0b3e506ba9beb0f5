// The ledger: what it emits after a commit, and what may have been accepted.
import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_CHANGE, type Pending } from '../../../../src/approvals/record/audit-trail.ts';
import { Doubts, recordedDoubt } from '../../../../src/approvals/record/doubts.ts';
import { Ledger } from '../../../../src/approvals/record/ledger.ts';
import { govern } from '../../../../src/approvals/rules/governed.ts';
import { RulesInForce } from '../../../../src/approvals/rules/rules-in-force.ts';
import {
  APPROVAL_STATES,
  type ApprovalStepName,
  AWAITED_ANSWER,
  type EventApproval,
  LOST_ANSWER,
} from '../../../../src/model/approvals.ts';
import { momentAt, scheduledEvent } from '../../../support/events.ts';
import { RULES } from '../../../virtual/approvals-fixture.ts';
import { MemoryApprovalStore } from '../../../virtual/memory-approval-store.ts';

const RULES_IN_FORCE = new RulesInForce({ ...RULES, policy: [{ when: {}, then: 'approve' }] });
const WAITING: EventApproval = {
  ...{ key: 'a', occurrence: 1, state: 'waiting', votes: [], holds: [], decision: null },
  ...{ policy: null, isDryRun: false, at: momentAt(0) },
};
const NEWS: Pending = { ...NO_CHANGE, isNews: true };

function opened() {
  const deadlines = new Map<string, number | null>();
  const store = new MemoryApprovalStore();
  const ledger = new Ledger({
    rules: RULES_IN_FORCE,
    store,
    deps: { wallMs: () => momentAt(0).wallMs },
    deadlines: { set: (key, dueMs) => void deadlines.set(key, dueMs) },
  });
  const emitted: string[] = [];
  ledger.decided$.subscribe(({ key }) => emitted.push(key));
  ledger.committed$.subscribe(() => emitted.push('committed'));
  return { ledger, store, deadlines, emitted };
}

test('only approvals that must be posted are emitted: when they are kept, and again at each reminder', () => {
  const { ledger, emitted } = opened();
  for (const [index, state] of APPROVAL_STATES.entries())
    ledger.keep({ ...WAITING, key: state, occurrence: index, state });
  assert.deepEqual(emitted, ['submitting']);
  ledger.remind();
  ledger.remind();
  assert.deepEqual(emitted, ['submitting', 'submitting', 'submitting']);
});

test('each commit is announced, and of several in one only their end', () => {
  const { ledger, store, emitted } = opened();
  ledger.commit([NEWS]);
  assert.deepEqual(emitted, ['committed']);
  ledger.inOne(() => {
    ledger.commit([NEWS]);
    ledger.commit([NEWS]);
    assert.deepEqual(emitted, ['committed']);
  });
  assert.deepEqual(emitted, ['committed', 'committed']);
  ledger.commit([NEWS]);
  assert.deepEqual(emitted, ['committed', 'committed', 'committed']);
  ledger.commit([NO_CHANGE]);
  assert.equal(store.transactions, 4, 'without news, nothing is written');
});

test('several commits in one that fail announce nothing, and those after them are announced', () => {
  const { ledger, store, emitted } = opened();
  store.fault = new Error('the disk is full');
  assert.throws(() => ledger.inOne(() => ledger.commit([NEWS])), /disk is full/);
  assert.deepEqual(emitted, []);
  store.fault = null;
  ledger.commit([NEWS]);
  assert.deepEqual(emitted, ['committed']);
});

test('an event that has ended leaves nothing behind: no approvals, no deadline, no rule and no doubt', () => {
  const { ledger, deadlines } = opened();
  const known = { key: 'a', occurrence: 1, event: scheduledEvent() };
  ledger.governedEvents.keep(known, govern(RULES_IN_FORCE, known.event, momentAt(0), null));
  deadlines.set('a', 5);
  ledger.keep(WAITING);
  ledger.doubts.add(WAITING);
  ledger.forget(known);
  assert.equal(ledger.approvalOf('a', 1), null);
  assert.equal(ledger.governedEventOf(known), null);
  assert.equal(deadlines.get('a'), null);
  assert.equal(ledger.doubts.mayBeAccepted(WAITING), false);
});

/** `answered lost submitted`: the lines of a record, with the reason of an answer behind it. */
function doubtOf(lines: string, others = 0): string | null {
  const store = new MemoryApprovalStore();
  const steps = [...Array<string>(others).fill('void'), ...lines.split(' ')].map((line) => {
    const [step = '', reason = null] = line.split(':');
    return {
      ...{ atMs: 0, approver: null, via: null, policy: null, status: null },
      step: step as ApprovalStepName,
      reason,
    };
  });
  store.commit((transaction) => transaction.addSteps(1, steps));
  return recordedDoubt(store, 1);
}

for (const [lines, doubt] of [
  ['decided', null],
  [`answered:${AWAITED_ANSWER}`, 'awaited'],
  [`answered:${AWAITED_ANSWER} void dropped`, 'awaited'],
  [`answered:${AWAITED_ANSWER} answered`, null],
  [`answered:${LOST_ANSWER}`, 'lost'],
  [`answered:${LOST_ANSWER} void failed`, 'lost'],
  [`answered:${LOST_ANSWER} answered`, 'lost'],
  [`answered:${AWAITED_ANSWER} answered:${LOST_ANSWER}`, 'lost'],
  [`answered:${LOST_ANSWER} answered:${AWAITED_ANSWER}`, 'lost'],
  ...['submitted', 'confirmed', 'moot', 'unknown'].flatMap((settled) => [
    [`answered:${AWAITED_ANSWER} ${settled}`, null],
    [`answered:${LOST_ANSWER} ${settled}`, null],
    [`answered:${LOST_ANSWER} ${settled} answered:${LOST_ANSWER}`, 'lost'],
  ]),
] as [string, string | null][]) {
  test(`a record with ${lines} says of a StartRequest: ${doubt ?? 'no doubt'}`, () => {
    assert.equal(doubtOf(lines), doubt);
    assert.equal(doubtOf(lines, 199), doubt, 'over two parts');
  });
}

test('a StartRequest on its way needs a line, until the record has it or its answer', () => {
  const doubts = new Doubts();
  doubts.sent(WAITING);
  assert.equal(doubts.unrecorded(WAITING), AWAITED_ANSWER);
  doubts.recorded(WAITING, AWAITED_ANSWER);
  assert.equal(doubts.unrecorded(WAITING), null);
  doubts.recorded(WAITING, null);
  doubts.answered(WAITING);
  assert.equal(doubts.unrecorded(WAITING), null);
  doubts.sent(WAITING);
  assert.equal(doubts.unrecorded(WAITING), AWAITED_ANSWER, 'the line of the one before was answered');
});

test('a lost answer needs one line, which lasts if another answer is lost', () => {
  const doubts = new Doubts();
  doubts.add(WAITING);
  assert.equal(doubts.unrecorded(WAITING), LOST_ANSWER);
  doubts.recorded(WAITING, LOST_ANSWER);
  assert.equal(doubts.unrecorded(WAITING), null);
  doubts.add(WAITING);
  assert.equal(doubts.unrecorded(WAITING), null);
  const next = new Doubts();
  next.add(WAITING, true);
  assert.equal(next.unrecorded(WAITING), null, 'read from the record by the next process');
});

test('a doubt is about one occurrence of one event, and ends when it is settled or the event ends', () => {
  const doubts = new Doubts();
  doubts.add(WAITING);
  assert.equal(doubts.mayBeAccepted({ ...WAITING, occurrence: 2 }), false);
  assert.equal(doubts.mayBeAccepted({ ...WAITING, key: 'b' }), false);
  assert.equal(doubts.passedBy(WAITING), 'unknown');
  doubts.see(WAITING);
  assert.equal(doubts.passedBy(WAITING), 'unknown', 'it still waits');
  for (const state of ['submitted', 'confirmed', 'moot', 'unknown'] as const) {
    doubts.add(WAITING);
    doubts.see({ ...WAITING, state });
    assert.equal(doubts.passedBy(WAITING), 'moot', state);
  }
  doubts.sent(WAITING);
  doubts.recorded(WAITING, AWAITED_ANSWER);
  doubts.forget(WAITING);
  assert.equal(doubts.isRecordedAsAwaited(WAITING), false);
});
