// settled: which decision an occurrence has, since when, and when nothing is stored.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  isAllottedAlready,
  isDecidedByRule,
  isOnlySpent,
  settled,
} from '../../../../src/approvals/record/decisions.ts';
import { type Governed, govern } from '../../../../src/approvals/rules/governed.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import { RulesInForce, type RulesOptions } from '../../../../src/approvals/rules/rules-in-force.ts';
import type { ApprovalDecision, ApprovalHold, ApprovalVote, EventApproval } from '../../../../src/model/approvals.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { momentAt, START_MS, scheduledEvent } from '../../../support/events.ts';
import { RULES } from '../../../virtual/approvals-fixture.ts';

const MINUTE_MS = 60_000;
const EVERY_DAY = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const BUDGETS = { databases: { resources: ['*'], atMost: 1, restMs: 0 } };
const APPROVE: PolicyRule = { when: {}, then: 'approve' };
const OTHERWISE_NAMED: PolicyRule = { when: { impacts: ['Freeze'] }, then: 'approve' };
/** Falls due in minute 20 of an event with NotBefore in minute 25. */
const DEADLINE: PolicyRule = { when: {}, then: 'wait', deadline: { beforeMs: 5 * MINUTE_MS, then: 'approve' } };
const DUE_MS = START_MS + 20 * MINUTE_MS;
const WAITING: EventApproval = {
  ...{ key: 'a', occurrence: 1, state: 'waiting', votes: [], holds: [], decision: null },
  ...{ policy: null, isDryRun: false, at: momentAt(0) },
};
const BY_RULE: ApprovalDecision = {
  ...{ by: 'policy', at: momentAt(0), atOnce: false, dueMs: null, rule: null, isSpent: false, window: null },
};
const HOLD: ApprovalHold = {
  ...{
    approver: 'billing',
    via: 'token',
    isShared: false,
    reason: null,
    at: momentAt(0),
    sentMs: null,
    replaced: null,
  },
};

function rulesOf(policy: readonly PolicyRule[], more: Partial<RulesOptions> = {}): RulesInForce {
  return new RulesInForce({ ...RULES, policy, ...more });
}

function vote(approver: string, isShared = false): ApprovalVote {
  return { approver, via: 'token', isShared, at: momentAt(0), event: scheduledEvent(), hasSeen: false };
}

/** A rule that approves in this window, from 22:`from` to 22:`to`; the clock begins at 22:00. */
function inWindow(from: number, to: number, name = 'late'): RulesInForce {
  const time = (minutes: number) => `22:${String(minutes).padStart(2, '0')}`;
  const window = { days: EVERY_DAY, from: time(from), to: time(to), except: [], timeZone: 'UTC' };
  return rulesOf([{ ...APPROVE, during: [name] }], { windows: { [name]: window } });
}

interface Circumstances {
  readonly minute?: number;
  readonly fields?: Partial<ScheduledEvent>;
  /** When these rules began to govern the event. */
  readonly sinceMinute?: number;
  readonly fellDueMs?: number;
}

/** With NotBefore in minute 25. */
function decide(
  rules: RulesInForce,
  before: EventApproval,
  { minute = 0, fields = {}, sinceMinute = minute, fellDueMs }: Circumstances = {},
): EventApproval {
  const event = eventWith(fields);
  const governed = govern(rules, event, momentAt(sinceMinute * MINUTE_MS), null);
  const known = { key: 'a', occurrence: 1, event };
  return settled(rules, before, { known, governed }, momentAt(minute * MINUTE_MS), fellDueMs ? { fellDueMs } : {});
}

function eventWith(fields: Partial<ScheduledEvent>): ScheduledEvent {
  return scheduledEvent({ notBefore: new Date(START_MS + 25 * MINUTE_MS).toISOString(), ...fields });
}

const VOTED = { ...WAITING, votes: [vote('orders')] };

