// Holds and releases by HTTP and messages → who may, what they stop, what the last one lets go.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { ApprovalOrigin, PostResult } from '../../../../src/model/approvals.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ACCEPTED,
  type ApprovalSettings,
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
  reopened,
  STARTED,
  said,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { type Story, testStories } from '../../../virtual/approvals-story.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const THREE = { approvers: { orders: {}, billing: {}, ops: { admin: true } } } as const;
const MINUTE_MS = 60_000;

function hold(approvals: Approvals, approver: string, eventId = EVENT_ID, reason?: string): string {
  return said(approvals.hold(caller(approver), { EventId: eventId, reason }));
}

function release(approvals: Approvals, approver: string, holder: string | null = null): string {
  return said(approvals.release(caller(approver), EVENT_ID, holder));
}

function holders(approvals: Approvals): string {
  return (approvals.summary(KEY)?.holds ?? []).map(({ approver, reason }) => `${approver}: ${reason}`).join(', ');
}

test('a hold is answered with all that stand for the event, and is on disk; no CloudEvent tells it', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.time.advance(5000);
  const first = approvals.hold(caller('orders'), { EventId: KEY.toUpperCase(), reason: 'month end' });
  const at = '2026-01-01T00:00:05.000Z';
  assert.deepEqual(first, {
    ...{ kind: 'held', status: 201 },
    hold: { eventId: EVENT_ID, holds: [{ approver: 'orders', reason: 'month end', at }] },
  });
  const second = approvals.hold(caller('billing'), { EventId: KEY });
  assert.deepEqual(second.kind === 'held' && second.hold.holds[1], { approver: 'billing', reason: null, at });
  assert.deepEqual(
    fixture.store.stored(KEY, 1)?.holds.map(({ approver, via }) => [approver, via]),
    [
      ['orders', 'token'],
      ['billing', 'token'],
    ],
  );
  assert.deepEqual(fixture.store.told, []);
  assert.deepEqual(fixture.told, ['held', 'held']);
});

