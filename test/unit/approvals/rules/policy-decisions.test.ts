// A policy, events that come, change and go → what is posted without any vote, and when no more.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import type { PostResult } from '../../../../src/model/approvals.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ACCEPTED,
  type ApprovalSettings,
  ApprovalsFixture,
  again,
  approvalsOverOneEvent,
  approve,
  caller,
  change,
  end,
  KEY,
  REFUSED,
  reopened,
  said,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { type Story, testStories } from '../../../virtual/approvals-story.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const FREEZES: readonly PolicyRule[] = [
  { when: { initiators: ['User'] }, then: 'wait' },
  { when: { impacts: ['Freeze'] }, then: 'approve' },
];
const POLICY: ApprovalSettings = { policy: FREEZES };

function steps(approvals: Approvals): readonly string[] {
  const life = approvals.life(EVENT_ID);
  assert.ok('steps' in life);
  return life.steps.map(({ step, policy, reason, status }) =>
    [step, policy, reason, status].filter((part) => part !== null).join(' '),
  );
}

test('a rule that approves posts at once, tells no approval.recorded, and everything that tells of it carries the rule', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, POLICY);
  await settle();
  assert.equal(fixture.posts.length, 1);
  assert.deepEqual(fixture.store.told, ['approval.submitted']);
  assert.deepEqual([fixture.store.published[0]?.policy, fixture.store.published[0]?.approver], ['policy[1]', null]);
  const summary = approvals.summary(KEY);
  assert.deepEqual([summary?.state, summary?.policy, summary?.approvedBy], ['submitted', 'policy[1]', []]);
  assert.deepEqual(steps(approvals), ['decided policy[1] policy', 'submitted policy[1] 200']);
  const approval = approvals.approvalOf(KEY, 1);
  assert.deepEqual([approval?.policy, approval?.votes], ['policy[1]', []]);
});

test('the decision is on disk before it is posted, in the transaction that stores the change', async (t) => {
  const fixture = new ApprovalsFixture();
  const approvals = fixture.open(POLICY);
  t.after(() => fixture.close(approvals));
  change(fixture);
  assert.equal(fixture.store.transactions, 1);
  assert.equal(fixture.store.stored(KEY, 1)?.decision?.by, 'policy');
  assert.equal(fixture.posts.length, 0);
});

test('a document that could not be stored decides nothing', async (t) => {
  const { fixture } = approvalsOverOneEvent(t, POLICY);
  await settle();
  fixture.list('second');
  fixture.store.fault = new Error('the disk is full');
  assert.throws(() => fixture.poll());
  assert.equal(await fixture.postsAfter(60_000), 1);
  fixture.store.fault = null;
  fixture.poll();
  await settle();
  assert.deepEqual(fixture.posts[1]?.eventIds, ['second']);
});

test('what no rule matches waits for approvers, with nothing to tell until one of them speaks', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, POLICY);
  fixture.list('reboot', { eventType: 'Reboot' });
  fixture.poll();
  assert.equal(await fixture.postsAfter(60_000), 1);
  assert.equal(approvals.summary('reboot'), null);
  assert.equal(said(await approvals.request(caller('orders'), startRequests('reboot'))), '200 submitted');
});

test('never: 403 to approvers, and nothing is posted, even if somebody approved before', async (t) => {
  const never: ApprovalSettings = { policy: [{ when: { impacts: ['Terminate'] }, then: 'never' }], required: 'all' };
  const { fixture, approvals } = approvalsOverOneEvent(t, never);
  await approve(approvals, 'orders');
  change(fixture, { eventType: 'Terminate' });
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.failed changed orders']);
  const answered = await approve(approvals, 'billing');
  assert.equal(said(answered), '403 forbidden');
  assert.match(answered.kind === 'refusal' ? answered.detail : '', /never approved, because of the rule policy\[0\]/);
  assert.equal(await fixture.postsAfter(60_000), 0);
  assert.equal(approvals.summary(KEY), null);
});

test('never at a restart makes void what had been decided', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [again(60_000)];
  await approve(approvals);
  const strict = reopened(fixture, { policy: [{ when: {}, then: 'never' }] });
  t.after(() => fixture.close(strict));
  assert.equal(await fixture.postsAfter(120_000), 1);
  assert.equal(fixture.store.told.at(-1), 'approval.failed changed orders');
});

