// A policy over events that change, come and go → what is posted without anybody's yes, and when no more.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import type { PostResult } from '../../../../src/model/approvals.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ACCEPTED,
  ApprovalBench,
  type ApprovalSettings,
  again,
  approvalsOverOneEvent,
  approve,
  caller,
  change,
  KEY,
  REFUSED,
  reopened,
  STARTED,
  said,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const FREEZES: readonly PolicyRule[] = [
  { when: { initiators: ['User'] }, then: 'wait' },
  { when: { impacts: ['Freeze'] }, then: 'approve' },
];
const POLICY: ApprovalSettings = { policy: FREEZES };

function steps(approvals: Approvals): readonly string[] {
  const life = approvals.life(EVENT_ID);
  assert.ok('steps' in life);
  return life.steps.map(({ step, policy, reason, status }) => [step, policy, reason, status].filter((part) => part !== null).join(' '));
}

test('a rule that approves posts at once, tells no approval.recorded, and everything that tells of it carries the rule', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, POLICY);
  await settle();
  assert.equal(bench.posts.length, 1);
  assert.deepEqual(bench.store.told, ['approval.submitted']);
  assert.deepEqual([bench.store.published[0]?.policy, bench.store.published[0]?.approver], ['policy[1]', null]);
  const summary = approvals.summary(KEY);
  assert.deepEqual([summary?.state, summary?.policy, summary?.approvedBy], ['submitted', 'policy[1]', []]);
  assert.deepEqual(steps(approvals), ['decided policy[1] policy', 'submitted policy[1] 200']);
  const approval = approvals.approvalOf(KEY, 1);
  assert.deepEqual([approval?.policy, approval?.votes], ['policy[1]', []]);
});

test('the decision is on disk before it is posted, in the transaction that stores the change', async (t) => {
  const bench = new ApprovalBench();
  const approvals = bench.open(POLICY);
  t.after(() => bench.close(approvals));
  bench.list(EVENT_ID);
  bench.poll();
  assert.equal(bench.store.transactions, 1);
  assert.equal(bench.store.stored(KEY, 1)?.decision?.by, 'policy');
  assert.equal(bench.posts.length, 0);
});

test('a document that could not be stored decides nothing', async (t) => {
  const { bench } = approvalsOverOneEvent(t, POLICY);
  await settle();
  bench.list('second');
  bench.store.fault = new Error('the disk is full');
  assert.throws(() => bench.poll());
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, 1);
  bench.store.fault = null;
  bench.poll();
  await settle();
  assert.deepEqual(bench.posts[1]?.eventIds, ['second']);
});

test('what no rule matches waits for approvers, with nothing to tell until one of them speaks', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, POLICY);
  bench.list('reboot', { eventType: 'Reboot' });
  bench.poll();
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, 1);
  assert.equal(approvals.summary('reboot'), null);
  assert.equal(said(await approvals.request(caller('orders'), startRequests('reboot'))), '200 submitted');
});

test('never: 403 to approvers, and nothing is posted, whoever approved before', async (t) => {
  const never: ApprovalSettings = { policy: [{ when: { impacts: ['Terminate'] }, then: 'never' }], required: 'all' };
  const { bench, approvals } = approvalsOverOneEvent(t, never);
  await approve(approvals, 'orders');
  change(bench, { eventType: 'Terminate' });
  assert.deepEqual(bench.store.told, ['approval.recorded orders', 'approval.failed changed orders']);
  const answered = await approve(approvals, 'billing');
  assert.equal(said(answered), '403 forbidden');
  assert.match(answered.kind === 'refusal' ? answered.detail : '', /never approved, as policy\[0\]/);
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, 0);
  assert.equal(approvals.summary(KEY), null);
});