for (const [what, rules, before, how] of [
  ['a quorum', rulesOf([]), VOTED, {}],
  ['a rule', rulesOf([APPROVE]), WAITING, {}],
  ['a rule in its window', inWindow(0, 20), WAITING, {}],
  ['a deadline', rulesOf([DEADLINE]), WAITING, { fellDueMs: DUE_MS, minute: 20 }],
  ['nobody', rulesOf([DEADLINE]), { ...WAITING, policy: 'policy[0]' }, {}],
] as const) {
  test(`a decision of ${what} that is looked at again is the same object: nothing is stored`, () => {
    const decided = decide(rules, before, how);
    assert.equal(decide(rules, decided, { ...how, minute: 'minute' in how ? how.minute + 1 : 1 }), decided);
  });
}

for (const [what, rules, more] of [
  ['begins sooner', inWindow(1, 20), { fromMs: START_MS + MINUTE_MS }],
  ['ends later', inWindow(2, 22), { untilMs: START_MS + 22 * MINUTE_MS }],
  ['has another name', inWindow(2, 20, 'changes'), { window: 'changes' }],
] as const) {
  test(`a decision in a window that ${what} after a reload names the window as it is now`, () => {
    const window = { window: 'late', fromMs: START_MS + 2 * MINUTE_MS, untilMs: START_MS + 20 * MINUTE_MS };
    const decided = decide(inWindow(2, 20), WAITING, { minute: 3 });
    const { momentMs: _, ...of } = decide(rules, decided, { minute: 5 }).decision?.window ?? assert.fail();
    assert.deepEqual(of, { ...window, ...more });
  });
}

test('a rule that approves in a window that has a new end approves since the same moment', () => {
  const decided = decide(inWindow(2, 20), WAITING, { minute: 3 });
  const again = decide(inWindow(2, 22), decided, { minute: 5 });
  assert.equal(again.decision?.window?.momentMs, START_MS + 3 * MINUTE_MS);
});

for (const [what, rules, sinceMinute, moment] of [
  ['the opening, if the rule governed the event before, however late its timer is', inWindow(5, 20), 4, 5],
  ['its own moment, if the rule governs the event since the opening', inWindow(5, 20), 5, 6],
  ['its own moment, if the rule governs the event since a later time', inWindow(5, 20), 5.5, 6],
] as const) {
  test(`a decision in a window counts from ${what}`, () => {
    const { decision } = decide(rules, WAITING, { minute: 6, sinceMinute });
    assert.equal(decision?.window?.momentMs, START_MS + moment * MINUTE_MS);
  });
}

test('a decision in a window that fits its budgets only later counts from then', () => {
  const rules = rulesOf([{ ...APPROVE, during: ['late'], budgets: ['databases'] }], {
    budgets: BUDGETS,
    windows: { late: { days: EVERY_DAY, from: '22:05', to: '22:20', except: [], timeZone: 'UTC' } },
  });
  const event = eventWith({});
  const governed = govern(rules, event, momentAt(0), null);
  const governedEvent = { known: { key: 'a', occurrence: 1, event }, governed };
  const { decision } = settled(rules, WAITING, governedEvent, momentAt(6 * MINUTE_MS), { isAllotted: true });
  assert.equal(decision?.window?.momentMs, START_MS + 6 * MINUTE_MS);
});

test('what a budget has not let through has no decision, unless a deadline has expired', () => {
  const rules = rulesOf([{ ...APPROVE, budgets: ['databases'] }], { budgets: BUDGETS });
  assert.equal(decide(rules, WAITING).decision, null);
  const later = rulesOf([{ ...DEADLINE, budgets: ['databases'] }], { budgets: BUDGETS });
  const { decision, state } = decide(later, WAITING, { minute: 20, fellDueMs: DUE_MS });
  assert.deepEqual([state, decision?.by, decision?.dueMs], ['waiting', null, DUE_MS]);
});

test('of two votes, one that only this bridge received makes it post at once', () => {
  const rules = rulesOf([], { required: 'all' });
  const by = (...votes: readonly ApprovalVote[]) => decide(rules, { ...WAITING, votes }).decision?.atOnce;
  assert.equal(by(vote('orders', true), vote('billing', false)), true);
  assert.equal(by(vote('orders', true), vote('billing', true)), false);
});