test('a rule that waits has its own quorum, and an event that waits by a rule says so before anybody speaks', async (t) => {
  const two: ApprovalSettings = {
    policy: [{ when: { impacts: ['Freeze'] }, then: 'wait', required: 'all' }],
    required: 'any',
  };
  const { fixture, approvals } = approvalsOverOneEvent(t, two);
  fixture.list('reboot', { eventType: 'Reboot' });
  fixture.poll();
  assert.deepEqual(approvals.summary(KEY), {
    ...{ state: 'waiting', approvedBy: [], policy: 'policy[0]', at: '2026-01-01T00:00:00.000Z' },
    ...{ waitingFor: ['orders', 'billing'], holds: [] },
  });
  assert.equal(said(await approve(approvals)), '202 waiting');
  assert.equal(said(await approvals.request(caller('orders'), startRequests('reboot'))), '200 submitted');
  assert.equal(said(await approve(approvals, 'billing')), '200 submitted');
  assert.equal(fixture.posts.length, 2);
  assert.equal(fixture.store.published.at(-1)?.policy, 'policy[0]', 'the rule whose quorum was full');
  assert.equal(fixture.store.published[0]?.policy, null, 'a yes is nobody else than the approver');
});

const DRY: ApprovalSettings = { ...POLICY, dryRun: true };

testStories([
  [
    'a name outside the list of a rule may not approve what it governs, and may all else',
    { policy: [{ when: { impacts: ['Freeze'] }, then: 'wait', required: ['billing'] }] },
    'orders approves > 403 forbidden; it is a Reboot; orders approves > 200 submitted',
  ],
  [
    'a decision that no longer holds is dropped before it is posted, and made again if it holds again',
    POLICY,
    `it is by User; +1 min; posts > 0; state > waiting; published >; it is by Platform; posts > 1
    whole record > decided policy[1] policy, dropped policy[0] policy, decided policy[1] policy, submitted policy[1] 200`,
  ],
  [
    'a decision that no longer holds after it was accepted stays submitted: nothing can take it back',
    POLICY,
    '+0 ms; it is a Reboot; +1 min; state > submitted; policy > policy[1]; posts > 1',
  ],
  [
    'a submitted decision is not made twice, whatever changes, and confirmed by the start',
    POLICY,
    `+0 ms; it is described; restart without a document; it lasts 3 s; +1 min; it starts; state > confirmed; posts > 1
    record > decided submitted confirmed`,
  ],
  [
    'an event that Azure started by itself and took back is approved again; an approved event is not',
    POLICY,
    `it starts; state > moot; posts > 0; it is Scheduled; posts > 1
    it starts; it is Scheduled; +1 min; posts > 1; state > submitted`,
  ],
  ['an EventId that comes back after its end is approved again', POLICY, '+0 ms; it ends; it is Scheduled; posts > 2'],
  [
    'a vote is recorded even if a rule approves, and one StartRequest is sent',
    { ...POLICY, required: 'all' },
    `service answers 503 1 s; orders approves > 202 submitting; +1 s; approved by > orders
    billing approves > 200 submitted; posts > 2
    published > approval.recorded orders, approval.submitted, approval.recorded billing`,
  ],
  [
    'if a rule drops its decision, a full quorum decides instead',
    POLICY,
    `service answers 503 1 min; orders approves; it is by User; state > submitting; on disk > submitting by quorum
    +2 min; state > submitted; published > approval.recorded orders, approval.submitted orders`,
  ],
  [
    'what was refused by a rule that no longer approves is dropped at the next change',
    POLICY,
    'service answers refused; +1 s; it is by User; +1 min; state > waiting; posts > 1',
  ],
  [
    'an approver may approve again what was refused, and that alone posts it again',
    {},
    `service answers refused; orders approves > 502 refused; it is described; restart; +1 min; posts > 1; state > failed
    orders approves > 200 submitted; posts > 2`,
  ],
  [
    'in a dry run a rule decides and nothing is posted or told, in that run or in a later one',
    DRY,
    `+1 min; state > dry-run; whole record > decided policy[1] policy; it is a Reboot; it is a Freeze; it is a Reboot
    restart for real; state > dry-run; it is described; it is a Reboot; it is a Freeze; +1 min; posts > 0; published >
    restart for real without a document; +1 min; posts > 0`,
  ],
  [
    'a decision of a rule in a dry run is not posted later, even if an approver agreed with it',
    DRY,
    'orders approves > 200 dry-run; restart for real; it is described; +1 min; posts > 0',
  ],
  ...[POLICY, {}].map(
    (settings): Story => [
      `after a dry run approvers may approve what ${settings === POLICY ? 'a rule' : 'they themselves'} had approved in it`,
      { ...settings, dryRun: true },
      `billing approves; restart for real; +1 min; posts > 0; orders approves > 200 submitted; approved by > orders
      posts > 1`,
    ],
  ),
  [
    'after a dry run a first yes of two does not let the rule decide what it had decided in it',
    { ...DRY, required: 'all' },
    `restart for real; orders approves; it is by User; it is by Platform; +1 min; posts > 0
    billing approves > 200 submitted`,
  ],
  [
    'a yes of a dry run counts towards no quorum after it',
    { required: 'all', dryRun: true },
    'orders approves > 202 waiting; restart for real; billing approves > 202 waiting; waiting for > orders',
  ],
  [
    'a dry run that begins at a restart posts nothing of what was decided before',
    POLICY,
    'restart dry; +1 min; state > dry-run; posts > 0',
  ],
]);

