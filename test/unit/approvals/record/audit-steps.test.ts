// stepsBetween: which lines the record of an occurrence gets, and in which order.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type StepContext, stepsBetween } from '../../../../src/approvals/record/audit-steps.ts';
import type { ApprovalDecision, ApprovalHold, ApprovalVote, EventApproval } from '../../../../src/model/approvals.ts';
import { momentAt, scheduledEvent } from '../../../support/events.ts';

const AT = { atMs: 5 };
const WAITING: EventApproval = {
  ...{ key: 'a', occurrence: 1, state: 'waiting', votes: [], holds: [], decision: null },
  ...{ policy: 'policy[1]', isDryRun: false, at: momentAt(0) },
};
const QUORUM: ApprovalDecision = {
  by: 'quorum',
  at: momentAt(0),
  atOnce: true,
  dueMs: null,
  rule: null,
  isSpent: false,
  window: null,
};

function vote(approver: string, ms = 0): ApprovalVote {
  return { approver, via: 'token', isShared: false, at: momentAt(ms), event: scheduledEvent(), hasSeen: false };
}

function hold(approver: string, reason: string | null = null): ApprovalHold {
  return { approver, via: 'source:topic', isShared: true, reason, at: momentAt(0), sentMs: null, replaced: null };
}

function told(
  before: EventApproval | null,
  after: Partial<EventApproval>,
  context: StepContext = AT,
): readonly string[] {
  return stepsBetween(before, { ...WAITING, ...after }, context).map(({ step, approver, via, status, reason }) =>
    [step, approver, via, status, reason].filter((part) => part !== null).join(' '),
  );
}

test('each line has the time and the governing rule, and nulls if no approver caused it', () => {
  assert.deepEqual(stepsBetween(null, { ...WAITING, state: 'submitting', decision: { ...QUORUM, by: 'policy' } }, AT), [
    { step: 'decided', atMs: 5, policy: 'policy[1]', status: null, reason: 'policy', approver: null, via: null },
  ]);
});

test('votes and holds come before decisions, and the new state comes last', () => {
  const before = { ...WAITING, votes: [vote('gone')], holds: [hold('released')] };
  const after = {
    votes: [vote('orders')],
    holds: [hold('billing', 'busy')],
    decision: QUORUM,
    state: 'failed' as const,
  };
  assert.deepEqual(
    told(before, after, { ...AT, status: 403, by: { approver: 'ops', via: 'token', isShared: false } }),
    [
      'void gone token',
      'recorded orders token',
      'held billing source:topic busy',
      'released ops token released',
      'decided quorum',
      'failed 403',
    ],
  );
});

test('there is no line if nothing changed, and none for a state that other lines imply', () => {
  const held = {
    ...WAITING,
    votes: [vote('orders')],
    holds: [hold('billing')],
    decision: QUORUM,
    state: 'held' as const,
  };
  assert.deepEqual(told(held, held), []);
  assert.deepEqual(told(held, { ...held, policy: 'policy[2]' }), []);
  assert.deepEqual(told({ ...held, holds: [] }, { ...held, holds: [], state: 'submitting' }), []);
  assert.deepEqual(told(null, { state: 'dry-run', decision: QUORUM }), ['decided quorum']);
});

test('a rule that replaces another has its own lines; a rule that only has a new number has none', () => {
  const decided = (rule: string | null): EventApproval => ({
    ...{ ...WAITING, state: 'submitting' },
    decision: { ...QUORUM, by: 'policy', rule },
  });
  assert.deepEqual(told(decided('a'), { ...decided('b'), policy: 'policy[0]' }), ['dropped policy', 'decided policy']);
  assert.deepEqual(told(decided('a'), { ...decided('a'), policy: 'policy[0]' }), []);
  assert.deepEqual(told(decided(null), decided('b')), [], 'of a version that did not keep which rule it was');
  const quorum = (rule: string) => ({ ...decided(rule), decision: { ...QUORUM, rule } });
  assert.deepEqual(told(quorum('a'), quorum('b')), [], 'a quorum is full whatever the rule');
});