test('another rule decides since now; a quorum that takes over from a rule, or a rule from a quorum, does not', () => {
  const [one, other] = [rulesOf([APPROVE]), rulesOf([OTHERWISE_NAMED])];
  const byRule = decide(one, WAITING);
  assert.deepEqual(decide(other, byRule, { minute: 2 }).decision?.at, momentAt(2 * MINUTE_MS));
  assert.deepEqual(decide(one, byRule, { minute: 2 }).decision?.at, momentAt(0));
  const byQuorum = decide(other, { ...byRule, votes: [vote('orders')] }, { minute: 2 });
  assert.deepEqual([byQuorum.decision?.by, byQuorum.decision?.at], ['quorum', momentAt(0)]);
  const byRuleAgain = decide(one, { ...byQuorum, votes: [] }, { minute: 4 });
  assert.deepEqual([byRuleAgain.decision?.by, byRuleAgain.decision?.at], ['policy', momentAt(0)]);
});

test('a quorum that is full under another rule than before names that rule', () => {
  const [one, other] = [rulesOf([APPROVE]), rulesOf([OTHERWISE_NAMED])];
  const decided = decide(one, VOTED);
  const after = decide(other, decided);
  assert.notEqual(after.decision?.rule, decided.decision?.rule);
});

test('a decision that an earlier version stored without its rule is of the rule with the same number', () => {
  const stored: EventApproval = { ...WAITING, state: 'submitting', decision: BY_RULE, policy: 'policy[0]' };
  const since = (policy: string) => decide(rulesOf([APPROVE]), { ...stored, policy }, { minute: 2 }).decision?.at;
  assert.deepEqual(since('policy[0]'), momentAt(0));
  assert.deepEqual(since('policy[1]'), momentAt(2 * MINUTE_MS));
});

test('a quorum forgets a deadline that has expired when NotBefore moves', () => {
  const due = decide(rulesOf([DEADLINE]), WAITING, { minute: 20, fellDueMs: DUE_MS });
  const voted = decide(rulesOf([DEADLINE]), { ...due, votes: [vote('orders')] }, { minute: 20 });
  assert.deepEqual([voted.decision?.by, voted.decision?.dueMs], ['quorum', DUE_MS]);
  const moved = decide(rulesOf([DEADLINE]), voted, { minute: 20, fields: { notBefore: '2022-04-11T22:40:00Z' } });
  assert.deepEqual([moved.decision?.by, moved.decision?.dueMs], ['quorum', null]);
});

test('a deadline of an event without NotBefore decides nothing', () => {
  const rules = rulesOf([DEADLINE]);
  const fields = { notBefore: null };
  const failed: EventApproval = { ...decide(rules, VOTED, { fields }), state: 'failed' };
  const governed: Governed = govern(rules, eventWith(fields), momentAt(0), null);
  assert.equal(isDecidedByRule(failed, governed, momentAt(0)), false);
});

for (const [isAllotted, what, approval] of [
  [true, 'a rule decided and that is to be posted', {}],
  [true, 'a deadline decided and that is to be posted', { decision: { ...BY_RULE, by: 'deadline' } }],
  [true, 'a rule decided in a dry run', { state: 'dry-run' }],
  [false, 'approvers decided', { decision: { ...BY_RULE, by: 'quorum' } }],
  [false, 'nobody decided', { decision: null }],
  [false, 'somebody holds', { state: 'held', holds: [HOLD] }],
  [false, 'somebody began to hold just now', { holds: [HOLD] }],
  [false, 'the service refused', { state: 'failed' }],
  [false, 'the event started without', { state: 'moot' }],
] as const satisfies readonly (readonly [boolean, string, Partial<EventApproval>])[]) {
  test(`an approval that ${what} ${isAllotted ? 'keeps its place in its budgets' : 'has no place in a budget'}`, () => {
    const of: EventApproval = { ...WAITING, state: 'submitting', decision: BY_RULE, ...approval };
    assert.equal(isAllottedAlready(of), isAllotted);
  });
}

test('what is left of a dry run that is over decides nothing, also as earlier versions stored it; a quorum decides', () => {
  const left = { ...BY_RULE, isSpent: true };
  assert.equal(isOnlySpent(left, false), true);
  assert.equal(isOnlySpent(left, true), false);
  assert.equal(isOnlySpent({ ...left, by: 'quorum' }, false), false);
  assert.equal(isOnlySpent({ ...left, by: null }, false), true);
  assert.equal(isOnlySpent(BY_RULE, false), false);
});