test('a decision that no longer holds by the look before the POST is dropped', async (t) => {
  const { fixture } = approvalsOverOneEvent(t, POLICY);
  fixture.service.set(KEY, { ...fixture.service.get(KEY), eventType: 'Reboot' } as ScheduledEvent);
  fixture.forgetReading();
  await fixture.time.advance(1000);
  assert.equal(fixture.reads, 1);
  assert.equal(fixture.posts.length, 0);
});

test('a decision that is dropped during the POST is reported as submitted, by its rule, if the POST is accepted', async (t) => {
  for (const [result, state] of [
    [ACCEPTED, 'submitted'],
    [again(1000), 'waiting'],
    [REFUSED, 'waiting'],
  ] as const) {
    const { fixture, approvals } = approvalsOverOneEvent(t, POLICY);
    const { promise, resolve } = Promise.withResolvers<PostResult>();
    fixture.answers = [promise];
    await settle();
    change(fixture, { eventSource: 'User' });
    resolve(result);
    assert.equal(await fixture.postsAfter(60_000), 1);
    assert.equal(approvals.summary(KEY)?.state, state);
    assert.deepEqual(
      fixture.store.published.map(({ phase, policy }) => [phase, policy]),
      state === 'submitted' ? [['submitted', 'policy[1]']] : [],
    );
  }
});

test('a decision is made again at each start, by the policy of that process', async (t) => {
  const { fixture } = approvalsOverOneEvent(t, POLICY);
  fixture.isAway = true;
  const without = reopened(fixture, {});
  assert.equal(without.summary(KEY), null, 'dropped');
  await fixture.time.advance(60_000);
  const within = reopened(fixture, { policy: 'documentation' });
  assert.deepEqual([within.summary(KEY)?.state, within.summary(KEY)?.policy], ['submitting', 'documentation']);
  fixture.isAway = false;
  await fixture.time.advance(1000);
  t.after(() => fixture.close(within));
  assert.equal(fixture.posts.length, 1);
  assert.equal(fixture.store.published[0]?.policy, 'documentation');
});

test('a rule that is new at a start decides events that were known before', async (t) => {
  const { fixture } = approvalsOverOneEvent(t);
  fixture.list('begun', { eventStatus: 'Started' });
  fixture.poll();
  const after = reopened(fixture, POLICY);
  t.after(() => fixture.close(after));
  await fixture.time.advance(1000);
  assert.deepEqual(
    fixture.posts.map(({ eventIds }) => eventIds),
    [[EVENT_ID]],
  );
});

test('the documentation preset approves what the sample approves, and nothing else', async (t) => {
  const { fixture } = approvalsOverOneEvent(t, { policy: 'documentation' });
  fixture.list('slow', { durationInSeconds: 9 });
  fixture.list('unknown', { durationInSeconds: -1 });
  fixture.list('zero', { durationInSeconds: 0 });
  fixture.list('mine', { eventSource: 'User', eventType: 'Terminate', durationInSeconds: -1 });
  fixture.list('reboot', { eventSource: 'Platform', eventType: 'Reboot', durationInSeconds: 0 });
  fixture.list('advice', { eventSource: 'User', eventType: 'SpotRebalanceRecommendation' });
  fixture.poll();
  await fixture.time.advance(60_000);
  assert.deepEqual(
    fixture.posts.flatMap(({ eventIds }) => eventIds),
    ['mine', EVENT_ID, 'zero'],
  );
  assert.ok(fixture.store.published.every(({ phase, policy }) => phase === 'submitted' && policy === 'documentation'));
});