test('never at a restart makes void what had been decided', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t);
  bench.answers = [again(60_000)];
  await approve(approvals);
  const strict = reopened(bench, { policy: [{ when: {}, then: 'never' }] });
  t.after(() => bench.close(strict));
  await bench.time.advance(120_000);
  assert.equal(bench.posts.length, 1);
  assert.equal(bench.store.told.at(-1), 'approval.failed changed orders');
});

test('a rule that waits has its own quorum, and an event that waits by a rule says so before anybody speaks', async (t) => {
  const two: ApprovalSettings = { policy: [{ when: { impacts: ['Freeze'] }, then: 'wait', required: 'all' }], required: 'any' };
  const { bench, approvals } = approvalsOverOneEvent(t, two);
  bench.list('reboot', { eventType: 'Reboot' });
  bench.poll();
  assert.deepEqual(approvals.summary(KEY), {
    ...{ state: 'waiting', approvedBy: [], policy: 'policy[0]', at: '2026-01-01T00:00:00.000Z' },
    ...{ waitingFor: ['orders', 'billing'], holds: [] },
  });
  assert.equal(said(await approve(approvals)), '202 waiting');
  assert.equal(said(await approvals.request(caller('orders'), startRequests('reboot'))), '200 submitted');
  assert.equal(said(await approve(approvals, 'billing')), '200 submitted');
  assert.equal(bench.posts.length, 2);
  assert.equal(bench.store.published.at(-1)?.policy, 'policy[0]', 'the rule whose quorum was full');
  assert.equal(bench.store.published[0]?.policy, null, 'a yes is nobody else than the approver');
});

test('a name outside the list of a rule may not approve what it governs, and may all else', async (t) => {
  const listed: ApprovalSettings = { policy: [{ when: { impacts: ['Freeze'] }, then: 'wait', required: ['billing'] }] };
  const { bench, approvals } = approvalsOverOneEvent(t, listed);
  assert.equal(said(await approve(approvals)), '403 forbidden');
  change(bench, { eventType: 'Reboot' });
  assert.equal(said(await approve(approvals)), '200 submitted');
});

test('a decision that no longer holds is dropped before it is posted, and one that holds again is made anew', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, POLICY);
  change(bench, { eventSource: 'User' });
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, 0);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  assert.deepEqual(bench.store.told, []);
  change(bench, { eventSource: 'Platform' });
  await settle();
  assert.equal(bench.posts.length, 1);
  assert.deepEqual(steps(approvals).slice(0, 3), ['decided policy[1] policy', 'dropped policy[0] policy', 'decided policy[1] policy']);
});

test('a decision that no longer holds by the look before the POST is dropped', async (t) => {
  const { bench } = approvalsOverOneEvent(t, POLICY);
  bench.service.set(KEY, { ...bench.service.get(KEY), eventType: 'Reboot' } as ScheduledEvent);
  bench.forgetReading();
  await bench.time.advance(1000);
  assert.equal(bench.reads, 1);
  assert.equal(bench.posts.length, 0);
});

test('a decision dropped while the POST is under way is told as submitted, by its rule, where the POST is accepted', async (t) => {
  for (const [result, state] of [
    [ACCEPTED, 'submitted'],
    [again(1000), 'waiting'],
    [REFUSED, 'waiting'],
  ] as const) {
    const { bench, approvals } = approvalsOverOneEvent(t, POLICY);
    const { promise, resolve } = Promise.withResolvers<PostResult>();
    bench.answers = [promise];
    await settle();
    change(bench, { eventSource: 'User' });
    resolve(result);
    await bench.time.advance(60_000);
    assert.equal(bench.posts.length, 1);
    assert.equal(approvals.summary(KEY)?.state, state);
    assert.deepEqual(
      bench.store.published.map(({ phase, policy }) => [phase, policy]),
      state === 'submitted' ? [['submitted', 'policy[1]']] : [],
    );
  }
});

