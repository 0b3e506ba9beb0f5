// An occurrence's approvals + a vote, hold, release, deadline or change → its new approvals.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  review,
  stands,
  withAllotment,
  withDeadline,
  withHold,
  withoutAllotment,
  withoutHolds,
  withVote,
} from '../../../../src/approvals/record/transitions.ts';
import { type GovernedEvent, govern } from '../../../../src/approvals/rules/governed.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import { RulesInForce, type RulesOptions } from '../../../../src/approvals/rules/rules-in-force.ts';
import type {
  ApprovalDecision,
  ApprovalHold,
  ApprovalState,
  ApprovalVote,
  EventApproval,
} from '../../../../src/model/approvals.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { momentAt, START_MS, scheduledEvent } from '../../../support/events.ts';
import { RULES } from '../../../virtual/approvals-fixture.ts';

const MINUTE_MS = 60_000;
const BUDGETS = { databases: { resources: ['*'], atMost: 1, restMs: 0 } };
const APPROVE: PolicyRule = { when: {}, then: 'approve' };
/** Falls due in minute 20 of an event with NotBefore in minute 25. */
const DEADLINE: PolicyRule = { when: {}, then: 'wait', deadline: { beforeMs: 5 * MINUTE_MS, then: 'approve' } };
const DUE_MS = START_MS + 20 * MINUTE_MS;
const WAITING: EventApproval = {
  ...{ key: 'a', occurrence: 1, state: 'waiting', votes: [], holds: [], decision: null },
  ...{ policy: null, isDryRun: false, at: momentAt(0) },
};
const TOLD = { approver: 'orders', via: 'token', isShared: false, hasSeen: false };

function rulesOf(policy: readonly PolicyRule[], more: Partial<RulesOptions> = {}): RulesInForce {
  return new RulesInForce({ ...RULES, policy, budgets: BUDGETS, ...more });
}

function budgeted(rule: PolicyRule): RulesInForce {
  return rulesOf([{ ...rule, budgets: ['databases'] }]);
}

/** With NotBefore in minute 25, and under these rules since the first minute. */
function governed(rules: RulesInForce, fields: Partial<ScheduledEvent> = {}): GovernedEvent {
  const event = scheduledEvent({ notBefore: new Date(START_MS + 25 * MINUTE_MS).toISOString(), ...fields });
  return { known: { key: 'a', occurrence: 1, event }, governed: govern(rules, event, momentAt(0), null) };
}

function vote(fields: Partial<ApprovalVote> = {}): ApprovalVote {
  return { ...TOLD, at: momentAt(0), event: scheduledEvent(), ...fields };
}

function hold(approver: string, fields: Partial<ApprovalHold> = {}): ApprovalHold {
  return {
    ...{ approver, via: 'token', isShared: false, reason: null, at: momentAt(0), sentMs: null, replaced: null },
    ...fields,
  };
}

function decision(by: ApprovalDecision['by'], fields: Partial<ApprovalDecision> = {}): ApprovalDecision {
  return { by, at: momentAt(0), atOnce: false, dueMs: null, rule: null, isSpent: false, window: null, ...fields };
}

function minute(minutes: number) {
  return momentAt(minutes * MINUTE_MS);
}

for (const [what, earlier, said, after] of [
  ['the same again', {}, {}, null],
  ['the same again, to every bridge', { isShared: true }, { isShared: true }, null],
  ['to every bridge after to this one', {}, { isShared: true, via: 'source:topic' }, null],
  ['having seen the event, again', { hasSeen: true }, { hasSeen: true }, null],
  ['not having seen the event, after having seen it', { hasSeen: true }, {}, null],
  ['to this bridge after to every one', { isShared: true, via: 'source:topic' }, {}, {}],
  ['having seen the event now', {}, { hasSeen: true }, { hasSeen: true }],
  [
    'having seen the event now, another way',
    { via: 'certificate' },
    { hasSeen: true },
    { via: 'certificate', hasSeen: true },
  ],
] as const satisfies readonly (readonly [
  string,
  Partial<ApprovalVote>,
  Partial<ApprovalVote>,
  Partial<ApprovalVote> | null,
])[]) {
  test(`a repeated vote, ${what}: ${after === null ? 'nothing is recorded' : 'the vote is replaced and keeps its time'}`, () => {
    const rules = rulesOf([], { required: 'all' });
    const votes = [vote({ approver: 'billing', hasSeen: false }), vote(earlier)];
    const before: EventApproval = {
      ...WAITING,
      votes,
      decision: decision('quorum', { atOnce: true }),
      state: 'submitting',
    };
    const voted = withVote(rules, before, governed(rules), { ...TOLD, ...said }, minute(1));
    if (after === null) assert.equal(voted, before);
    else assert.deepEqual(voted.votes, [votes[0], vote(after)]);
  });
}