test('while a hold stands an approval is recorded and answered as held; the release posts it', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  hold(approvals, 'billing');
  assert.deepEqual(await approve(approvals), {
    ...{ kind: 'results', status: 202 },
    results: [{ eventId: EVENT_ID, state: 'held', approvedBy: ['orders'], heldBy: ['billing'] }],
  });
  assert.deepEqual(fixture.store.told, ['approval.recorded orders']);
  await fixture.time.advance(60 * MINUTE_MS);
  fixture.poll();
  await settle();
  assert.equal(fixture.posts.length, 0);
  assert.equal(release(approvals, 'billing'), 'released');
  await settle();
  assert.equal(fixture.posts.length, 1);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

test('one yes of several under a hold is told who holds and for whom it waits', async (t) => {
  const { approvals } = approvalsOverOneEvent(t, { ...THREE, required: ['orders', 'billing'] });
  hold(approvals, 'ops');
  const answered = await approve(approvals);
  assert.deepEqual(answered.kind === 'results' && answered.results[0], {
    ...{ eventId: EVENT_ID, state: 'held', approvedBy: ['orders'] },
    ...{ heldBy: ['ops'], waitingFor: ['billing'] },
  });
});

const NEVER: ApprovalSettings = { policy: [{ when: {}, then: 'never' }] };
const ELSEWHERE: ApprovalSettings = { approvers: { orders: { scope: { impacts: ['Reboot'] } } } };
const REFUSALS: readonly [
  told: string,
  settings: ApprovalSettings,
  fields: Partial<ScheduledEvent> | null,
  body: object,
][] = [
  ['400 bad-request', ELSEWHERE, {}, { eventId: EVENT_ID }],
  ['404 unknown', ELSEWHERE, {}, { EventId: 'nobody' }],
  ['410 ended', ELSEWHERE, null, { EventId: KEY }],
  ['409 started', ELSEWHERE, STARTED, { EventId: KEY }],
  ['409 started', NEVER, STARTED, { EventId: KEY }],
  ['403 forbidden', NEVER, {}, { EventId: KEY }],
  ['403 forbidden', { ...NEVER, ...ELSEWHERE }, {}, { EventId: KEY }],
  ['403 forbidden', {}, { eventType: 'SpotRebalanceRecommendation' }, { EventId: KEY }],
  ['403 scope', ELSEWHERE, {}, { EventId: KEY }],
];
for (const [told, settings, fields, body] of REFUSALS) {
  test(`a hold is refused as ${told}: ${JSON.stringify([settings, fields, body])}`, (t) => {
    const { fixture, approvals } = approvalsOverOneEvent(t, settings);
    if (fields === null) end(fixture);
    else change(fixture, fields);
    const before = fixture.store.transactions;
    const answered = approvals.hold(caller('orders'), body);
    assert.equal(said(answered), told);
    assert.equal(answered.kind === 'refusal' && answered.eventId, (body as { EventId?: string }).EventId);
    assert.equal(fixture.store.transactions, before);
    assert.deepEqual(fixture.told, ['denied']);
  });
}

const SCOPED = (name: string) => ({ scope: { impacts: ['freeze'], resources: [name] } });
const FREEZES: ApprovalSettings = { policy: [{ when: { impacts: ['Freeze'] }, then: 'approve' }] };
const DEADLINE: ApprovalSettings = {
  policy: [{ when: {}, then: 'wait', deadline: { beforeMs: 2 * MINUTE_MS, then: 'approve' } }],
};

testStories([
  [
    'who holds may approve, and is held by itself',
    {},
    'orders holds; orders approves > 202 held; orders releases; posts > 1',
  ],
  [
    'a hold and the yes under it survive restarts, and so does the release',
    {},
    `billing holds: month end; orders approves
    restart without a document; restart without a document; +1 min; poll; +1 min
    holders > billing: month end; posts > 0
    orders approves > 202 held; billing releases > released
    restart without a document; +1 s; holders >; posts > 1`,
  ],
  [
    'each approver has one hold: another by the same one takes its place, and the last release counts',
    {},
    `orders holds: first; billing holds: mine; orders holds: second; holders > orders: second, billing: mine
    orders approves; orders releases > released; +1 min; posts > 0; holders > billing: mine
    billing releases; +1 s; posts > 1`,
  ],
  [
    'once the metadata service has accepted the StartRequest there is nothing left to hold, whatever the scope',
    { approvers: { orders: {}, billing: { scope: { impacts: ['Reboot'] } } } },
    `orders approves; billing holds > 409 submitted
    it starts; billing holds > 409 started
    it is Scheduled; orders holds > 409 submitted`,
  ],
  [
    'a scope that covers some names allows a hold and no approval; one that covers none allows neither',
    { approvers: { orders: SCOPED('westno_0'), billing: SCOPED('eastno_*') } },
    'orders holds > 201 held; orders approves > 403 scope; billing holds > 403 scope',
  ],
  [
    'a name outside a required list may hold, while its yes is refused',
    { required: ['orders'] },
    'billing approves > 403 forbidden; billing holds > 201 held; orders approves > 202 held',
  ],
  [
    'a release is of the own hold; of another one by an admin alone, who alone may ask whether another holds',
    THREE,
    `orders releases > 404 not-held; ops releases > 404 not-held
    orders holds; billing releases > 403 forbidden; billing releases orders > 403 forbidden
    billing releases ops > 403 forbidden; billing releases billing > 404 not-held; holders > orders: null
    billing holds; orders releases orders > released; ops releases orders > 404 not-held
    ops releases billing > released; holders >; posts > 0`,
  ],
  [
    'an admin who names no holder releases its own hold if it has one, else all',
    THREE,
    `orders holds; ops holds; billing holds
    ops releases > released; holders > orders: null, billing: null; ops releases > released; holders >`,
  ],
  [
    'the last release posts nothing that is not decided',
    { required: 'all' },
    `billing holds; orders approves; billing releases; +1 min; posts > 0; state > waiting
    billing approves > 200 submitted`,
  ],
  // The metadata service takes its time, so that there is something to hold.
  ...(
    [
      ['Freeze', 2],
      ['Reboot', 1],
    ] as const
  ).map(
    ([type, posts]): Story => [
      `the last release posts the decision of a rule, if the rule still approves: of a ${type}, ${posts} posts`,
      FREEZES,
      `service answers 503 1 s; orders holds; it is a ${type}; it is described; +1 min; posts > 1
      orders releases; +1 min; posts > ${posts}`,
    ],
  ),
  ...(
    [
      [10, 'waiting', 0],
      [14, 'submitted', 1],
      [15, 'waiting', 0],
      [20, 'waiting', 0],
    ] as const
  ).map(
    ([minutes, told, posts]): Story => [
      `a hold released in minute ${minutes}, of a deadline in minute 13 and NotBefore in minute 15: ${told}`,
      DEADLINE,
      `NotBefore 15 min; orders holds; +${minutes} min; state > held; posts > 0
      orders releases; +1 s; state > ${told}; posts > ${posts}`,
    ],
  ),
  [
    'a quorum under a hold is posted by the last release after NotBefore, too',
    DEADLINE,
    'NotBefore 15 min; billing holds; +14 min; orders approves; +6 min; billing releases; +1 s; posts > 1',
  ],
  [
    'an approval that becomes void under a hold is told so; the hold stands, and its release posts nothing',
    {},
    `billing holds; orders approves; it is a Redeploy
    published > approval.recorded orders, approval.failed changed orders; state > held; holders > billing: null
    billing releases; +1 min; posts > 0`,
  ],
  [
    'a hold while a StartRequest is posted again and again ends that, for as long as it stands',
    {},
    `service answers 503 1 s, 503 1 s, 503 1 s; orders approves; +1500 ms; posts > 2
    billing holds; +1 min; posts > 2; billing releases; +1 min; posts > 4; state > submitted`,
  ],
  [
    'a hold ends with its event: nothing is posted, and the next occurrence is not held',
    {},
    `billing holds; orders approves; it ends; it is Scheduled; state > none
    billing releases > 404 not-held; orders approves > 200 submitted; posts > 1`,
  ],
  [
    'a hold outlasts a start that Azure took back; the yes before it does not, whoever releases',
    {},
    `billing holds; orders approves; it starts; state > moot; it is Scheduled; holders > billing: null
    billing releases > released; +1 min; posts > 0; orders approves > 200 submitted`,
  ],
  [
    'what the metadata service refused is not posted again by a hold and its release, but by another yes',
    THREE,
    `service answers refused; orders asks; +1 s; is answered > 502 refused
    billing holds > 201 held; state > failed; billing releases > released; +1 min; posts > 1
    orders approves > 200 submitted; posts > 2`,
  ],
]);

test('a release lifts no hold that was set after the time that it names', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, THREE);
  hold(approvals, 'orders');
  const beforeMs = fixture.time.wallMs();
  await fixture.time.advance(1);
  hold(approvals, 'billing');
  const releasedBy = (approver: string, holder: string | null) =>
    said(approvals.release(caller(approver), EVENT_ID, holder, beforeMs));
  assert.equal(releasedBy('billing', null), '409 changed');
  assert.equal(releasedBy('ops', 'billing'), '409 changed');
  assert.equal(releasedBy('ops', null), 'released');
  assert.equal(holders(approvals), 'billing: null');
  assert.equal(releasedBy('ops', null), '409 changed', 'the answer was lost and it is sent again');
  assert.equal(holders(approvals), 'billing: null');
  hold(approvals, 'ops');
  assert.equal(releasedBy('ops', null), '409 changed', 'an admin who holds does not mean the others');
  assert.equal(release(approvals, 'ops', 'billing'), 'released');
});

