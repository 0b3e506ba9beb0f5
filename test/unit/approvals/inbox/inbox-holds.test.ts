// Messages with Holds, Releases and StartRequests → what they hold, release, post: all or nothing.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PostResult } from '../../../../src/model/approvals.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ACCEPTED,
  type ApprovalSettings,
  type ApprovalsFixture,
  again,
  approvalsOverOneEvent,
  caller,
  change,
  end,
  KEY,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { letter, ORIGIN, take, verdictOf } from '../../../virtual/inbox-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const HOLD = { Holds: [{ EventId: EVENT_ID, reason: 'month end' }] };
const RELEASE = { Releases: [{ EventId: EVENT_ID }] };
const OPS = { ...ORIGIN, approver: 'ops' };
const THREE: ApprovalSettings = { approvers: { orders: {}, billing: {}, ops: { admin: true } } };

function send(fixture: ApprovalsFixture, approvals: Approvals, body: object, origin = ORIGIN): Promise<string> {
  return take(fixture, approvals, letter(fixture, body), origin);
}

function holders(approvals: Approvals, key = KEY): string {
  return (approvals.summary(key)?.holds ?? []).map(({ approver, reason }) => `${approver}: ${reason}`).join(', ');
}

test('a message holds, and another one releases', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  assert.equal(await send(fixture, approvals, HOLD), 'settle');
  assert.equal(holders(approvals), 'orders: month end');
  assert.deepEqual(
    fixture.store.stored(KEY, 1)?.holds.map(({ via, isShared }) => [via, isShared]),
    [['source:topic', true]],
  );
  await approvals.request(caller('billing'), startRequests(EVENT_ID));
  assert.equal(fixture.posts.length, 0);
  assert.equal(await send(fixture, approvals, RELEASE), 'settle');
  await settle();
  assert.equal(fixture.posts.length, 1);
});

test('a hold in the data of a CloudEvent is recorded', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const event = { specversion: '1.0', id: '1', source: '/workflow', type: 'com.example.busy', data: HOLD };
  assert.equal(await send(fixture, approvals, event), 'settle');
  assert.equal(holders(approvals), 'orders: month end');
});

test('a message that holds and approves posts nothing until the hold is released', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  assert.equal(await send(fixture, approvals, { ...startRequests(EVENT_ID), ...HOLD }), 'settle');
  assert.equal(await fixture.postsAfter(60_000), 0);
  assert.equal(approvals.summary(KEY)?.state, 'held');
  assert.deepEqual(approvals.summary(KEY)?.approvedBy, ['orders']);
  await send(fixture, approvals, RELEASE);
  await settle();
  assert.equal(fixture.posts.length, 1);
});

test('a message that releases and approves posts', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await send(fixture, approvals, HOLD);
  assert.equal(await send(fixture, approvals, { ...RELEASE, ...startRequests(EVENT_ID) }), 'settle');
  await settle();
  assert.equal(fixture.posts.length, 1);
});

test('a hold and the yes in one message are one transaction, and one that fails leaves neither', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.store.fault = new Error('the disk is full');
  const message = letter(fixture, { ...startRequests(EVENT_ID), ...HOLD });
  assert.match(await take(fixture, approvals, message), /^error/);
  fixture.store.fault = null;
  assert.equal(approvals.summary(KEY), null);
  const before = fixture.store.transactions;
  assert.equal(await take(fixture, approvals, message), 'settle');
  assert.equal(fixture.store.transactions - before, 1);
});

test('a message is released by its own approver, by an admin, and by nobody else', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, THREE);
  const billing = { ...ORIGIN, approver: 'billing' };
  await send(fixture, approvals, HOLD);
  await send(fixture, approvals, HOLD, billing);
  const named = { Releases: [{ EventId: KEY, approver: 'orders' }] };
  assert.equal(await send(fixture, approvals, named, billing), 'forbidden');
  assert.equal(await send(fixture, approvals, named, OPS), 'settle');
  assert.equal(holders(approvals), 'billing: month end');
  assert.equal(await send(fixture, approvals, RELEASE), 'forbidden');
  assert.equal(await send(fixture, approvals, RELEASE, OPS), 'settle');
  assert.equal(await send(fixture, approvals, RELEASE, OPS), 'not-held');
  assert.deepEqual(fixture.store.told, [
    'approval.failed forbidden billing',
    'approval.failed forbidden orders',
    'approval.failed not-held ops',
  ]);
});

test('a release by an admin who names nobody lifts no hold that was set after it was sent, however late it comes', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, THREE);
  await send(fixture, approvals, HOLD);
  await fixture.time.advance(1000);
  const late = [
    letter(fixture, RELEASE),
    letter(fixture, RELEASE),
    letter(fixture, { Releases: [{ EventId: EVENT_ID, approver: 'billing' }] }),
  ];
  await fixture.time.advance(1000);
  approvals.hold(caller('billing'), { EventId: EVENT_ID, reason: 'not yet' });
  const taken = async () => await take(fixture, approvals, late.shift() as (typeof late)[0], OPS);
  assert.equal(await taken(), 'settle');
  assert.equal(holders(approvals), 'billing: not yet');
  assert.equal(await taken(), 'changed');
  assert.equal(holders(approvals), 'billing: not yet');
  assert.equal(fixture.store.told.at(-1), 'approval.failed changed ops');
  assert.equal(await taken(), 'settle', 'it names whose');
  assert.equal(holders(approvals), '');
});