test('a vote for what the service has accepted is added, and the decision stays as it was posted', () => {
  const accepted: EventApproval = { ...WAITING, state: 'submitted', decision: decision('policy'), policy: 'policy[3]' };
  const rules = rulesOf([]);
  const after = withVote(rules, accepted, governed(rules), TOLD, minute(1));
  assert.deepEqual(
    after.votes.map(({ approver }) => approver),
    ['orders'],
  );
  assert.deepEqual([after.decision, after.policy, after.state], [accepted.decision, 'policy[3]', 'submitted']);
});

test('a hold that stood at a start which Azure took back holds again when it is set again', () => {
  const rules = rulesOf([]);
  const moot: EventApproval = { ...WAITING, state: 'moot', holds: [hold('billing')] };
  const after = withHold(rules, moot, governed(rules), hold('billing', { at: minute(1) }));
  assert.deepEqual([after.state, after.holds.length], ['held', 1]);
});

test('the same hold in another way is recorded, and one in the same way is not', () => {
  const rules = rulesOf([]);
  const held = withHold(rules, null, governed(rules), hold('billing', { reason: 'busy' }));
  const again = withHold(rules, held, governed(rules), hold('billing', { reason: 'busy', at: minute(1) }));
  assert.equal(again, held);
  const more = { reason: 'busy', via: 'certificate', at: minute(1) };
  assert.deepEqual(
    withHold(rules, held, governed(rules), hold('billing', more)).holds.map(({ via }) => via),
    ['certificate'],
  );
});

test('a hold counts the reasons that it had before, and keeps the time of the first', () => {
  const rules = rulesOf([]);
  const told = [1, 2, 3].map((minutes) => hold('billing', { reason: `number ${minutes}`, at: minute(minutes) }));
  const each: EventApproval[] = [];
  for (const next of told) each.push(withHold(rules, each.at(-1) ?? null, governed(rules), next));
  assert.deepEqual(
    each.map(({ holds: [only] }) => only?.replaced),
    [null, { times: 1, sinceMs: minute(1).wallMs }, { times: 2, sinceMs: minute(1).wallMs }],
  );
});

function heldUnder(rules: RulesInForce, decided: ApprovalDecision, ...holders: readonly string[]): EventApproval {
  const holds = holders.map((approver) => hold(approver));
  const votes = decided.by === 'quorum' ? [vote()] : [];
  const { policy } = governed(rules).governed.ruling;
  return { ...WAITING, state: 'held', votes, holds, decision: decided, policy };
}

function released(rules: RulesInForce, held: EventApproval, minutes: number): EventApproval {
  return withoutHolds(rules, held, governed(rules), ({ approver }) => approver === 'billing', minute(minutes));
}

test('a release after NotBefore drops the decision of a deadline only when no other hold stands', () => {
  const rules = rulesOf([DEADLINE]);
  const { rule } = governed(rules).governed.ruling;
  const due = decision('deadline', { dueMs: DUE_MS, rule, at: minute(20) });
  const one = released(rules, heldUnder(rules, due, 'billing', 'orders'), 26);
  assert.deepEqual([one.state, one.decision], ['held', due]);
  const last = released(rules, heldUnder(rules, due, 'billing'), 26);
  assert.deepEqual([last.state, last.decision], ['waiting', null]);
  const inTime = released(rules, heldUnder(rules, due, 'billing'), 24);
  assert.deepEqual([inTime.state, inTime.decision], ['submitting', due]);
});

for (const [by, rules] of [
  ['quorum', rulesOf([])],
  ['policy', rulesOf([APPROVE])],
] as const) {
  test(`a release after NotBefore leaves a decision by ${by} as it was, with its time`, () => {
    const { rule } = governed(rules).governed.ruling;
    const decided = decision(by, { rule, atOnce: by === 'quorum' });
    const after = released(rules, heldUnder(rules, decided, 'billing'), 26);
    assert.deepEqual([after.state, after.decision], ['submitting', decided]);
  });
}

for (const [what, approval] of [
  [
    'approvers decided, and somebody holds',
    { state: 'held', votes: [vote()], decision: decision('quorum'), holds: [hold('billing')] },
  ],
  ['a dry run decided before', { decision: decision(null, { isSpent: true }) }],
  ['the service refused', { state: 'failed' }],
  ['the service accepted', { state: 'submitted' }],
] as const satisfies readonly (readonly [string, Partial<EventApproval>])[]) {
  test(`a deadline that expires changes nothing of what ${what}`, () => {
    const rules = rulesOf([DEADLINE]);
    const before: EventApproval = { ...WAITING, ...approval };
    assert.equal(withDeadline(rules, before, governed(rules), minute(20)), before);
  });
}

