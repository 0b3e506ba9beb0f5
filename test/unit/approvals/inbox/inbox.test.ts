// Messages of a source → what is recorded, posted and refused, once each, over crashes too.
import assert from 'node:assert/strict';
import test from 'node:test';
import { BridgeError } from '../../../../src/errors.ts';
import { EVENT_ID, scheduledEvent } from '../../../support/events.ts';
import {
  type ApprovalsFixture,
  again,
  approvalsOverOneEvent,
  caller,
  change,
  end,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { letter, ORIGIN, take, verdictOf } from '../../../virtual/inbox-fixture.ts';

const KEY = EVENT_ID.toLowerCase();

test('an approval is settled once it is recorded, and posted', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests(KEY))), 'settle');
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
  assert.deepEqual(
    fixture.posts.map(({ eventIds }) => eventIds),
    [[EVENT_ID]],
  );
  assert.deepEqual(fixture.messages, ['topic settled']);
});

test('a message does not wait for the metadata service', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [new Promise(() => {})];
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests(KEY))), 'settle');
  assert.equal(fixture.posts.length, 1);
  assert.equal(approvals.summary(KEY)?.state, 'submitting');
});

test('a CloudEvent whose data is the body approves as the body does', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const event = {
    specversion: '1.0',
    id: '1',
    source: '/workflow',
    type: 'com.example.approved',
    data: startRequests(EVENT_ID),
  };
  assert.equal(await take(fixture, approvals, letter(fixture, event)), 'settle');
  assert.equal(fixture.posts.length, 1);
});

test('a thousand ids in one message, in odd letter case and some of them twice, are recorded in one transaction', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const ids = Array.from({ length: 1000 }, (_, index) => `Event-${index}`);
  for (const id of ids) fixture.list(id);
  fixture.poll();
  const before = fixture.store.transactions;
  const asked = [...ids.map((id, index) => (index % 2 ? id.toUpperCase() : id.toLowerCase())), ...ids.slice(0, 200)];
  assert.equal(
    await verdictOf(fixture, approvals.take(ORIGIN, letter(fixture, startRequests(...asked))), 4000),
    'settle',
  );
  assert.equal(fixture.store.told.filter((told) => told === 'approval.recorded orders').length, 1000);
  assert.equal(fixture.store.transactions - before, 1 + 12, 'one for the message, one for each answer of the service');
  assert.deepEqual(new Set(fixture.posts.flatMap(({ eventIds }) => eventIds)), new Set(ids));
});

const REFUSED: readonly [
  reason: string,
  settings: Parameters<typeof approvalsOverOneEvent>[1],
  fields: Parameters<ApprovalsFixture['list']>[1],
  body: object,
][] = [
  ['started', {}, { eventStatus: 'Started' }, startRequests(EVENT_ID)],
  ['scope', { approvers: { orders: { scope: { impacts: ['Reboot'] } } } }, {}, startRequests(EVENT_ID)],
  ['forbidden', { required: ['billing'] }, {}, startRequests(EVENT_ID)],
  ['seen-unknown', {}, {}, { StartRequests: [{ EventId: EVENT_ID, Seen: 'nothing' }] }],
  ['changed', {}, {}, { StartRequests: [{ EventId: EVENT_ID, Seen: 'mild' }] }],
];
for (const [reason, settings, fields, body] of REFUSED) {
  test(`a message is refused as ${reason}: a CloudEvent, a line in the log and a metric tell it, once`, async (t) => {
    const { fixture, approvals } = approvalsOverOneEvent(t, settings);
    fixture.store.seenEvents.set('mild', {
      change: 'scheduled',
      key: KEY,
      occurrence: 1,
      event: scheduledEvent({ durationInSeconds: 1 }),
    });
    change(fixture, fields);
    const message = letter(fixture, body);
    const verdict = await approvals.take(ORIGIN, message);
    assert.ok(typeof verdict === 'object');
    assert.equal(verdict.reason, reason);
    assert.ok(verdict.description.includes(EVENT_ID));
    assert.deepEqual(await approvals.take(ORIGIN, message), verdict, 'the same when it comes again');
    const [published, ...more] = fixture.store.published;
    assert.deepEqual(more, []);
    assert.deepEqual(
      [published?.phase, published?.reason, published?.approver, published?.occurrence],
      ['failed', reason, 'orders', 1],
    );
    assert.equal(published?.event?.eventId, EVENT_ID);
    assert.deepEqual(fixture.told, ['denied']);
    assert.deepEqual(fixture.messages, ['topic refused', 'topic repeated']);
    const lines = fixture.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'an approval was refused');
    assert.deepEqual(
      lines.map(({ source, place, type }) => ({ source, topic: place.topic, type })),
      [{ source: 'topic', topic: 'approvals', type: reason }],
    );
    assert.equal(fixture.posts.length, 0);
  });
}

