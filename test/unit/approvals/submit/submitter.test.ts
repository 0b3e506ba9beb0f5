// A decided approval → when it is posted, and what follows: late, refused, or after a crash.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { ApprovalAnswer } from '../../../../src/approvals/requests/answer.ts';
import { BridgeError } from '../../../../src/errors.ts';
import type { PostResult } from '../../../../src/model/approvals.ts';
import { EVENT_ID, scheduledEvent } from '../../../support/events.ts';
import {
  ACCEPTED,
  ApprovalsFixture,
  again,
  approvalOnItsWay,
  approvalsOverOneEvent,
  approve,
  caller,
  change,
  end,
  KEY,
  LOST,
  REFUSED,
  STARTED,
  said,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

async function stateOf(asked: Promise<ApprovalAnswer>): Promise<string> {
  return said(await asked);
}

test('a document of at most 10 s is good enough, and nothing is read again', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.time.advance(10_000);
  assert.equal(await stateOf(approve(approvals)), '200 submitted');
  assert.equal(fixture.reads, 0);
});

test('an older document is read again first', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.time.advance(10_001);
  assert.equal(await stateOf(approve(approvals)), '200 submitted');
  assert.equal(fixture.reads, 1);
  assert.equal(fixture.posts[0]?.documentAgeMs, 0);
});

test('if a new read shows a worse event, the approval is void and the answer says so', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.time.advance(10_001);
  fixture.list(EVENT_ID, { durationInSeconds: 60 });
  assert.equal(await stateOf(approve(approvals)), '409 changed');
  assert.equal(fixture.posts.length, 0);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.failed changed orders']);
});

test('if a new read shows that the event has started, the approval is moot', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.time.advance(10_001);
  fixture.list(EVENT_ID, STARTED);
  assert.equal(await stateOf(approve(approvals)), '200 moot');
  assert.equal(fixture.posts.length, 0);
  assert.deepEqual(fixture.told, ['recorded', 'decided', 'moot']);
});

test('if a new read shows that the event has ended, the approval is moot', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.time.advance(10_001);
  fixture.end(EVENT_ID);
  assert.equal(await stateOf(approve(approvals)), '200 moot');
  assert.equal(fixture.posts.length, 0);
});

test('without sight of the service nothing is posted until a good document lists the event as Scheduled', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.isAway = true;
  await fixture.time.advance(10_001);
  assert.equal(await stateOf(approve(approvals)), '202 submitting');
  assert.equal(await fixture.postsAfter(3_600_000), 0);
  fixture.isAway = false;
  assert.equal(await fixture.postsAfter(1000), 1);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

test('the answer comes after 2 s if the metadata service has not answered', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const { promise, resolve } = Promise.withResolvers<PostResult>();
  fixture.answers = [promise];
  const asked = approve(approvals);
  let isAnswered = false;
  asked.finally(() => (isAnswered = true)).catch(() => {});
  await fixture.time.advance(1999);
  assert.equal(isAnswered, false);
  await fixture.time.advance(1);
  assert.equal(await stateOf(asked), '202 submitting');
  resolve(ACCEPTED);
  await settle();
  assert.equal(await stateOf(approve(approvals)), '200 submitted');
  assert.equal(fixture.posts.length, 1);
});

test('a failed attempt is answered at once, and posted again after the pause that the rhythm asks for', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [again(1000), again(2000)];
  assert.equal(await stateOf(approve(approvals)), '202 submitting');
  await fixture.time.advance(5000);
  assert.deepEqual(
    fixture.posts.map(({ atMs }) => atMs),
    [0, 1000, 3000],
  );
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
});

test('an event that got worse between two attempts is not posted again', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [again(4000)];
  await approve(approvals);
  change(fixture, { eventType: 'Redeploy' });
  assert.equal(await fixture.postsAfter(60_000), 1);
  assert.equal(fixture.store.told.at(-1), 'approval.failed changed orders');
});

test('a StartRequest that is accepted after its approval became void is told as submitted', async (t) => {
  const { fixture, approvals, asked, answer } = await approvalOnItsWay(t);
  change(fixture, { eventType: 'Redeploy' });
  answer(ACCEPTED);
  assert.equal(await stateOf(asked), '200 submitted');
  assert.deepEqual(approvals.summary(KEY)?.approvedBy, ['orders']);
});