test('a hold and a release that were both sent before this bridge took them count in the order in which they were sent', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, THREE);
  const held = letter(fixture, HOLD);
  await fixture.time.advance(1000);
  const released = letter(fixture, RELEASE);
  await fixture.time.advance(1000);
  assert.equal(await take(fixture, approvals, held), 'settle');
  assert.equal(await take(fixture, approvals, released, OPS), 'settle');
  assert.equal(fixture.store.stored(KEY, 1)?.holds.length, 0);
});

test('the first refusal of any part refuses all of the message', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, THREE);
  fixture.list('second');
  fixture.list('gone');
  fixture.poll();
  fixture.end('gone');
  fixture.list('begun', { eventStatus: 'Started' });
  fixture.poll();
  const more: [object, string][] = [
    [{ Holds: [{ EventId: 'second' }, { EventId: 'begun' }] }, 'started'],
    [{ Holds: [{ EventId: 'second' }], Releases: [{ EventId: EVENT_ID }] }, 'not-held'],
    [{ ...HOLD, StartRequests: [{ EventId: 'second' }, { EventId: 'begun' }] }, 'started'],
    [{ ...startRequests('begun'), Holds: [{ EventId: 'second', reason: 7 }] }, 'bad-request'],
  ];
  for (const [body, reason] of more) {
    assert.equal(await send(fixture, approvals, body), reason);
    assert.equal(approvals.summary(KEY), null);
    assert.equal(approvals.summary('second'), null);
  }
});

test('a hold that was sent before the last end of its event is refused as old', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const message = letter(fixture, HOLD);
  await fixture.time.advance(1000);
  end(fixture);
  change(fixture);
  assert.equal(await take(fixture, approvals, message), 'old');
  assert.equal(holders(approvals), '');
});

test('a hold of an event that is not listed yet is kept for a minute, over a restart', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  assert.equal(await send(fixture, approvals, { Holds: [{ EventId: 'LATER' }] }), 'settle');
  const restarted = fixture.open();
  t.after(() => fixture.close(restarted));
  fixture.list('later');
  fixture.poll();
  assert.equal(holders(restarted, 'later'), 'orders: null');
  assert.equal(await send(fixture, restarted, { Holds: [{ EventId: 'never' }] }), 'settle');
  await fixture.time.advance(60_000);
  assert.equal(fixture.store.told.at(-1), 'approval.failed unknown orders');
});

test('a redelivered message does not hold a second time', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const message = letter(fixture, HOLD);
  await take(fixture, approvals, message);
  await send(fixture, approvals, RELEASE);
  assert.equal(await take(fixture, approvals, message), 'settle');
  assert.equal(holders(approvals), '');
  assert.deepEqual(fixture.messages, ['topic settled', 'topic settled', 'topic repeated']);
});

test('a thousand holds in odd letter case, some of them twice: one transaction, the last reason, and one release for all', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const ids = Array.from({ length: 1000 }, (_, index) => `Event-${index}`);
  for (const id of ids) fixture.list(id);
  fixture.poll();
  const odd = ids.map((id, index) => ({ EventId: index % 2 ? id.toUpperCase() : id.toLowerCase(), reason: 'first' }));
  const before = fixture.store.transactions;
  const Holds = [...odd, ...ids.slice(0, 200).map((EventId) => ({ EventId, reason: 'last' }))];
  assert.equal(await verdictOf(fixture, approvals.take(ORIGIN, letter(fixture, { Holds }))), 'settle');
  assert.equal(fixture.store.transactions - before, 1);
  assert.equal(fixture.told.filter((name) => name === 'held').length, 1000);
  assert.equal(holders(approvals, 'event-199'), 'orders: last');
  assert.equal(holders(approvals, 'event-200'), 'orders: first');
  await approvals.request(caller('billing'), startRequests(...ids));
  assert.equal(fixture.posts.length, 0);
  const Releases = ids.map((EventId) => ({ EventId }));
  assert.equal(await verdictOf(fixture, approvals.take(ORIGIN, letter(fixture, { Releases })), 4000), 'settle');
  assert.deepEqual(fixture.posts.flatMap(({ eventIds }) => eventIds).sort(), ids.toSorted());
});