test('a hold that is set again gets a line, and a vote only if it was repeated', () => {
  const orders = vote('orders');
  const before = { ...WAITING, votes: [orders], holds: [hold('billing', 'busy')] };
  assert.deepEqual(told(before, { votes: [{ ...orders, isShared: true }], holds: [hold('billing', 'still')] }), [
    'held billing source:topic still',
  ]);
  assert.deepEqual(told(before, { ...before, votes: [vote('orders', 1)] }), ['recorded orders token']);
});

test('the reasons of a hold after the tenth share one line with the newest reason when the hold or the event ends', () => {
  const replaced = (times: number) => ({ ...hold('billing', `number ${times}`), replaced: { times, sinceMs: 0 } });
  const before = (times: number) => ({ ...WAITING, holds: [replaced(times)] });
  assert.deepEqual(told(before(8), { holds: [replaced(9)] }), ['held billing source:topic number 9']);
  assert.deepEqual(told(before(9), { holds: [replaced(10)] }), []);
  const folded = (times: number, after: Partial<EventApproval>) =>
    stepsBetween(before(times), { ...WAITING, ...after }, { atMs: 5 }).map(({ step, reason, times: of }) => [
      step,
      reason,
      of,
    ]);
  assert.deepEqual(folded(9, { holds: [] }), [['released', 'billing', undefined]]);
  assert.deepEqual(folded(10, { holds: [] }), [
    ['held', 'number 10', undefined],
    ['released', 'billing', undefined],
  ]);
  assert.deepEqual(folded(29, { holds: [replaced(29)], state: 'moot' }), [
    ['held', 'number 29', 20],
    ['moot', null, undefined],
  ]);
});

test('a decision gets a line if another party makes it, and if it is dropped', () => {
  const decided = { ...WAITING, decision: QUORUM };
  assert.deepEqual(told(decided, { decision: { ...QUORUM, by: 'policy' } }), ['decided policy']);
  assert.deepEqual(told(decided, { decision: { ...QUORUM, atOnce: false } }), []);
  assert.deepEqual(told(decided, {}), ['dropped quorum']);
});

test('the new state gets one line with the answer of the metadata service; the way back from confirmed gets none', () => {
  const submitted = { ...WAITING, decision: QUORUM, state: 'submitted' as const };
  const confirmed = { ...submitted, state: 'confirmed' as const };
  assert.deepEqual(told({ ...submitted, state: 'submitting' }, submitted, { ...AT, status: 200 }), ['submitted 200']);
  assert.deepEqual(told(submitted, submitted), []);
  assert.deepEqual(told(submitted, confirmed), ['confirmed']);
  assert.deepEqual(told(confirmed, submitted), []);
  assert.deepEqual(told(WAITING, { state: 'moot' }), ['moot']);
});

test('accepted and Started at the same time: both get a line', () => {
  const submitting = { ...WAITING, decision: QUORUM, state: 'submitting' as const };
  assert.deepEqual(told(submitting, { ...submitting, state: 'confirmed' }, { ...AT, status: 200 }), [
    'submitted 200',
    'confirmed',
  ]);
});

test('a dry run takes votes over with one line each, except those that are void anyway or were refused', () => {
  const votes = [vote('orders'), vote('billing')];
  const before = { ...WAITING, votes };
  assert.deepEqual(told(before, { votes: votes.slice(0, 1), isDryRun: true }), [
    'void billing token',
    'void orders token dry-run',
  ]);
  const failed = { ...before, state: 'failed' as const };
  assert.deepEqual(told(failed, { votes, isDryRun: true, state: 'failed' }), []);
  assert.deepEqual(told({ ...before, isDryRun: true }, { votes, isDryRun: true }), []);
});