test('the first refused id decides, and nothing of the message is recorded', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.list('B', { eventStatus: 'Started' });
  fixture.list('C', { eventStatus: 'Started' });
  fixture.poll();
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests(EVENT_ID, 'c', 'b'))), 'started');
  assert.deepEqual(fixture.store.told, ['approval.failed started orders']);
  assert.equal(fixture.store.published[0]?.eventId, 'C');
  assert.equal(approvals.summary(KEY), null);
});

test('a message for an event that this approver approved before it started is settled', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests(KEY))), 'settle');
  change(fixture, { eventStatus: 'Started' });
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests(KEY))), 'settle');
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
});

const INVALID: readonly [fault: RegExp, body: unknown][] = [
  [/no body/, null],
  [/not valid JSON/, '<html>'],
  [/must be an object/, []],
  [/must be an array/, {}],
  [/is empty/, { StartRequests: [] }],
  [/Holds\[0\]\.EventId/, { Holds: [{ reason: 'not yet' }] }],
];
for (const [fault, body] of INVALID) {
  test(`${JSON.stringify(body)} is no approval: one warning names source, place and reason, and nothing else happens`, async (t) => {
    const { fixture, approvals } = approvalsOverOneEvent(t);
    const before = fixture.store.transactions;
    const message = letter(fixture, body);
    const verdict = await approvals.take(ORIGIN, message);
    assert.ok(typeof verdict === 'object');
    assert.equal(verdict.reason, 'bad-request');
    assert.match(verdict.description, fault);
    const [line, ...more] = fixture.log.map((text) => JSON.parse(text)).filter(({ level }) => level >= 40);
    assert.deepEqual(more, []);
    assert.deepEqual([line.source, line.place], ['topic', message.place]);
    assert.match(line.reason, fault);
    assert.deepEqual(fixture.messages, ['topic invalid']);
    assert.deepEqual([fixture.told, fixture.store.transactions - before], [[], 0]);
  });
}

for (const body of [
  { StartRequests: [{ EventId: KEY, Seen: 7 }] },
  { approve: true, event: { eventid: EVENT_ID } },
  { startRequests: [{ eventId: KEY }] },
  `${JSON.stringify({ StartRequests: [{ EventId: KEY }] })}${' '.repeat(65_536)}`,
]) {
  test(`${JSON.stringify(body).slice(0, 60)} is no approval, and names a known event: it is answered by approval.failed, once`, async (t) => {
    const { fixture, approvals } = approvalsOverOneEvent(t);
    const message = letter(fixture, body);
    const verdict = await approvals.take(ORIGIN, message);
    assert.ok(typeof verdict === 'object');
    assert.equal(verdict.reason, 'bad-request');
    assert.deepEqual(await approvals.take(ORIGIN, message), verdict, 'the same when it comes again');
    assert.deepEqual(await fixture.open().take(ORIGIN, message), verdict, 'also after a restart');
    assert.deepEqual(fixture.store.told, ['approval.failed bad-request orders']);
    const [failed] = fixture.store.published;
    assert.deepEqual([failed?.eventId, failed?.event?.eventId, failed?.occurrence], [EVENT_ID, EVENT_ID, 1]);
    const warnings = fixture.log.map((text) => JSON.parse(text)).filter(({ level }) => level >= 40);
    assert.deepEqual(
      warnings.map(({ source, place }) => [source, place]),
      [['topic', message.place]],
    );
    assert.deepEqual(fixture.messages, ['topic invalid', 'topic repeated', 'topic repeated']);
    assert.equal(approvals.summary(KEY), null);
  });
}

test('a message that is no approval is answered for an event that has ended, and not for one that is unknown', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.end(KEY);
  fixture.poll();
  await approvals.take(ORIGIN, letter(fixture, { eventId: KEY }));
  await approvals.take(ORIGIN, letter(fixture, { eventId: 'never listed' }));
  assert.deepEqual(fixture.store.told, ['approval.failed bad-request orders']);
});

test('members that are null are absent: the approval of any serializer is recorded', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const body = { StartRequests: [{ EventId: KEY, Seen: null }], Holds: null, Releases: null };
  assert.equal(await take(fixture, approvals, letter(fixture, body)), 'settle');
  assert.equal(fixture.posts.length, 1);
});

test('if the store is full, a message that names an event is not answered, and comes again', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const message = letter(fixture, { eventId: KEY });
  fixture.store.fault = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  await assert.rejects(approvals.take(ORIGIN, message), BridgeError);
  fixture.store.fault = null;
  assert.equal(await take(fixture, approvals, message), 'bad-request');
  assert.deepEqual(fixture.store.told, ['approval.failed bad-request orders']);
});