test('a thousand ids over the interface, some of them held: those wait, the others are posted once each', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const ids = Array.from({ length: 1000 }, (_, index) => `Event-${index}`);
  for (const id of ids) fixture.list(id);
  fixture.poll();
  for (const id of ids.slice(0, 10)) approvals.hold(caller('billing'), { EventId: id.toUpperCase() });
  const odd = ids.flatMap((id) => [id.toUpperCase(), id.toLowerCase()]);
  const asked = approvals.request(caller('orders'), startRequests(...odd));
  await fixture.time.advance(2000);
  const answered = await asked;
  assert.ok(answered.kind === 'results');
  assert.equal(answered.status, 202);
  const states = answered.results.map(({ state }) => state);
  assert.deepEqual(new Set(states.slice(0, 10)), new Set(['held']));
  assert.deepEqual(new Set(states.slice(10)), new Set(['submitted', 'submitting']));
  await fixture.time.advance(2000);
  assert.deepEqual(
    ids.map((id) => approvals.summary(id.toLowerCase())?.state),
    ids.map((_, index) => (index < 10 ? 'held' : 'submitted')),
  );
  assert.deepEqual(fixture.posts.flatMap(({ eventIds }) => eventIds).sort(), ids.slice(10).sort());
});

test('a hold by a queue that one bridge reads stops what it posts at once', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { isShared: () => false });
  fixture.answers = [again(1000)];
  await send(fixture, approvals, startRequests(EVENT_ID));
  await send(fixture, approvals, HOLD);
  assert.equal(await fixture.postsAfter(60_000), 1);
  assert.equal(approvals.summary(KEY)?.state, 'held');
});

/** A StartRequest that a rule decided and is on its way; messages of `topic` speak for orders. */
async function onItsWay(t: TestContext) {
  const { fixture, approvals } = approvalsOverOneEvent(t, { ...THREE, policy: [{ when: {}, then: 'approve' }] });
  const { promise, resolve } = Promise.withResolvers<PostResult>();
  fixture.answers = [promise];
  await settle();
  assert.equal(fixture.posts.length, 1);
  return { fixture, approvals, answer: resolve };
}

test('a message that holds waits for the answer to a StartRequest on its way, 2 s at most, and is then refused as an answer by HTTP is', async (t) => {
  for (const [result, verdict, told] of [
    [again(60_000), 'settle', []],
    [ACCEPTED, 'submitted', ['approval.submitted', 'approval.failed submitted orders']],
    [null, 'submitting', ['approval.failed submitting orders']],
  ] as const) {
    const { fixture, approvals, answer } = await onItsWay(t);
    const taken = approvals.take(ORIGIN, letter(fixture, { ...HOLD, ...startRequests(EVENT_ID) }));
    await fixture.time.advance(1999);
    assert.deepEqual(fixture.messages, []);
    if (result !== null) answer(result);
    assert.equal(await verdictOf(fixture, taken, 1), verdict);
    assert.equal(holders(approvals), verdict === 'settle' ? 'orders: month end' : '');
    assert.deepEqual(
      fixture.store.told.filter((each) => !each.includes('recorded')),
      told,
    );
    assert.equal(fixture.posts.length, 1);
  }
});

test('a message that releases keeps its place behind one that holds, and a yes waits for nothing', async (t) => {
  const { fixture, approvals, answer } = await onItsWay(t);
  const held = approvals.take(ORIGIN, letter(fixture, HOLD));
  const released = approvals.take(ORIGIN, letter(fixture, RELEASE));
  assert.equal(await send(fixture, approvals, startRequests(EVENT_ID)), 'settle');
  assert.deepEqual(fixture.messages, ['topic settled']);
  answer(again(60_000));
  assert.deepEqual([await verdictOf(fixture, held), await verdictOf(fixture, released)], ['settle', 'settle']);
  assert.equal(holders(approvals), '');
});

test('a message that holds and waited for another event is tried again while a StartRequest is on its way, until its time is over', async (t) => {
  const { fixture, approvals, answer } = await onItsWay(t);
  const { promise, resolve } = Promise.withResolvers<PostResult>();
  fixture.answers = [promise];
  answer(again(1000));
  await settle();
  const parked = letter(fixture, { ...HOLD, ...startRequests('other') });
  assert.equal(await take(fixture, approvals, parked), 'settle');
  assert.deepEqual(fixture.messages, ['topic parked']);
  assert.equal(await fixture.postsAfter(1000), 2);
  fixture.list('other');
  fixture.poll();
  assert.equal(holders(approvals), '');
  resolve(again(3_600_000));
  await settle();
  fixture.poll();
  assert.equal(holders(approvals), 'orders: month end');
});

test('a message whose source gets another approver while it waits for an answer comes again', async (t) => {
  const { fixture, approvals, answer } = await onItsWay(t);
  const taken = approvals.take(ORIGIN, letter(fixture, HOLD));
  fixture.revoked.add('source:topic orders');
  answer(again(60_000));
  assert.equal(await verdictOf(fixture, taken), 'error BRIDGE_APPROVALS_CLOSED');
  assert.equal(holders(approvals), '');
});

test('a bridge that stops takes no message that waits for an answer: it comes again', async (t) => {
  const { fixture, approvals } = await onItsWay(t);
  const taken = approvals.take(ORIGIN, letter(fixture, HOLD));
  const closing = fixture.close(approvals);
  assert.equal(await verdictOf(fixture, taken, 5000), 'error BRIDGE_APPROVALS_CLOSED');
  await closing;
});