test('a release is refused as an approval is for an event that is unknown, has started or has ended', (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, THREE);
  hold(approvals, 'orders');
  assert.equal(said(approvals.release(caller('orders'), 'nobody', null)), '404 unknown');
  change(fixture, STARTED);
  assert.equal(release(approvals, 'orders'), '409 started');
  end(fixture);
  assert.equal(release(approvals, 'orders'), '410 ended');
});

test('a hold between the decision and the POST: nothing is posted, and the answer names the holder', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.time.advance(10_001);
  const asked = approve(approvals);
  assert.equal(hold(approvals, 'billing'), '201 held');
  await fixture.time.advance(1000);
  assert.equal(said(await asked), '202 held');
  assert.equal(fixture.posts.length, 0);
  release(approvals, 'billing');
  assert.equal(await fixture.postsAfter(1000), 1);
});

test('a hold that comes with the look before the POST: nothing is posted', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.time.advance(10_001);
  const poll = fixture.poll.bind(fixture);
  fixture.poll = () => {
    poll();
    hold(approvals, 'billing');
  };
  const asked = approve(approvals);
  await fixture.time.advance(1000);
  assert.equal(said(await asked), '202 held');
  assert.equal(fixture.reads, 1);
  assert.equal(fixture.posts.length, 0);
});

/** As the routes hold: the answer to what is on its way comes first. */
async function holdAfterAnswer(approvals: Approvals, approver: string): Promise<string> {
  await approvals.answered(EVENT_ID);
  return hold(approvals, approver);
}