test('a decision that no longer holds after it was accepted stays submitted: nothing can take it back', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, POLICY);
  await settle();
  change(bench, { eventType: 'Reboot' });
  await bench.time.advance(60_000);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
  assert.equal(approvals.summary(KEY)?.policy, 'policy[1]');
  assert.equal(bench.posts.length, 1);
});

test('a decision is made anew at each start, by the policy of that process', async (t) => {
  const { bench } = approvalsOverOneEvent(t, POLICY);
  bench.isAway = true;
  const without = reopened(bench, {});
  assert.equal(without.summary(KEY), null, 'dropped');
  await bench.time.advance(60_000);
  const within = reopened(bench, { policy: 'documentation' });
  assert.deepEqual([within.summary(KEY)?.state, within.summary(KEY)?.policy], ['submitting', 'documentation']);
  bench.isAway = false;
  await bench.time.advance(1000);
  t.after(() => bench.close(within));
  assert.equal(bench.posts.length, 1);
  assert.equal(bench.store.published[0]?.policy, 'documentation');
});

test('a rule that is new at a start decides events that were known before', async (t) => {
  const { bench } = approvalsOverOneEvent(t);
  bench.list('begun', { eventStatus: 'Started' });
  bench.poll();
  const after = reopened(bench, POLICY);
  t.after(() => bench.close(after));
  await bench.time.advance(1000);
  assert.deepEqual(
    bench.posts.map(({ eventIds }) => eventIds),
    [[EVENT_ID]],
  );
});

test('a submitted decision is not made twice, whatever changes, and confirmed by the start', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, POLICY);
  await settle();
  change(bench, { description: 'changed' });
  const after = reopened(bench, POLICY);
  t.after(() => bench.close(after));
  change(bench, { durationInSeconds: 3 });
  await bench.time.advance(60_000);
  change(bench, STARTED);
  assert.equal(after.summary(KEY)?.state, 'confirmed');
  assert.equal(bench.posts.length, 1);
  assert.deepEqual(
    steps(approvals).map((line) => line.split(' ')[0]),
    ['decided', 'submitted', 'confirmed'],
  );
});

test('an event that Azure started by itself and took back is approved anew; one that was approved is not', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, POLICY);
  change(bench, STARTED);
  await settle();
  assert.equal(approvals.summary(KEY)?.state, 'moot');
  assert.equal(bench.posts.length, 0);
  change(bench, { eventStatus: 'Scheduled' });
  await settle();
  assert.equal(bench.posts.length, 1);
  change(bench, STARTED);
  change(bench, { eventStatus: 'Scheduled' });
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, 1);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

test('an EventId that comes back after its end is approved anew', async (t) => {
  const { bench } = approvalsOverOneEvent(t, POLICY);
  await settle();
  bench.end(EVENT_ID);
  bench.poll();
  change(bench, {});
  await settle();
  assert.equal(bench.posts.length, 2);
});

test('the documentation preset approves what the sample approves, and nothing else', async (t) => {
  const { bench } = approvalsOverOneEvent(t, { policy: 'documentation' });
  bench.list('slow', { durationInSeconds: 9 });
  bench.list('unknown', { durationInSeconds: -1 });
  bench.list('zero', { durationInSeconds: 0 });
  bench.list('mine', { eventSource: 'User', eventType: 'Terminate', durationInSeconds: -1 });
  bench.list('reboot', { eventSource: 'Platform', eventType: 'Reboot', durationInSeconds: 0 });
  bench.list('advice', { eventSource: 'User', eventType: 'SpotRebalanceRecommendation' });
  bench.poll();
  await bench.time.advance(60_000);
  assert.deepEqual(
    bench.posts.flatMap(({ eventIds }) => eventIds),
    ['mine', EVENT_ID, 'zero'],
  );
  assert.ok(bench.store.published.every(({ phase, policy }) => phase === 'submitted' && policy === 'documentation'));
});

