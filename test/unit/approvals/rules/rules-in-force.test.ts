// Other rules while approvals stand → votes void, decisions made anew, holds kept, all or nothing.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import { RulesInForce, type RulesOptions } from '../../../../src/approvals/rules/rules-in-force.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  approvalsOverOneEvent,
  approve,
  caller,
  change,
  KEY,
  RULES,
  said,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const APPROVE_ALL: RulesOptions = { ...RULES, policy: [{ when: {}, then: 'approve' }] };

function stepsOf(approvals: Approvals): string {
  const life = approvals.life(EVENT_ID);
  return 'steps' in life
    ? life.steps.map(({ step, approver }) => [step, approver].join(' ').trim()).join(', ')
    : life.type;
}

function hold(approvals: Approvals, approver: string): void {
  assert.equal(said(approvals.hold(caller(approver), { EventId: EVENT_ID })), '201 held');
}

test('the yes of an approver who is removed becomes void with reason changed, and the one who is left can fill the quorum', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  assert.equal(said(await approve(approvals, 'orders')), '202 waiting');
  approvals.reload({ ...RULES, required: 'all', approvers: { billing: {} } });
  assert.match(stepsOf(approvals), /recorded orders, void orders/);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.failed changed orders']);
  assert.equal(said(await approve(approvals, 'orders')), '403 scope');
  assert.equal(said(await approve(approvals, 'billing')), '200 submitted');
  assert.equal(fixture.posts.length, 1);
});

test('a scope that no longer covers the event makes the yes void; one that still does keeps it', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await approve(approvals, 'orders');
  approvals.reload({
    ...RULES,
    required: 'all',
    approvers: { orders: { scope: { resources: ['westno_*'] } }, billing: {} },
  });
  assert.deepEqual(approvals.summary(KEY)?.approvedBy, ['orders']);
  approvals.reload({
    ...RULES,
    required: 'all',
    approvers: { orders: { scope: { resources: ['other_*'] } }, billing: {} },
  });
  assert.deepEqual(approvals.summary(KEY)?.approvedBy ?? [], []);
  assert.deepEqual(fixture.posts, []);
});

test('a quorum that asks for fewer is full by the votes that stand, and is posted once', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await approve(approvals, 'orders');
  approvals.reload(RULES);
  await settle();
  assert.equal(fixture.posts.length, 1);
  approvals.reload(RULES);
  approvals.reload({ ...RULES, approvers: { billing: {} } });
  await settle();
  assert.equal(fixture.posts.length, 1);
  assert.doesNotMatch(stepsOf(approvals), /void/, 'what is submitted stands');
});

test('an unsubmitted decision of a policy is made again: dropped if no rule approves, made if one does', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, APPROVE_ALL);
  await settle();
  assert.equal(fixture.posts.length, 1);
  const held = approvalsOverOneEvent(t);
  hold(held.approvals, 'orders');
  held.approvals.reload(APPROVE_ALL);
  assert.match(stepsOf(held.approvals), /held orders, decided$/);
  held.approvals.reload(RULES);
  assert.match(stepsOf(held.approvals), /decided, dropped$/);
  held.approvals.release(caller('orders'), EVENT_ID, null);
  await settle();
  assert.deepEqual(held.fixture.posts, []);
  held.approvals.reload(APPROVE_ALL);
  await settle();
  assert.equal(held.fixture.posts.length, 1);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

test('a decision of a rule stays if only its number changes; a rule with another content decides again', async (t) => {
  const { approvals } = approvalsOverOneEvent(t);
  hold(approvals, 'orders');
  approvals.reload(APPROVE_ALL);
  const decidedAt = approvals.approvalOf(KEY, 1)?.decision?.at;
  approvals.reload({
    ...RULES,
    policy: [
      { when: { impacts: ['Terminate'] }, then: 'never' },
      { when: {}, then: 'approve' },
    ],
  });
  assert.match(stepsOf(approvals), /held orders, decided$/);
  assert.equal(approvals.approvalOf(KEY, 1)?.decision?.at, decidedAt);
  assert.equal(approvals.summary(KEY)?.policy, 'policy[1]');
  approvals.reload({ ...RULES, policy: [{ when: { impacts: ['Freeze'] }, then: 'approve' }] });
  assert.match(stepsOf(approvals), /held orders, decided, dropped, decided$/);
  assert.equal(approvals.summary(KEY)?.policy, 'policy[0]');
});

