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
  RULES,
  STARTED,
  said,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { type Story, testStories } from '../../../virtual/approvals-story.ts';
import { settle } from '../../../virtual/virtual-time.ts';

async function stateOf(asked: Promise<ApprovalAnswer>): Promise<string> {
  return said(await asked);
}

const GONE_OR_STARTED = ['it Started', 'it no more'];

testStories([
  [
    'a document of at most 10 s is good enough, and nothing is read again',
    {},
    '+10 s; orders approves > 200 submitted; reads > 0',
  ],
  [
    'an older document is read again first',
    {},
    '+10001 ms; orders approves > 200 submitted; reads > 1; document ages > 0',
  ],
  [
    'if a new read shows a worse event, the approval is void and the answer says so',
    {},
    `+10001 ms; service lists it with 60 s; orders approves > 409 changed; posts > 0
    published > approval.recorded orders, approval.failed changed orders`,
  ],
  ...GONE_OR_STARTED.map(
    (how): Story => [
      `if the service lists ${how} at a new read, the approval is moot`,
      {},
      `+10001 ms; service lists ${how}; orders approves > 200 moot; posts > 0; told > recorded decided moot`,
    ],
  ),
  [
    'without sight of the service nothing is posted until a good document lists the event as Scheduled',
    {},
    `service is away; +10001 ms; orders approves > 202 submitting; +60 min; posts > 0
    service is back; +1 s; posts > 1; state > submitted`,
  ],
  [
    'a failed attempt is answered at once, and posted again after the pause that the schedule requires',
    {},
    `service answers 503 1 s, 503 2 s; orders approves > 202 submitting; +5 s; posted at ms > 0, 1000, 3000
    state > submitted; published > approval.recorded orders, approval.submitted orders`,
  ],
  [
    'an event that got worse between two attempts is not posted again',
    {},
    `service answers 503 4 s; orders approves; it is a Redeploy; +1 min; posts > 1
    published > approval.recorded orders, approval.failed changed orders`,
  ],
  [
    'a StartRequest that is accepted after its approval became void is told as submitted',
    {},
    `service is silent; orders asks; it is a Redeploy; service at last answers accepted
    is answered > 200 submitted; approved by > orders`,
  ],
  [
    'a StartRequest that is accepted after its event was seen Started is told as submitted, and confirmed',
    {},
    `service is silent; orders asks; it starts; service at last answers accepted; is answered > 200 started
    on disk > confirmed by quorum; published > approval.recorded orders, approval.submitted orders
    told > recorded decided submitted confirmed`,
  ],
  [
    'while the answer to a StartRequest is away nobody is told that the event started without it',
    {},
    `service is silent; orders asks; it starts; +3 s; is answered > 202 submitting
    service at last answers accepted; state > confirmed`,
  ],
  ...(
    [
      ['it starts', 'moot'],
      ['it starts; it is Scheduled', 'unknown moot'],
    ] as const
  ).map(
    ([change, told]): Story => [
      `a StartRequest that is put off is moot, and posted no more: ${change}`,
      {},
      `service is silent; orders asks; ${change}; service at last answers 503 1 s; +1 min
      is answered > 200 moot; posts > 1; told > recorded decided ${told}`,
    ],
  ),
  ...GONE_OR_STARTED.map(
    (how): Story => [
      `a StartRequest whose answer got lost, and the service lists ${how}: unknown, since it may have started the event`,
      {},
      `service answers lost; orders approves > 202 submitting; service lists ${how}; poll; +1 min
      on disk > unknown by quorum; posts > 1; told > recorded decided unknown; published > approval.recorded orders`,
    ],
  ),
  [
    'the same if a hold arrives while it is in flight',
    {},
    `service is silent; orders asks; billing holds; service at last answers lost; it starts
    on disk > unknown by quorum; is answered`,
  ],
  [
    'a stop that gives up a StartRequest on its way leaves its answer in doubt, though the event is Scheduled again',
    {},
    'service is silent; orders asks; it starts; it is Scheduled; stop; on disk > unknown by quorum',
  ],
  [
    'refused, and still Scheduled in a document read after that: failed',
    {},
    'service answers refused; orders approves > 502 refused; reads > 1; +60 min; posts > 1',
  ],
  ...GONE_OR_STARTED.map(
    (how): Story => [
      `refused, and a document read after that lists ${how}: moot`,
      {},
      `service answers refused; service lists ${how}; orders approves > 200 moot; published > approval.recorded orders`,
    ],
  ),
  [
    'refused, and no document to be had: decided by the next good one, without another POST',
    {},
    `service answers refused; service is away; orders approves > 202 submitting; +30 s; state > submitting
    service is back; +1 s; state > failed; posts > 1`,
  ],
  [
    'an acceptance that cannot be stored is stored later, and not posted again',
    {},
    `service is silent; orders asks; disk is full; service at last answers accepted; is answered > 202 submitting
    +5 s; disk is well; +1 s; state > submitted; posts > 1`,
  ],
  [
    'killed after the metadata service accepted and before that was stored: posted again while Scheduled, told once',
    {},
    `service is silent; orders asks; restart; +1 s; posts > 2
    published > approval.recorded orders, approval.submitted orders`,
  ],
  [
    'what was submitted is not posted again after a restart',
    {},
    'orders approves; restart; +1 min; posts > 1; state > submitted',
  ],
  [
    'closing aborts a POST that hangs, and leaves no timer behind',
    {},
    'service is silent; orders asks; stop; is answered > 202 submitting; timers > 0',
  ],
]);

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

/** As a connection that was refused, or cut behind the request: both have the same code. */
function unreachable(mayHaveArrived: boolean): PostResult {
  const error = new BridgeError('BRIDGE_METADATA_UNREACHABLE', 'the metadata service cannot be reached');
  return { kind: 'again', delayMs: 1000, error, mayHaveArrived };
}

for (const [what, fields] of [
  ['has started', STARTED],
  ['names one more machine', { resources: ['WestNO_0', 'other_1'] }],
] as const)
  test(`nothing is posted again while a document that says that the event ${what} cannot be stored`, async (t) => {
    const { fixture, approvals } = approvalsOverOneEvent(t);
    fixture.answers = [LOST];
    assert.equal(await stateOf(approve(approvals)), '202 submitting');
    const posts = fixture.posts.length;
    fixture.store.fault = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
    fixture.list(EVENT_ID, fields);
    assert.throws(() => fixture.poll(), /the disk is full/);
    assert.equal(await fixture.postsAfter(5000), posts);
    fixture.store.fault = null;
    fixture.poll();
    assert.equal(await fixture.postsAfter(5000), posts);
  });

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
  approvals.reload({ ...RULES, dryRun: true });
  answer(ACCEPTED);
  await settle();
  approvals.reload(RULES);
  assert.equal(await stateOf(approve(approvals, 'billing')), '200 submitted');
  assert.equal(fixture.posts.length, 1);
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