test('a yes beside a rule that approves is recorded, and the StartRequest is one', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, { ...POLICY, required: 'all' });
  bench.answers = [again(1000)];
  await settle();
  assert.equal(said(await approve(approvals)), '202 submitting');
  await bench.time.advance(1000);
  assert.deepEqual(approvals.summary(KEY)?.approvedBy, ['orders']);
  assert.equal(said(await approve(approvals, 'billing')), '200 submitted');
  assert.equal(bench.posts.length, 2);
  assert.deepEqual(bench.store.told, ['approval.recorded orders', 'approval.submitted', 'approval.recorded billing']);
});

test('where a rule drops its decision, a quorum that is full decides instead', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, POLICY);
  bench.answers = [again(60_000)];
  await settle();
  await approve(approvals);
  change(bench, { eventSource: 'User' });
  assert.equal(approvals.summary(KEY)?.state, 'submitting');
  assert.equal(approvals.approvalOf(KEY, 1)?.decision?.by, 'quorum');
  await bench.time.advance(120_000);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
  assert.equal(bench.store.published.at(-1)?.approver, 'orders');
});

test('what was refused by the metadata service is decided anew at the next change or start, and not before', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, POLICY);
  bench.answers = [REFUSED, REFUSED];
  await bench.time.advance(3_600_000);
  bench.poll();
  await bench.time.advance(1000);
  assert.equal(bench.posts.length, 1);
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  assert.deepEqual(bench.store.told, ['approval.failed refused']);
  assert.equal(bench.store.published[0]?.policy, 'policy[1]');
  change(bench, { description: 'changed' });
  await bench.time.advance(1000);
  assert.equal(bench.posts.length, 2);
  const after = reopened(bench, POLICY);
  t.after(() => bench.close(after));
  await bench.time.advance(1000);
  assert.equal(bench.posts.length, 3);
  assert.equal(after.summary(KEY)?.state, 'submitted');
});

test('what was refused by a rule that no longer approves is dropped at the next change', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, POLICY);
  bench.answers = [REFUSED];
  await bench.time.advance(1000);
  change(bench, { eventSource: 'User' });
  await bench.time.advance(60_000);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  assert.equal(bench.posts.length, 1);
});

test('an approver may approve again what was refused, and that alone posts it again', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t);
  bench.answers = [REFUSED];
  assert.equal(said(await approve(approvals)), '502 refused');
  change(bench, { description: 'changed' });
  const after = reopened(bench, {});
  t.after(() => bench.close(after));
  bench.poll();
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, 1);
  assert.equal(after.summary(KEY)?.state, 'failed');
  assert.equal(said(await approve(after)), '200 submitted');
  assert.equal(bench.posts.length, 2);
});

test('a refused approval that gets void is not told a second time, and a rule that approves by then posts it', async (t) => {
  for (const [fields, state, posts] of [
    [{ eventType: 'Redeploy' }, undefined, 1],
    [{ eventSource: 'Platform' }, 'submitted', 2],
  ] as const) {
    const { bench, approvals } = approvalsOverOneEvent(t, { ...POLICY, required: ['orders'] });
    bench.list(EVENT_ID, { eventType: 'Freeze', eventSource: 'User' });
    bench.poll();
    bench.answers = [REFUSED];
    await approve(approvals);
    change(bench, { eventSource: 'User', ...fields });
    await bench.time.advance(60_000);
    assert.deepEqual(bench.store.told.slice(0, 2), ['approval.recorded orders', 'approval.failed refused orders']);
    assert.ok(!bench.store.told.some((told) => told.includes('changed')));
    assert.equal(bench.posts.length, posts);
    assert.equal(approvals.approvalOf(KEY, 1)?.state, state);
  }
});

const GROUP: ApprovalSettings = {
  ...{ policy: FREEZES, ownName: 'westno_1', required: 'all' },
  group: { submit: 'leader', failoverAfterMs: 10_000, members: [] },
};