test('a StartRequest that is accepted after its event was seen Started is told as submitted, and confirmed', async (t) => {
  const { fixture, asked, answer } = await approvalOnItsWay(t);
  change(fixture, STARTED);
  answer(ACCEPTED);
  assert.equal(await stateOf(asked), '200 started');
  assert.equal(fixture.store.stored(KEY, 1)?.state, 'confirmed');
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
  assert.deepEqual(fixture.told, ['recorded', 'decided', 'submitted', 'confirmed']);
});

test('while the answer to a StartRequest is away nobody is told that the event started without it, though a document shows it Started', async (t) => {
  const { fixture, approvals, asked, answer } = await approvalOnItsWay(t);
  change(fixture, STARTED);
  await fixture.time.advance(3000);
  assert.equal(await stateOf(asked), '202 submitting');
  answer(ACCEPTED);
  await settle();
  assert.equal(approvals.summary(KEY)?.state, 'confirmed');
});

test('a StartRequest that is put off after its event was seen Started is moot, and posted no more', async (t) => {
  for (const isBack of [false, true]) {
    const { fixture, asked, answer } = await approvalOnItsWay(t);
    change(fixture, STARTED);
    if (isBack) change(fixture, { eventStatus: 'Scheduled' });
    answer(again(1000));
    await fixture.time.advance(60_000);
    assert.equal(await stateOf(asked), '200 moot');
    assert.equal(fixture.posts.length, 1);
    assert.equal(fixture.told.at(-1), 'moot');
  }
});

test('a StartRequest whose answer got lost, and its event starts or goes: unknown, since it may have been what started it', async (t) => {
  for (const pass of [
    (fixture: ApprovalsFixture) => fixture.list(EVENT_ID, STARTED),
    (fixture: ApprovalsFixture) => fixture.end(EVENT_ID),
  ]) {
    const { fixture, approvals } = approvalsOverOneEvent(t);
    fixture.answers = [LOST];
    assert.equal(await stateOf(approve(approvals)), '202 submitting');
    pass(fixture);
    fixture.poll();
    await fixture.time.advance(60_000);
    assert.equal(fixture.store.stored(KEY, 1)?.state, 'unknown');
    assert.equal(fixture.posts.length, 1);
    assert.deepEqual(fixture.told, ['recorded', 'decided', 'unknown']);
    assert.deepEqual(fixture.store.told, ['approval.recorded orders']);
  }
});

test('the same if a hold arrives while it is in flight', async (t) => {
  const { fixture, approvals, asked, answer } = await approvalOnItsWay(t);
  approvals.hold(caller('billing'), { EventId: EVENT_ID });
  answer(LOST);
  await settle();
  change(fixture, STARTED);
  assert.equal(fixture.store.stored(KEY, 1)?.state, 'unknown');
  await asked;
});

/** As a connection that was refused, or cut behind the request: both have the same code. */
function unreachable(mayHaveArrived: boolean): PostResult {
  const error = new BridgeError('BRIDGE_METADATA_UNREACHABLE', 'the metadata service cannot be reached');
  return { kind: 'again', delayMs: 1000, error, mayHaveArrived };
}

test('a lost answer stays in doubt over a restart, though one before it failed with the same code and had not arrived', async (t) => {
  const rule = { policy: [{ when: {}, then: 'approve' }] } as const;
  const { fixture } = approvalsOverOneEvent(t, rule);
  fixture.answers = [unreachable(false), unreachable(true), again(3_600_000)];
  assert.equal(await fixture.postsAfter(5000), 3);
  // It would not have been the turn of this one.
  const restarted = fixture.open({
    ...rule,
    group: { submit: 'leader', failoverAfterMs: 10_000, members: [] },
    ownName: 'elsewhere',
  });
  t.after(() => fixture.close(restarted));
  change(fixture, STARTED);
  assert.equal(fixture.store.stored(KEY, 1)?.state, 'unknown');
});

