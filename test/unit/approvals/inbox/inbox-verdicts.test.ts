// Drills, revoked sources, faults and stops → the verdict on a message, its line and its metric.
import assert from 'node:assert/strict';
import test from 'node:test';
import { BridgeError } from '../../../../src/errors.ts';
import { drillEventId } from '../../../../src/model/ids.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ApprovalsFixture,
  approvalsOverOneEvent,
  caller,
  change,
  KEY,
  logged,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { letter, ORIGIN, take } from '../../../virtual/inbox-fixture.ts';

const DRILL = drillEventId('11111111-2222-3333-4444-555555555555');
const OTHER_DRILL = drillEventId('99999999-2222-3333-4444-555555555555');

test('a shared source approves a drill of this bridge, and passes over one of another bridge', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.list(DRILL);
  fixture.poll();
  const other = letter(fixture, startRequests(OTHER_DRILL));
  assert.equal(await take(fixture, approvals, other), 'settle');
  assert.deepEqual([fixture.store.told, fixture.told], [[], []]);
  assert.equal(await take(fixture, approvals, other), 'settle');
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests(DRILL, OTHER_DRILL))), 'settle');
  assert.deepEqual(fixture.drillsApproved, [DRILL]);
  assert.deepEqual(fixture.messages, ['topic settled', 'topic repeated', 'topic settled']);
});

test('a message is recorded before a stop that follows at once', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  const taken = approvals.take(ORIGIN, letter(fixture, startRequests(EVENT_ID)));
  await approvals[Symbol.asyncDispose]();
  assert.equal(await taken, 'settle');
  assert.deepEqual(fixture.store.told, ['approval.recorded orders']);
});

test('while the bridge stops, or if its source is revoked, a message is to be delivered again, and the error says so', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const again = (why: string) =>
    new BridgeError('BRIDGE_APPROVALS_CLOSED', `${why} The source delivers the message again.`);
  const message = letter(fixture, startRequests(EVENT_ID));
  fixture.revoked.add('source:topic orders');
  await assert.rejects(approvals.take(ORIGIN, message), again('Source topic may no longer act for orders.'));
  await fixture.close(approvals);
  await assert.rejects(approvals.take(ORIGIN, message), again('The bridge is stopping and accepts no approvals.'));
});

test('what is no approval and names no known event is refused even then, because nothing of it is stored', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.close(approvals);
  const message = letter(fixture, { eventId: 'never listed' });
  assert.equal(await take(fixture, approvals, message), 'bad-request');
  assert.deepEqual(logged(fixture, 'warn'), [
    {
      ...{ source: 'topic', place: message.place },
      reason: 'StartRequests must be an array of { "EventId": "…" }',
      msg: 'a message is not a valid approval; the bridge skips it',
    },
  ]);
});

test('a parked message of a source that was revoked is refused when its event comes', async (t) => {
  const fixture = new ApprovalsFixture();
  const approvals = fixture.open();
  t.after(() => fixture.close(approvals));
  fixture.poll();
  const message = letter(fixture, startRequests(EVENT_ID));
  await take(fixture, approvals, message);
  fixture.revoked.add('source:topic orders');
  change(fixture);
  assert.deepEqual(fixture.messages, ['topic parked', 'topic refused']);
  assert.deepEqual(fixture.store.told, ['approval.failed forbidden orders']);
  assert.deepEqual(fixture.store.messages.find('topic', message.id), {
    kind: 'handled',
    refusal: {
      reason: 'forbidden',
      description: 'source:topic may no longer act for orders: the configuration has changed.',
    },
  });
});

test('a message that an earlier version parked, and this one does not accept, is refused', async (t) => {
  const fixture = new ApprovalsFixture();
  const body = new TextEncoder().encode('{}');
  const receivedAt = { wallMs: fixture.time.wallMs(), elapsedMs: null };
  const message = { source: 'topic', id: '1', approver: 'orders', place: { offset: 7 }, body, sentMs: 0, receivedAt };
  fixture.store.commit((transaction) => transaction.parkMessage(message));
  const approvals = fixture.open();
  t.after(() => fixture.close(approvals));
  change(fixture);
  assert.deepEqual(fixture.messages, ['topic refused']);
  assert.deepEqual([fixture.store.told, fixture.told], [[], ['denied']]);
  const state = fixture.store.messages.find('topic', '1');
  assert.equal(state?.kind === 'handled' && state.refusal?.reason, 'bad-request');
  assert.deepEqual(logged(fixture, 'error'), []);
});

test('the log says which message is kept, and which one could not be processed', async (t) => {
  const fixture = new ApprovalsFixture();
  const approvals = fixture.open();
  t.after(() => fixture.close(approvals));
  fixture.poll();
  const message = letter(fixture, startRequests(EVENT_ID));
  await take(fixture, approvals, message);
  const { place } = message;
  assert.deepEqual(logged(fixture, 'info'), [
    {
      ...{ source: 'topic', place, approver: 'orders' },
      msg: 'an approval names an event or update that this bridge has not read yet: the bridge keeps it and retries',
    },
  ]);
  assert.deepEqual(logged(fixture, 'warn'), []);
  fixture.store.messageFault = () => new Error('a mistake');
  change(fixture);
  assert.deepEqual(logged(fixture, 'error'), [
    {
      ...{ source: 'topic', place, err: 'a mistake' },
      msg: 'a parked approval could not be processed; the bridge will retry it',
    },
  ]);
});

test('after a stop, a document takes no parked message: the next process does', async (t) => {
  const fixture = new ApprovalsFixture();
  const approvals = fixture.open();
  fixture.poll();
  await take(fixture, approvals, letter(fixture, startRequests(EVENT_ID)));
  await fixture.close(approvals);
  change(fixture);
  assert.deepEqual(fixture.messages, ['topic parked']);
  const next = fixture.open();
  t.after(() => fixture.close(next));
  fixture.poll();
  assert.deepEqual(fixture.messages, ['topic parked', 'topic settled']);
});

test('a hold by message waits for the answer to a StartRequest of its event, and for no other', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.list('B');
  fixture.poll();
  fixture.answers = [new Promise(() => {})];
  approvals.request(caller('orders'), startRequests(EVENT_ID)).catch(() => {});
  await fixture.time.advance(0);
  const holds = (eventId: string) => letter(fixture, { Holds: [{ EventId: eventId }] });
  void approvals.take(ORIGIN, holds('b'));
  assert.equal(approvals.summary('b')?.state, 'held', 'in the same turn');
  approvals.take(ORIGIN, holds(KEY)).catch(() => {});
  await fixture.time.advance(1999);
  assert.deepEqual(fixture.messages, ['topic settled']);
});