test('votes stand or become void by what the rule says that governs, whatever its number', async (t) => {
  const wait = { when: {}, then: 'wait', required: ['orders', 'billing'] } as const;
  const { fixture, approvals } = approvalsOverOneEvent(t, { policy: [wait] });
  assert.equal(said(await approve(approvals, 'orders')), '202 waiting');
  approvals.reload({ ...RULES, policy: [{ when: { impacts: ['Terminate'] }, then: 'never' }, wait] });
  assert.deepEqual(approvals.summary(KEY)?.approvedBy, ['orders']);
  approvals.reload({ ...RULES, policy: [{ ...wait, required: ['billing'] }] });
  assert.match(stepsOf(approvals), /recorded orders, void orders$/);
  assert.deepEqual(fixture.posts, []);
});

test('holds stand, also of an approver who is removed: an admin of the new rules can release it', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'any' });
  hold(approvals, 'orders');
  approvals.reload({ ...APPROVE_ALL, approvers: { ops: { admin: true } } });
  await settle();
  assert.equal(approvals.summary(KEY)?.state, 'held');
  assert.deepEqual(fixture.posts, []);
  assert.equal(said(approvals.release(caller('ops'), EVENT_ID, 'orders')), 'released');
  await settle();
  assert.equal(fixture.posts.length, 1);
});

test('a deadline of the new rules falls due, one of the old ones no longer does', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const wait = (beforeMs: number): RulesOptions => ({
    ...RULES,
    policy: [{ when: {}, then: 'wait', deadline: { beforeMs, then: 'approve' } }],
  });
  const leftMs = 600_000;
  change(fixture, { notBefore: new Date(fixture.time.wallMs() + leftMs).toISOString() });
  approvals.reload(wait(leftMs - 60_000));
  approvals.reload(wait(leftMs - 120_000));
  await fixture.time.advance(119_000);
  fixture.poll();
  assert.deepEqual(fixture.posts, []);
  await fixture.time.advance(1000);
  await settle();
  assert.equal(fixture.posts.length, 1);
});

test('if the store fails, none of the new rules takes effect', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await approve(approvals, 'orders');
  fixture.store.fault = new Error('the disk is full');
  assert.throws(() => approvals.reload({ ...RULES, approvers: { billing: {} } }), /the disk is full/);
  fixture.store.fault = null;
  assert.deepEqual(approvals.summary(KEY), {
    ...approvals.summary(KEY),
    approvedBy: ['orders'],
    waitingFor: ['billing'],
  });
  assert.equal(said(await approve(approvals, 'billing')), '200 submitted');
});

test('a group that is new leaves what is decided to its leader', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { ownName: 'elsewhere' });
  approvals.reload({ ...APPROVE_ALL, group: { submit: 'leader', failoverAfterMs: 10_000, members: [] } });
  await settle();
  await fixture.time.advance(60_000);
  assert.deepEqual(fixture.posts, []);
  approvals.reload(APPROVE_ALL);
  fixture.poll();
  await settle();
  assert.equal(fixture.posts.length, 1);
});

test('rules that could not be stored are replaced by those before them, with all their parts', () => {
  const rules = new RulesInForce(RULES);
  const { policy, calendar, allotment, scopes } = rules;
  const undo = rules.replace({ ...APPROVE_ALL, approvers: { ops: {} }, dryRun: true });
  assert.deepEqual([Object.keys(rules.approvers), [...rules.scopes.keys()], rules.dryRun], [['ops'], ['ops'], true]);
  undo();
  assert.deepEqual([rules.approvers, rules.dryRun], [RULES.approvers, false]);
  assert.deepEqual(
    [rules.policy, rules.calendar, rules.allotment, rules.scopes].map((part, index) =>
      Object.is(part, [policy, calendar, allotment, scopes][index]),
    ),
    [true, true, true, true],
  );
});