test('a lost answer stays in doubt over a restart, though the service refused the StartRequest behind it', async (t) => {
  const rule = { policy: [{ when: {}, then: 'approve' }] } as const;
  const { fixture, approvals } = approvalsOverOneEvent(t, rule);
  fixture.answers = [LOST, REFUSED];
  await fixture.time.advance(2000);
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  fixture.answerTo = () => again(3_600_000);
  const restarted = fixture.open(rule);
  t.after(() => fixture.close(restarted));
  await fixture.time.advance(2000);
  change(fixture, STARTED);
  assert.equal(fixture.store.stored(KEY, 1)?.state, 'unknown');
});

test('a StartRequest on its way whose approval is void by then may be what started the event, until its answer says otherwise', async (t) => {
  const pass = (result: PostResult | null, isOver: boolean) => async () => {
    const { fixture, answer } = await approvalOnItsWay(t);
    change(fixture, { eventType: 'Reboot' });
    assert.equal(fixture.store.stored(KEY, 1)?.state, 'waiting');
    change(fixture, STARTED);
    assert.equal(fixture.store.stored(KEY, 1)?.state, 'waiting', 'nobody knows yet');
    if (isOver) end(fixture);
    if (result !== null) answer(result);
    await settle();
    return fixture.store.stored(KEY, 1)?.state;
  };
  assert.equal(await pass(null, true)(), 'unknown', 'it is over before the answer');
  assert.equal(await pass(ACCEPTED, false)(), 'confirmed');
  assert.equal(await pass(LOST, false)(), 'unknown');
  assert.equal(await pass(again(1000), false)(), 'moot');
});

test('a refusal brings back no yes that became void while it was on its way, and takes nothing from one that was said meanwhile', async (t) => {
  const { fixture, approvals, answer } = await approvalOnItsWay(t, { required: 2 });
  approve(approvals, 'billing').catch(() => {});
  await settle();
  change(fixture, { eventType: 'Reboot' });
  fixture.store.seenEvents.set('reboot', {
    change: 'updated',
    key: KEY,
    occurrence: 1,
    event: scheduledEvent({ eventType: 'Reboot' }),
  });
  approvals.request(caller('orders'), { StartRequests: [{ EventId: EVENT_ID, Seen: 'reboot' }] }).catch(() => {});
  approve(approvals, 'billing').catch(() => {});
  answer(REFUSED);
  await settle();
  const { state, votes } = fixture.store.stored(KEY, 1) ?? {};
  assert.equal(state, 'failed');
  assert.deepEqual(
    votes?.map(({ approver, event, hasSeen }) => [approver, event.eventType, hasSeen]),
    [
      ['orders', 'Reboot', true],
      ['billing', 'Reboot', false],
    ],
  );
});

test('what the service accepts after a dry run began was no part of it: it stays submitted when the dry run ends', async (t) => {
  const { fixture, approvals, answer } = await approvalOnItsWay(t);
  const rules = { approvers: { orders: {}, billing: {} }, required: 'any', policy: null } as const;
  const group = { submit: 'every', failoverAfterMs: 10_000, members: [] } as const;
  approvals.reload({ ...rules, group, dryRun: true });
  answer(ACCEPTED);
  await settle();
  approvals.reload({ ...rules, group, dryRun: false });
  assert.equal(await stateOf(approve(approvals, 'billing')), '200 submitted');
  assert.equal(fixture.posts.length, 1);
});

test('a stop that gives up a StartRequest on its way leaves its answer in doubt, though the event went back to Scheduled meanwhile', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [new Promise(() => {})];
  approve(approvals).catch(() => {});
  await settle();
  change(fixture, STARTED);
  change(fixture, { eventStatus: 'Scheduled' });
  await fixture.close(approvals);
  assert.equal(fixture.store.stored(KEY, 1)?.state, 'unknown');
});

test('an answer that was lost leaves no doubt once the service has accepted it, or for what comes after', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [LOST];
  await approve(approvals);
  await fixture.time.advance(1000);
  change(fixture, STARTED);
  assert.equal(approvals.summary(KEY)?.state, 'confirmed');

  const other = approvalsOverOneEvent(t);
  other.fixture.answers = [LOST];
  await approve(other.approvals);
  for (const fields of [STARTED, { eventStatus: 'Scheduled' } as const]) {
    other.fixture.list(EVENT_ID, fields);
    other.fixture.poll();
  }
  other.fixture.answers = [again(60_000)];
  await approve(other.approvals, 'billing');
  other.fixture.list(EVENT_ID, STARTED);
  other.fixture.poll();
  assert.equal(other.approvals.summary(KEY)?.state, 'moot', 'what was answered 503 was not accepted');
});