test('a hold during a StartRequest is answered after it: too late if the service accepted it, otherwise the hold counts', async (t) => {
  for (const [result, verdict, posts] of [
    [ACCEPTED, '409 submitted', 1],
    [again(1000), '201 held', 1],
  ] as const) {
    const { fixture, approvals, asked, answer } = await approvalOnItsWay(t, THREE);
    assert.equal(hold(approvals, 'billing'), '409 submitting', 'who does not wait');
    const held = holdAfterAnswer(approvals, 'billing');
    await fixture.time.advance(500);
    answer(result);
    await settle();
    assert.equal(await held, verdict);
    await fixture.time.advance(MINUTE_MS);
    assert.equal(said(await asked), verdict === '201 held' ? '202 held' : '200 submitted');
    assert.equal(fixture.posts.length, posts);
    if (verdict !== '201 held') continue;
    assert.equal(approvals.summary(KEY)?.state, 'held');
    release(approvals, 'billing');
    assert.equal(await fixture.postsAfter(1000), 2);
    assert.equal(approvals.summary(KEY)?.state, 'submitted');
  }
});

test('a hold waits for 2 s at most: then it is 409 submitting, nothing is recorded, and nothing of it is left', async (t) => {
  const { fixture, approvals, answer } = await approvalOnItsWay(t, THREE);
  const held = holdAfterAnswer(approvals, 'billing');
  await fixture.time.advance(1999);
  assert.equal(await Promise.race([held, 'waits']), 'waits');
  await fixture.time.advance(1);
  assert.equal(await held, '409 submitting');
  assert.equal(holders(approvals), '');
  answer(again(1000));
  await fixture.time.advance(1000);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
  assert.equal(fixture.posts.length, 2);
});

test('a hold behind a refusal holds: what approvers approve again waits for its release', async (t) => {
  const { fixture, approvals, asked, answer } = await approvalOnItsWay(t, THREE);
  const held = holdAfterAnswer(approvals, 'billing');
  answer(REFUSED);
  assert.deepEqual([said(await asked), await held], ['502 refused', '201 held']);
  assert.equal(said(await approve(approvals)), '202 held');
  assert.equal(fixture.posts.length, 1);
  release(approvals, 'billing');
  await settle();
  assert.equal(fixture.posts.length, 2);
});

test('a caller who may not hold is refused at once, without news of StartRequests in flight', async (t) => {
  const { approvals } = await approvalOnItsWay(t, {
    approvers: { orders: {}, billing: { scope: { impacts: ['Terminate'] } } },
  });
  assert.equal(hold(approvals, 'billing'), '403 scope');
});

test('a hold that is confirmed holds: while a lost answer may have been a yes, there is none', async (t) => {
  const { fixture, approvals, answer } = await approvalOnItsWay(t, THREE);
  fixture.answerTo = () => again(60_000);
  answer(LOST);
  await settle();
  assert.equal(await holdAfterAnswer(approvals, 'billing'), '409 submitting');
  assert.equal(await fixture.postsAfter(1500), 2);
  assert.equal(
    await holdAfterAnswer(approvals, 'billing'),
    '409 submitting',
    'the first one may have been accepted all the same',
  );
  const restarted = reopened(fixture, THREE);
  t.after(() => fixture.close(restarted));
  fixture.answerTo = () => again(60_000);
  fixture.poll();
  await settle();
  assert.equal(hold(restarted, 'billing'), '409 submitting', 'the record keeps the doubt');
  fixture.answerTo = () => ACCEPTED;
  await fixture.time.advance(60_000);
  assert.equal(hold(restarted, 'billing'), '409 submitted');
});

test('a hold that is confirmed holds: an acceptance that cannot be stored yet is no room for one', async (t) => {
  const { fixture, approvals, answer } = await approvalOnItsWay(t, THREE);
  fixture.store.fault = new Error('the disk is full');
  answer(ACCEPTED);
  await settle();
  fixture.store.fault = null;
  assert.equal(hold(approvals, 'billing'), '409 submitting');
  await fixture.time.advance(1000);
  assert.equal(hold(approvals, 'billing'), '409 submitted');
});

test('a release that comes behind a hold is judged behind it', async (t) => {
  const { approvals, answer } = await approvalOnItsWay(t, THREE);
  const held = holdAfterAnswer(approvals, 'billing');
  const released = approvals.answered(EVENT_ID).then(() => release(approvals, 'billing'));
  answer(again(60_000));
  assert.deepEqual(await Promise.all([held, released]), ['201 held', 'released']);
});

test('without a StartRequest in flight, a hold does not wait', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, THREE);
  for (const eventId of [EVENT_ID, 'nobody']) await approvals.answered(eventId);
  assert.equal(fixture.time.pending, 0);
});