test('behind the leader a rule waits for its turn, whoever said one yes of several; a full quorum of its own posts at once', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, GROUP);
  void approve(approvals);
  await bench.time.advance(5000);
  assert.equal(bench.posts.length, 0);
  const asked = approve(approvals, 'billing');
  await bench.time.advance(2000);
  assert.equal(said(await asked), '200 submitted');
  assert.equal(bench.posts[0]?.atMs, 5000);
});

test('a yes that every bridge heard waits for its turn, and the same one over the own interface does not', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, { ...GROUP, policy: null, required: 'any' });
  const shared = { approver: 'orders', via: 'source:topic', isShared: true };
  void approvals.request(shared, startRequests(EVENT_ID));
  await bench.time.advance(9000);
  assert.equal(bench.posts.length, 0);
  const asked = approve(approvals);
  await bench.time.advance(900);
  assert.equal(bench.posts.length, 1);
  assert.equal(said(await asked), '200 submitted');
  assert.deepEqual(bench.store.told, ['approval.recorded orders', 'approval.submitted orders']);
  const other = approvalsOverOneEvent(t, { ...GROUP, policy: null, required: 'any' });
  void other.approvals.request(shared, startRequests(EVENT_ID));
  await other.bench.time.advance(10_000);
  assert.equal(other.bench.posts.length, 1);
});

test('in a dry run a rule decides and nothing is posted or told, in that run or in a later one', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, { ...POLICY, dryRun: true });
  await bench.time.advance(60_000);
  assert.equal(approvals.summary(KEY)?.state, 'dry-run');
  assert.deepEqual(steps(approvals), ['decided policy[1] policy']);
  change(bench, { eventType: 'Reboot' });
  change(bench, { eventType: 'Freeze' });
  change(bench, { eventType: 'Reboot' });
  const real = reopened(bench, POLICY);
  t.after(() => bench.close(real));
  bench.poll();
  assert.equal(real.summary(KEY)?.state, 'dry-run');
  change(bench, { description: 'changed again' });
  change(bench, { eventType: 'Reboot' });
  change(bench, { eventType: 'Freeze' });
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, 0);
  assert.deepEqual(bench.store.told, []);
  reopened(bench, POLICY);
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, 0);
});

test('what a rule decided in a dry run is not posted later where an approver agreed with it, either', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, { ...POLICY, dryRun: true });
  assert.equal(said(await approve(approvals)), '200 dry-run');
  const real = reopened(bench, POLICY);
  t.after(() => bench.close(real));
  bench.poll();
  change(bench, { description: 'changed' });
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, 0);
});

test('after a dry run approvers may approve what a rule or they themselves had approved in it', async (t) => {
  for (const settings of [POLICY, {}]) {
    const { bench, approvals } = approvalsOverOneEvent(t, { ...settings, dryRun: true });
    await approve(approvals, 'billing');
    const real = reopened(bench, settings);
    t.after(() => bench.close(real));
    bench.poll();
    await bench.time.advance(60_000);
    assert.equal(bench.posts.length, 0);
    assert.equal(said(await approve(real)), '200 submitted');
    assert.deepEqual(real.summary(KEY)?.approvedBy, ['orders']);
    assert.equal(bench.posts.length, 1);
  }
});

test('after a dry run a first yes of two does not let the rule decide what it had decided in it', async (t) => {
  const both: ApprovalSettings = { ...POLICY, required: 'all' };
  const { bench } = approvalsOverOneEvent(t, { ...both, dryRun: true });
  const real = reopened(bench, both);
  t.after(() => bench.close(real));
  bench.poll();
  await approve(real);
  change(bench, { eventSource: 'User' });
  change(bench, { eventSource: 'Platform' });
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, 0);
  assert.equal(said(await approve(real, 'billing')), '200 submitted');
});