test('a refused decision is made again at the next change or start, before its minute is over', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, POLICY);
  fixture.answers = [REFUSED, REFUSED];
  await fixture.time.advance(30_000);
  fixture.poll();
  assert.equal(await fixture.postsAfter(1000), 1);
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  assert.deepEqual(fixture.store.told, ['approval.failed refused']);
  assert.equal(fixture.store.published[0]?.policy, 'policy[1]');
  change(fixture, { description: 'changed' });
  assert.equal(await fixture.postsAfter(1000), 2);
  const after = reopened(fixture, POLICY);
  t.after(() => fixture.close(after));
  assert.equal(await fixture.postsAfter(1000), 3);
  assert.equal(after.summary(KEY)?.state, 'submitted');
});

test('a refused approval that gets void is not told a second time, and a rule that approves by then posts it', async (t) => {
  for (const [fields, state, posts] of [
    [{ eventType: 'Redeploy' }, undefined, 1],
    [{ eventSource: 'Platform' }, 'submitted', 2],
  ] as const) {
    const { fixture, approvals } = approvalsOverOneEvent(t, { ...POLICY, required: ['orders'] });
    change(fixture, { eventType: 'Freeze', eventSource: 'User' });
    fixture.answers = [REFUSED];
    await approve(approvals);
    change(fixture, { eventSource: 'User', ...fields });
    await fixture.time.advance(60_000);
    assert.deepEqual(fixture.store.told.slice(0, 2), ['approval.recorded orders', 'approval.failed refused orders']);
    assert.ok(!fixture.store.told.some((told) => told.includes('changed')));
    assert.equal(fixture.posts.length, posts);
    assert.equal(approvals.approvalOf(KEY, 1)?.state, state);
  }
});

const GROUP: ApprovalSettings = {
  ...{ policy: FREEZES, ownName: 'westno_1', required: 'all' },
  group: { submit: 'leader', failoverAfterMs: 10_000, members: [] },
};

test('behind the leader a rule waits for its turn, whoever said one yes of several; a full quorum of its own posts at once', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, GROUP);
  void approve(approvals);
  assert.equal(await fixture.postsAfter(5000), 0);
  const asked = approve(approvals, 'billing');
  await fixture.time.advance(2000);
  assert.equal(said(await asked), '200 submitted');
  assert.equal(fixture.posts[0]?.atMs, 5000);
});

test('a vote that every bridge received waits for its turn, and the same vote over HTTP does not', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { ...GROUP, policy: null, required: 'any' });
  const shared = { approver: 'orders', via: 'source:topic', isShared: true };
  void approvals.request(shared, startRequests(EVENT_ID));
  assert.equal(await fixture.postsAfter(9000), 0);
  const asked = approve(approvals);
  assert.equal(await fixture.postsAfter(900), 1);
  assert.equal(said(await asked), '200 submitted');
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
  const other = approvalsOverOneEvent(t, { ...GROUP, policy: null, required: 'any' });
  void other.approvals.request(shared, startRequests(EVENT_ID));
  await other.fixture.time.advance(10_000);
  assert.equal(other.fixture.posts.length, 1);
});

test('what is left of a dry run is no decision: not in the record, not in the metric, and not of a policy that there is not', async (t) => {
  const both: ApprovalSettings = { required: 'all' };
  const { fixture, approvals } = approvalsOverOneEvent(t, { ...both, dryRun: true });
  await approve(approvals);
  assert.equal(said(await approve(approvals, 'billing')), '200 dry-run');
  const real = reopened(fixture, both);
  t.after(() => fixture.close(real));
  fixture.poll();
  fixture.told.length = 0;
  assert.equal(said(await approve(real)), '202 waiting');
  const life = real.life(EVENT_ID);
  assert.ok('steps' in life);
  assert.deepEqual([life.state, life.decidedBy, life.policy, life.waitingFor], ['waiting', null, null, ['billing']]);
  assert.deepEqual(steps(real).slice(-3), ['void', 'recorded', 'dropped quorum']);
  assert.ok(!fixture.told.includes('decided'), fixture.told.join());
  assert.equal(said(await approve(real, 'billing')), '200 submitted');
  assert.deepEqual(steps(real).slice(-3), ['recorded', 'decided quorum', 'submitted 200']);
});