test('a stop ends the wait of a hold, which is then refused as all are', async (t) => {
  const { fixture, approvals } = await approvalOnItsWay(t, THREE);
  const refused = assert.rejects(holdAfterAnswer(approvals, 'billing'), { code: 'BRIDGE_APPROVALS_CLOSED' });
  await fixture.close(approvals);
  await refused;
  assert.equal(fixture.time.pending, 0);
});

test('a sink holds again what it prepared for, though a StartRequest is on its way: for those to come, and not after an acceptance', async (t) => {
  const holdingSinks = new Map([['drain', 'node']]);
  const approvers = { orders: {}, node: {} };
  for (const [result, state, holds] of [
    [ACCEPTED, 'submitted', ''],
    [again(1000), 'held', 'node: sink drain prepares'],
  ] as const) {
    const { fixture, approvals } = approvalsOverOneEvent(t, { approvers, holdingSinks });
    fixture.sent.add('drain 1');
    const { promise, resolve } = Promise.withResolvers<PostResult>();
    fixture.answers = [promise];
    approvals
      .request({ approver: 'node', via: 'sink:drain', isShared: false }, startRequests(EVENT_ID))
      .catch(() => {});
    await settle();
    change(fixture, { eventType: 'Reboot' });
    assert.equal(holders(approvals), 'node: sink drain prepares');
    resolve(result);
    await fixture.time.advance(MINUTE_MS);
    assert.equal(approvals.summary(KEY)?.state, state);
    assert.equal(holders(approvals), holds, 'what was accepted is held by nobody');
    assert.equal(fixture.posts.length, 1);
  }
});

test('in a dry run a hold stops the decision as ever, and its release posts nothing, also after the dry run', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { dryRun: true });
  hold(approvals, 'billing');
  assert.equal(said(await approve(approvals)), '202 held');
  release(approvals, 'billing');
  assert.equal(approvals.summary(KEY)?.state, 'dry-run');
  hold(approvals, 'billing');
  assert.equal(approvals.summary(KEY)?.state, 'held');
  const real = reopened(fixture);
  t.after(() => fixture.close(real));
  fixture.poll();
  assert.equal(holders(real), 'billing: null');
  assert.equal(release(real, 'billing'), 'released');
  assert.equal(await fixture.postsAfter(MINUTE_MS), 0);
  assert.equal(said(await approve(real)), '200 submitted');
});

test('a hold or a release that cannot be stored is thrown, and nothing of it counts', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.store.fault = new Error('the disk is full');
  assert.throws(() => hold(approvals, 'billing'), /the disk is full/);
  fixture.store.fault = null;
  assert.equal(holders(approvals), '');
  hold(approvals, 'billing');
  await approve(approvals);
  fixture.store.fault = new Error('the disk is full');
  assert.throws(() => release(approvals, 'billing'), /the disk is full/);
  fixture.store.fault = null;
  await fixture.time.advance(MINUTE_MS);
  assert.equal(holders(approvals), 'billing: null');
  assert.equal(fixture.posts.length, 0);
});

test('a bridge that is stopping takes neither holds nor releases', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.close(approvals);
  const closed = { code: 'BRIDGE_APPROVALS_CLOSED' };
  assert.throws(() => hold(approvals, 'billing'), closed);
  assert.throws(() => release(approvals, 'billing'), closed);
});

test('the record names who held, why, and who released whose hold', (t) => {
  const { approvals } = approvalsOverOneEvent(t, THREE);
  const admin: ApprovalOrigin = { approver: 'ops', via: 'source:queue', isShared: true };
  hold(approvals, 'orders', EVENT_ID, 'month end');
  approvals.release(admin, EVENT_ID, null);
  const life = approvals.life(EVENT_ID);
  assert.ok('steps' in life);
  assert.deepEqual(
    life.steps.map(({ step, approver, via, reason }) => [step, approver, via, reason]),
    [
      ['held', 'orders', 'token', 'month end'],
      ['released', 'ops', 'source:queue', 'orders'],
    ],
  );
});

test('a hold that is said again with the same reason is answered as before, and nothing more is written', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const hold = () => approvals.hold(caller('orders'), { EventId: EVENT_ID, reason: 'month end' });
  const first = hold();
  await fixture.time.advance(MINUTE_MS);
  assert.deepEqual(hold(), first);
  const life = approvals.life(EVENT_ID);
  assert.deepEqual('steps' in life && life.steps.map(({ step }) => step), ['held']);
});