test('a deadline that expires approves what waits, and under a hold it decides', () => {
  const rules = rulesOf([DEADLINE]);
  assert.equal(withDeadline(rules, null, governed(rules), minute(20))?.state, 'submitting');
  const held = withDeadline(
    rules,
    { ...WAITING, state: 'held', holds: [hold('billing')] },
    governed(rules),
    minute(20),
  );
  assert.deepEqual([held?.state, held?.decision?.by], ['held', 'deadline']);
});

test('only a rule with budgets waits until it fits them, from its time on and, for a deadline, until NotBefore', () => {
  const decidedIn = (rules: RulesInForce, minutes: number, approval: EventApproval | null = null) => {
    const after = withAllotment(rules, approval, governed(rules), minute(minutes));
    return after === null ? null : after.decision?.by;
  };
  assert.equal(decidedIn(rulesOf([APPROVE]), 1), null);
  assert.equal(decidedIn(budgeted(APPROVE), 1), 'policy');
  assert.equal(decidedIn(budgeted(APPROVE), 26), 'policy', 'Azure may be late');
  const rules = budgeted(DEADLINE);
  assert.equal(decidedIn(rules, 1), null, 'its deadline is ahead');
  const due = withDeadline(rules, null, governed(rules), minute(20));
  assert.equal(due?.state, 'waiting');
  assert.equal(decidedIn(rules, 21, due), 'deadline');
  assert.equal(decidedIn(rules, 25, due), null, 'NotBefore has passed');
});

test('only the decision of a rule with budgets that is still to be posted is taken back', () => {
  const rules = budgeted(APPROVE);
  const decided = withAllotment(rules, null, governed(rules), minute(1)) ?? assert.fail();
  const takenBack = (approval: EventApproval, under = rules) =>
    withoutAllotment(under, approval, governed(under), minute(2))?.state;
  assert.equal(takenBack(decided), 'waiting');
  for (const state of ['dry-run', 'submitted', 'failed'] as const)
    assert.equal(takenBack({ ...decided, state }), undefined, state);
  assert.equal(takenBack({ ...decided, votes: [vote()] }), undefined, 'approvers decide it too');
  assert.equal(takenBack({ ...decided, votes: [vote()], decision: decision('quorum') }), undefined);
  assert.equal(takenBack({ ...decided, decision: decision('quorum') }), undefined, 'approvers decided it');
  assert.equal(takenBack(decided, rulesOf([APPROVE])), undefined, 'the rule has no budget now');
  assert.equal(takenBack(decided, rulesOf([])), undefined, 'no rule decides it now');
});

for (const [state, isStanding] of [
  ['waiting', false],
  ['held', true],
  ['submitting', true],
  ['submitted', true],
  ['failed', false],
  ['moot', false],
  ['unknown', false],
  ['dry-run', true],
] as const satisfies readonly (readonly [ApprovalState, boolean])[]) {
  test(`an expired deadline has ${isStanding ? 'nothing' : 'something'} to leave to Azure if the approvals are ${state}`, () => {
    assert.equal(stands({ ...WAITING, state, decision: decision('policy') }), isStanding);
  });
}

for (const [state, dryRun] of [
  ['submitted', false],
  ['dry-run', true],
] as const) {
  test(`no vote of approvals that are ${state} is void when the event gets worse`, () => {
    const before: EventApproval = {
      ...WAITING,
      state,
      votes: [vote()],
      decision: decision('quorum'),
      isDryRun: dryRun,
    };
    const rules = rulesOf([], { dryRun });
    const after = review(rules, before, governed(rules, { eventType: 'Terminate' }), minute(1));
    assert.deepEqual(after, { approval: before, voided: [] });
  });
}

test('what a rule decided and the service refused waits for approvers again when the rule is gone', () => {
  const rules = rulesOf([], { required: 'all' });
  const votes = [vote({ event: governed(rules).known.event })];
  const before: EventApproval = { ...WAITING, state: 'failed', votes, decision: decision('policy') };
  assert.equal(review(rules, before, governed(rules), minute(1)).approval?.state, 'waiting');
  const ofApprovers = { ...before, decision: decision('quorum') };
  assert.equal(review(rules, ofApprovers, governed(rules), minute(1)).approval?.state, 'failed');
});