test('what is left of a dry run is no decision under a hold, either', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { ...POLICY, dryRun: true });
  const real = reopened(fixture, POLICY);
  t.after(() => fixture.close(real));
  fixture.poll();
  real.hold(caller('orders'), { EventId: EVENT_ID });
  const life = real.life(EVENT_ID);
  assert.ok('steps' in life);
  assert.deepEqual([life.state, life.decidedBy, life.waitingFor], ['held', null, ['orders', 'billing']]);
  assert.deepEqual(steps(real), ['decided policy[1] policy', 'held policy[1]', 'dropped policy[1] policy']);
  assert.equal(real.approvalOf(KEY, 1), null, 'nobody has approved it');
  assert.equal(approvals.approvalOf(KEY, 1)?.decision?.by, 'policy');
});

test('a dry run that takes a real yes along tells its approver so, once, whatever follows', async (t) => {
  for (const settings of [{ required: 'all' } as const, {}]) {
    const { fixture, approvals } = approvalsOverOneEvent(t, settings);
    // Decided or not, it was not posted yet.
    fixture.answers = [again(60_000)];
    await approve(approvals);
    const before = fixture.store.told.length;
    const dry = reopened(fixture, { ...settings, dryRun: true });
    assert.deepEqual(fixture.store.told.slice(before), ['approval.failed dry-run orders']);
    assert.deepEqual(
      fixture.store.approvals
        .record(1, { after: 0, limit: 200 })
        .steps.filter(({ step }) => step === 'void')
        .map(({ approver, reason }) => [approver, reason]),
      [['orders', 'dry-run']],
    );
    fixture.poll();
    await approve(dry, 'billing');
    assert.equal(dry.summary(KEY)?.state, 'dry-run');
    reopened(fixture, { ...settings, dryRun: true });
    reopened(fixture, settings);
    fixture.poll();
    await fixture.time.advance(120_000);
    assert.equal(fixture.store.told.filter((told) => told.startsWith('approval.failed')).length, 1);
    assert.ok(fixture.posts.length <= 1);
  }
});

test('a yes that was told to have failed is not told again by a dry run, and one that got worse meanwhile says so', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [REFUSED];
  await approve(approvals);
  const told = fixture.store.told.length;
  reopened(fixture, { dryRun: true });
  assert.equal(fixture.store.told.length, told);

  const other = approvalsOverOneEvent(t, { required: 'all' });
  await approve(other.approvals);
  const dry = reopened(other.fixture, {
    required: 'all',
    approvers: { orders: { scope: { impacts: ['Reboot'] } }, billing: {} },
    dryRun: true,
  });
  assert.equal(dry.summary(KEY), null);
  assert.equal(other.fixture.store.told.at(-1), 'approval.failed changed orders');
});

test('after a dry run a rule decides the occurrences that it had not decided in it', async (t) => {
  const { fixture } = approvalsOverOneEvent(t, { ...POLICY, dryRun: true });
  const real = reopened(fixture, POLICY);
  t.after(() => fixture.close(real));
  fixture.list('second');
  fixture.poll();
  end(fixture);
  change(fixture, {});
  await settle();
  assert.deepEqual(
    fixture.posts.map(({ eventIds: [id] }) => id),
    ['second', EVENT_ID],
  );
});

test('after a dry run, the rule that decided in it does not decide again, even if an approval came meanwhile and became void', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { ...POLICY, dryRun: true });
  await fixture.close(approvals);
  fixture.answers = Array.from({ length: 20 }, () => again(1000));
  const real = reopened(fixture, POLICY);
  t.after(() => fixture.close(real));
  fixture.poll();
  const waiting = approve(real);
  await fixture.time.advance(3000);
  assert.equal(said(await waiting), '202 submitting');
  const before = fixture.posts.length;
  change(fixture, { durationInSeconds: 3600 });
  assert.deepEqual(fixture.store.told.at(-1), 'approval.failed changed orders');
  assert.equal(await fixture.postsAfter(60_000), before);
});