test('a message that comes again after a crash between the store and the broker is settled and records nothing', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  const message = letter(fixture, startRequests(EVENT_ID));
  assert.equal(await take(fixture, approvals, message), 'settle');
  const restarted = fixture.open({ required: 'all' });
  t.after(() => fixture.close(restarted));
  fixture.poll();
  assert.equal(await take(fixture, restarted, message), 'settle');
  assert.deepEqual(fixture.store.told, ['approval.recorded orders']);
  assert.deepEqual(fixture.messages, ['topic settled', 'topic repeated']);
});

test('a redelivered message does not approve an event that has got worse since', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  const message = letter(fixture, startRequests(EVENT_ID));
  await take(fixture, approvals, message);
  change(fixture, { eventType: 'Terminate' });
  assert.equal(fixture.store.told.at(-1), 'approval.failed changed orders');
  assert.equal(await take(fixture, approvals, message), 'settle');
  assert.equal(approvals.summary(KEY), null);
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests(EVENT_ID))), 'settle');
  assert.equal(approvals.summary(KEY)?.state, 'waiting', 'another message does');
});

test('nor does one that recorded nothing because its approver had already approved', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await take(fixture, approvals, letter(fixture, startRequests(EVENT_ID)));
  const message = letter(fixture, startRequests(EVENT_ID));
  await take(fixture, approvals, message);
  change(fixture, { eventType: 'Terminate' });
  await take(fixture, approvals, message);
  assert.equal(approvals.summary(KEY), null);
});

test('a message that cannot be stored is not settled, has no effect, and is recorded on redelivery', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const message = letter(fixture, startRequests(EVENT_ID));
  const [refused, parked] = [letter(fixture, startRequests('started')), letter(fixture, startRequests('nobody'))];
  fixture.list('started', { eventStatus: 'Started' });
  fixture.poll();
  fixture.store.fault = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  for (const each of [message, refused, parked])
    assert.equal(await take(fixture, approvals, each), 'error BRIDGE_STORE_FULL');
  assert.deepEqual([fixture.posts.length, fixture.messages, fixture.told], [0, [], []]);
  fixture.store.fault = null;
  assert.equal(await take(fixture, approvals, message), 'settle');
  assert.equal(await take(fixture, approvals, refused), 'started');
  assert.equal(await take(fixture, approvals, parked), 'settle');
  assert.equal(fixture.posts.length, 1);
});

test('two sources at once: both approvers are counted, and the event is posted once', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  const other = { source: 'queue', approver: 'billing', canGiveBack: true };
  const message = letter(fixture, startRequests(EVENT_ID));
  const verdicts = [approvals.take(ORIGIN, message), approvals.take(other, message)];
  await fixture.time.advance(0);
  assert.deepEqual(await Promise.all(verdicts), ['settle', 'settle']);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.recorded billing', 'approval.submitted']);
  assert.equal(fixture.posts.length, 1);
});

test('the same approval by a source and by a request at once is recorded and posted once', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const both = [
    approvals.request(caller('orders'), startRequests(EVENT_ID)),
    approvals.take(ORIGIN, letter(fixture, startRequests(KEY))),
  ];
  await fixture.time.advance(2000);
  await Promise.all(both);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
  assert.equal(fixture.posts.length, 1);
});

test('a returning event is not approved by a message from before its end, but by a newer one', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  const early = letter(fixture, startRequests(EVENT_ID));
  await fixture.time.advance(5000);
  end(fixture);
  const atTheEnd = letter(fixture, startRequests(EVENT_ID));
  await fixture.time.advance(5000);
  change(fixture, {});
  assert.equal(await take(fixture, approvals, early), 'old');
  assert.equal(fixture.store.published.at(-1)?.occurrence, 2);
  assert.equal(await take(fixture, approvals, atTheEnd), 'settle');
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
});

test('an earlier end of the event does not matter to a request, because it is made now', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  end(fixture);
  change(fixture, {});
  const asked = approvals.request(caller('orders'), startRequests(EVENT_ID));
  await fixture.time.advance(2000);
  assert.equal((await asked).kind, 'results');
});

test('approvals that are closing accept no message, and parked messages continue after the next start', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [again(3_600_000)];
  const message = letter(fixture, startRequests(EVENT_ID));
  await take(fixture, approvals, message);
  await fixture.close(approvals);
  assert.equal(
    await take(fixture, approvals, letter(fixture, startRequests(EVENT_ID))),
    'error BRIDGE_APPROVALS_CLOSED',
  );
  const restarted = fixture.open();
  t.after(() => fixture.close(restarted));
  fixture.poll();
  await fixture.time.advance(1000);
  assert.equal(await take(fixture, restarted, message), 'settle');
  assert.equal(fixture.posts.length, 2);
  assert.equal(restarted.summary(KEY)?.state, 'submitted');
});