test('refused, and still Scheduled in a document read after that: failed', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [REFUSED];
  assert.equal(await stateOf(approve(approvals)), '502 refused');
  assert.equal(fixture.reads, 1);
  assert.equal(await fixture.postsAfter(3_600_000), 1);
});

test('refused, and started or gone in a document read after that: moot', async (t) => {
  for (const change of [
    (fixture: ApprovalsFixture) => fixture.list(EVENT_ID, STARTED),
    (fixture: ApprovalsFixture) => fixture.end(EVENT_ID),
  ]) {
    const { fixture, approvals } = approvalsOverOneEvent(t);
    fixture.answers = [REFUSED];
    change(fixture);
    assert.equal(await stateOf(approve(approvals)), '200 moot');
    assert.deepEqual(fixture.store.told, ['approval.recorded orders']);
  }
});

test('refused, and no document to be had: decided by the next good one, without another POST', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [REFUSED];
  fixture.isAway = true;
  assert.equal(await stateOf(approve(approvals)), '202 submitting');
  await fixture.time.advance(30_000);
  assert.equal(approvals.summary(KEY)?.state, 'submitting');
  fixture.isAway = false;
  await fixture.time.advance(1000);
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  assert.equal(fixture.posts.length, 1);
});

test('an acceptance that cannot be stored is stored later, and not posted again', async (t) => {
  const { fixture, approvals, asked, answer } = await approvalOnItsWay(t);
  fixture.store.fault = new Error('the disk is full');
  answer(ACCEPTED);
  assert.equal(await stateOf(asked), '202 submitting');
  await fixture.time.advance(5000);
  fixture.store.fault = null;
  await fixture.time.advance(1000);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
  assert.equal(fixture.posts.length, 1);
});

test('killed after an approval was stored and before it was posted: it is posted after the start, on a document of that process', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const asked = approve(approvals);
  asked.catch(() => {});
  const restarted = fixture.open();
  t.after(() => fixture.close(restarted));
  fixture.forgetReading();
  await fixture.time.advance(1000);
  assert.deepEqual(
    fixture.posts.map(({ documentAgeMs }) => documentAgeMs),
    [0],
  );
  assert.equal(restarted.summary(KEY)?.state, 'submitted');
  assert.equal(fixture.reads, 1);
});

test('killed before it was posted, and the event started meanwhile: no StartRequest', async (t) => {
  for (const change of [
    (fixture: ApprovalsFixture) => fixture.list(EVENT_ID, STARTED),
    (fixture: ApprovalsFixture) => fixture.end(EVENT_ID),
  ]) {
    const { fixture, approvals } = approvalsOverOneEvent(t);
    approve(approvals).catch(() => {});
    change(fixture);
    const restarted = fixture.open();
    t.after(() => fixture.close(restarted));
    fixture.forgetReading();
    assert.equal(await fixture.postsAfter(60_000), 0);
  }
});

test('killed after the metadata service accepted and before that was stored: posted again while it is Scheduled, told once', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [new Promise(() => {})];
  approve(approvals).catch(() => {});
  await settle();
  const restarted = fixture.open();
  t.after(() => fixture.close(restarted));
  assert.equal(await fixture.postsAfter(1000), 2);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
});

test('what was submitted is not posted again after a restart', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await approve(approvals);
  const restarted = fixture.open();
  t.after(() => fixture.close(restarted));
  assert.equal(await fixture.postsAfter(60_000), 1);
  assert.equal(restarted.summary(KEY)?.state, 'submitted');
});