test('a yes of a dry run counts towards no quorum after it', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, { required: 'all', dryRun: true });
  assert.equal(said(await approve(approvals)), '202 waiting');
  const real = reopened(bench, { required: 'all' });
  t.after(() => bench.close(real));
  bench.poll();
  assert.equal(said(await approve(real, 'billing')), '202 waiting');
  assert.deepEqual(real.summary(KEY)?.waitingFor, ['orders']);
});

test('a dry run that takes a real yes along tells its approver so, once, whatever follows', async (t) => {
  for (const settings of [{ required: 'all' } as const, {}]) {
    const { bench, approvals } = approvalsOverOneEvent(t, settings);
    // Decided or not, it was not posted yet.
    bench.answers = [again(60_000)];
    await approve(approvals);
    const before = bench.store.told.length;
    const dry = reopened(bench, { ...settings, dryRun: true });
    assert.deepEqual(bench.store.told.slice(before), ['approval.failed dry-run orders']);
    assert.deepEqual(
      bench.store.approvals
        .record(1, { after: 0, limit: 200 })
        .steps.filter(({ step }) => step === 'void')
        .map(({ approver, reason }) => [approver, reason]),
      [['orders', 'dry-run']],
    );
    bench.poll();
    await approve(dry, 'billing');
    assert.equal(dry.summary(KEY)?.state, 'dry-run');
    reopened(bench, { ...settings, dryRun: true });
    reopened(bench, settings);
    bench.poll();
    await bench.time.advance(120_000);
    assert.equal(bench.store.told.filter((told) => told.startsWith('approval.failed')).length, 1);
    assert.ok(bench.posts.length <= 1);
  }
});

test('a yes that was told to have failed is not told again by a dry run, and one that got worse meanwhile says so', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t);
  bench.answers = [REFUSED];
  await approve(approvals);
  const told = bench.store.told.length;
  reopened(bench, { dryRun: true });
  assert.equal(bench.store.told.length, told);

  const other = approvalsOverOneEvent(t, { required: 'all' });
  await approve(other.approvals);
  const dry = reopened(other.bench, {
    required: 'all',
    approvers: { orders: { scope: { impacts: ['Reboot'] } }, billing: {} },
    dryRun: true,
  });
  assert.equal(dry.summary(KEY), null);
  assert.equal(other.bench.store.told.at(-1), 'approval.failed changed orders');
});

test('after a dry run a rule decides the occurrences that it had not decided in it', async (t) => {
  const { bench } = approvalsOverOneEvent(t, { ...POLICY, dryRun: true });
  const real = reopened(bench, POLICY);
  t.after(() => bench.close(real));
  bench.list('second');
  bench.poll();
  bench.end(EVENT_ID);
  bench.poll();
  change(bench, {});
  await settle();
  assert.deepEqual(
    bench.posts.map(({ eventIds: [id] }) => id),
    ['second', EVENT_ID],
  );
});

test('a dry run that begins at a restart posts nothing of what was decided before', async (t) => {
  const { bench } = approvalsOverOneEvent(t, POLICY);
  const dry = reopened(bench, { ...POLICY, dryRun: true });
  t.after(() => bench.close(dry));
  bench.poll();
  await bench.time.advance(60_000);
  assert.equal(dry.summary(KEY)?.state, 'dry-run');
  assert.equal(bench.posts.length, 0);
});

test('after a dry run the rule that decided in it stays silent, also where a yes came meanwhile and became void', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t, { ...POLICY, dryRun: true });
  await bench.close(approvals);
  bench.answers = Array.from({ length: 20 }, () => again(1000));
  const real = reopened(bench, POLICY);
  t.after(() => bench.close(real));
  bench.poll();
  const waiting = approve(real);
  await bench.time.advance(3000);
  assert.equal(said(await waiting), '202 submitting');
  const before = bench.posts.length;
  change(bench, { durationInSeconds: 3600 });
  assert.deepEqual(bench.store.told.at(-1), 'approval.failed changed orders');
  await bench.time.advance(60_000);
  assert.equal(bench.posts.length, before);
});