test('a restart with another configuration judges anew: who may no longer approve is void, a smaller quorum may be full', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [again(3_600_000)];
  await approve(approvals);
  const narrower = fixture.open({ approvers: { orders: { scope: { impacts: ['Reboot'] } }, billing: {} } });
  t.after(() => fixture.close(narrower));
  assert.equal(await fixture.postsAfter(60_000), 1);
  assert.equal(fixture.store.told.at(-1), 'approval.failed changed orders');
  await narrower.request(caller('billing'), startRequests(EVENT_ID));
  assert.equal(fixture.posts.length, 2);
});

test('closing lets a POST under way end and keeps what it brought', async (t) => {
  const { fixture, approvals, asked, answer } = await approvalOnItsWay(t);
  const closed = approvals[Symbol.asyncDispose]();
  answer(ACCEPTED);
  await closed;
  assert.equal(await stateOf(asked), '200 submitted');
  assert.equal(fixture.store.stored(KEY, 1)?.state, 'submitted');
});

test('closing aborts a POST that hangs, and leaves no timer behind', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [new Promise(() => {})];
  const asked = approve(approvals);
  await settle();
  const closed = approvals[Symbol.asyncDispose]();
  await fixture.time.advance(5000);
  await closed;
  assert.equal(await stateOf(asked), '202 submitting');
  assert.equal(fixture.time.pending, 0);
});

type Step =
  | 'approve orders'
  | 'approve billing'
  | 'worse'
  | 'milder'
  | 'start'
  | 'unstart'
  | 'end'
  | 'poll'
  | 'away'
  | 'back'
  | 'wait'
  | 'restart'
  | 'disk';

test('whatever happens, a StartRequest goes out only for a full quorum and an event that a document of at most 10 s lists as Scheduled', async () => {
  const step = fc.constantFrom<Step>(
    ...([
      'approve orders',
      'approve billing',
      'worse',
      'milder',
      'start',
      'unstart',
      'end',
      'poll',
      'away',
      'back',
      'wait',
      'restart',
      'disk',
    ] as const),
  );
  const result = fc.constantFrom<PostResult>(ACCEPTED, again(1500), REFUSED);
  const run = async (steps: readonly Step[], answers: PostResult[], required: 'any' | 'all') => {
    const fixture = new ApprovalsFixture();
    fixture.answers = answers;
    let approvals = fixture.open({ required });
    change(fixture);
    let checked = 0;
    for (const next of steps) {
      await take(
        next,
        fixture,
        () => approvals,
        () => (approvals = fixture.open({ required })),
      );
      for (const post of fixture.posts.slice(checked)) {
        checked++;
        assert.ok(post.documentAgeMs !== null && post.documentAgeMs <= 10_000, 'posted on an old document');
        assert.ok(post.scheduled, 'posted though it is not Scheduled in the last document');
        assert.ok(post.votes >= (required === 'all' ? 2 : 1), 'posted without a full quorum');
      }
    }
    fixture.store.fault = null;
    await fixture.close(approvals);
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.array(result, { maxLength: 6 }),
      fc.constantFrom('any' as const, 'all' as const),
      run,
    ),
    { numRuns: 200 },
  );
});

async function take(
  step: Step,
  fixture: ApprovalsFixture,
  approvals: () => Approvals,
  restart: () => void,
): Promise<void> {
  const asked = (name: string) =>
    approvals()
      .request(caller(name), startRequests(EVENT_ID))
      .catch(() => {});
  const does: Record<Step, () => unknown> = {
    'approve orders': () => void asked('orders'),
    'approve billing': () => void asked('billing'),
    worse: () => fixture.list(EVENT_ID, { eventType: 'Terminate' }),
    milder: () => fixture.list(EVENT_ID, { eventType: 'Freeze' }),
    start: () => fixture.list(EVENT_ID, { eventStatus: 'Started' }),
    unstart: () => fixture.list(EVENT_ID, { eventStatus: 'Scheduled' }),
    end: () => fixture.end(EVENT_ID),
    poll: () => fixture.isAway || fixture.store.fault || fixture.poll(),
    away: () => (fixture.isAway = true),
    back: () => (fixture.isAway = false),
    wait: () => fixture.time.advance(7000),
    restart: () => {
      if (fixture.store.fault) return;
      restart();
      fixture.forgetReading();
    },
    disk: () => (fixture.store.fault = fixture.store.fault ? null : new Error('the disk is full')),
  };
  await does[step]();
  await settle();
}
