// Approvals of known events → recorded, posted once, answered; their CloudEvents.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ApprovalAnswer } from '../../../src/approvals/requests/answer.ts';
import { BridgeError } from '../../../src/errors.ts';
import { EVENT_ID, scheduledEvent } from '../../support/events.ts';
import {
  type ApprovalsFixture,
  again,
  approvalsOverOneEvent,
  caller,
  change,
  end,
  KEY,
  REFUSED,
  startRequests,
} from '../../virtual/approvals-fixture.ts';

/** The answer, with virtual time passing until it is there. */
async function answer(fixture: ApprovalsFixture, asked: Promise<ApprovalAnswer>, ms = 2000): Promise<ApprovalAnswer> {
  await fixture.time.advance(ms);
  return asked;
}

function states(answered: ApprovalAnswer): string {
  return answered.kind === 'refusal'
    ? `${answered.status} ${answered.type}`
    : `${answered.status} ${answered.results.map(({ state }) => state).join(' ')}`;
}

test('an approval is recorded, posted in the letter case of the service, and answered as submitted', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const answered = await answer(fixture, approvals.request(caller('orders'), startRequests(KEY)), 0);
  assert.deepEqual(answered, {
    kind: 'results',
    status: 200,
    results: [{ eventId: EVENT_ID, state: 'submitted', approvedBy: ['orders'] }],
  });
  assert.deepEqual(
    fixture.posts.map(({ eventIds }) => eventIds),
    [[EVENT_ID]],
  );
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
  assert.deepEqual(fixture.told, ['recorded', 'decided', 'submitted']);
});

test('the ids of approval CloudEvents follow the recipe, and a repeated one gets :r2', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  change(fixture, { eventType: 'Reboot' });
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  const [recorded, failed, repeated] = fixture.store.published;
  assert.match(String(recorded?.id), new RegExp(`^${KEY}:approval-recorded:[0-9a-f]{16}$`));
  assert.match(String(failed?.id), new RegExp(`^${KEY}:approval-failed:[0-9a-f]{16}$`));
  assert.equal(repeated?.id, `${recorded?.id}:r2`);
});

test('approving twice is harmless, is recorded once and posts once', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const both = [
    approvals.request(caller('orders'), startRequests(EVENT_ID)),
    approvals.request(caller('orders'), startRequests(EVENT_ID, KEY)),
  ];
  await fixture.time.advance(2000);
  assert.deepEqual((await Promise.all(both)).map(states), ['200 submitted', '200 submitted']);
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)))),
    '200 submitted',
  );
  assert.equal(fixture.posts.length, 1);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
});

test('a second approver of a submitted event is recorded, and nothing is posted again', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  const answered = await answer(fixture, approvals.request(caller('billing'), startRequests(EVENT_ID)));
  assert.ok(answered.kind === 'results');
  assert.deepEqual(answered.results[0]?.approvedBy, ['orders', 'billing']);
  assert.equal(fixture.posts.length, 1);
  assert.deepEqual(fixture.store.told, [
    'approval.recorded orders',
    'approval.submitted orders',
    'approval.recorded billing',
  ]);
});

test('if several approvers are required, the answer to the first names the missing ones, and the last vote submits', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  const first = await answer(fixture, approvals.request(caller('billing'), startRequests(EVENT_ID)), 0);
  assert.deepEqual(first, {
    ...{ kind: 'results', status: 202 },
    results: [{ eventId: EVENT_ID, state: 'waiting', approvedBy: ['billing'], waitingFor: ['orders'] }],
  });
  assert.equal(fixture.posts.length, 0);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  assert.deepEqual(approvals.summary(KEY)?.waitingFor, ['orders']);
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)))),
    '200 submitted',
  );
  assert.equal(fixture.posts.length, 1);
  assert.equal(fixture.store.published.at(-1)?.approver, null, 'several approved it');
});

test('several events in one request are posted one by one, and one that waits makes the answer 202', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, {
    approvers: { orders: {}, billing: { scope: { impacts: ['Reboot'] } } },
    required: 'all',
  });
  fixture.list('B', { eventType: 'Reboot' });
  fixture.list('C');
  fixture.poll();
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests('c', 'b', EVENT_ID)))),
    '202 submitted waiting submitted',
  );
  assert.deepEqual(
    fixture.posts.map(({ eventIds }) => eventIds),
    [['C'], [EVENT_ID]],
  );
});

test('the first refused id decides, and then nothing is recorded or posted', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const before = fixture.store.transactions;
  const answered = await answer(
    fixture,
    approvals.request(caller('orders'), startRequests(EVENT_ID, 'Nobody', 'no one')),
    0,
  );
  assert.ok(answered.kind === 'refusal');
  assert.deepEqual([answered.status, answered.type, answered.eventId], [404, 'unknown', 'Nobody']);
  assert.equal(fixture.store.transactions, before);
  assert.equal(fixture.posts.length, 0);
  assert.equal(approvals.summary(KEY), null);
});

test('a body that is no approval is a bad request', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), { StartRequests: [] }), 0)),
    '400 bad-request',
  );
});

test('an event that has ended is gone for good', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  end(fixture);
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)), 0)),
    '410 ended',
  );
});

test('an event that has started is refused, except to approvers who approved it before', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  change(fixture, { eventStatus: 'Started', notBefore: null });
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)), 0)),
    '200 started',
  );
  assert.equal(
    states(await answer(fixture, approvals.request(caller('billing'), startRequests(EVENT_ID)), 0)),
    '409 started',
  );
});

test('the answer says that an event started without a full quorum', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  change(fixture, { eventStatus: 'Started', notBefore: null });
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)), 0)),
    '200 started',
  );
  assert.equal(approvals.summary(KEY)?.state, 'moot');
  assert.deepEqual(fixture.store.told, ['approval.recorded orders']);
});

test('a scope refuses an event of which it covers only some names', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, {
    approvers: { orders: { scope: { resources: ['westno_0'] } } },
  });
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)), 0)),
    '403 scope',
  );
});

test('an approver who is not in the required list is refused', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: ['billing'] });
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)), 0)),
    '403 forbidden',
  );
});

test('a SpotRebalanceRecommendation is never approved', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.list('spot', { eventType: 'SpotRebalanceRecommendation' });
  fixture.poll();
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests('spot')), 0)),
    '403 forbidden',
  );
});

test('Seen: an event that has got worse since is refused, one that has not is approved', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const told = (change: string, occurrence: number, fields = {}) => ({
    change,
    key: KEY,
    occurrence,
    event: scheduledEvent(fields),
  });
  fixture.store.seenEvents.set('mild', told('scheduled', 1, { durationInSeconds: 1 }));
  fixture.store.seenEvents.set('same', told('updated', 1));
  fixture.store.seenEvents.set('earlier', told('scheduled', 0));
  fixture.store.seenEvents.set('started', told('started', 1));
  fixture.store.seenEvents.set('foreign', { ...told('scheduled', 1), key: 'other' });
  const ask = async (Seen: string) =>
    states(
      await answer(fixture, approvals.request(caller('orders'), { StartRequests: [{ EventId: EVENT_ID, Seen }] })),
    );
  assert.equal(await ask('mild'), '409 changed');
  assert.equal(await ask('earlier'), '409 changed');
  assert.equal(await ask('started'), '404 seen-unknown');
  assert.equal(await ask('foreign'), '404 seen-unknown');
  assert.equal(await ask('nothing'), '404 seen-unknown');
  assert.equal(fixture.posts.length, 0);
  assert.equal(await ask('same'), '200 submitted');
});

test('Seen: if one request names two for the same event, each is checked', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.store.seenEvents.set('same', { change: 'scheduled', key: KEY, occurrence: 1, event: scheduledEvent() });
  const body = {
    StartRequests: [
      { EventId: EVENT_ID, Seen: 'same' },
      { EventId: KEY, Seen: 'nothing' },
    ],
  };
  assert.equal(states(await answer(fixture, approvals.request(caller('orders'), body), 0)), '404 seen-unknown');
});

test('a recorded approval becomes void when the event gets worse, and each approver is named', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, {
    approvers: { orders: {}, billing: {}, ops: {} },
    required: 'all',
  });
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  await answer(fixture, approvals.request(caller('billing'), startRequests(EVENT_ID)));
  change(fixture, { resources: ['WestNO_0', 'WestNO_1', 'WestNO_2'] });
  assert.deepEqual(fixture.store.told.slice(2), ['approval.failed changed orders', 'approval.failed changed billing']);
  assert.equal(approvals.summary(KEY), null);
  assert.deepEqual(fixture.store.stored(KEY, 1)?.votes, []);
});

test('a recorded approval becomes void when the scope no longer allows the event', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, {
    approvers: { orders: { scope: { resources: ['west*'] } }, billing: {} },
    required: 'all',
  });
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  change(fixture, { resources: [] });
  assert.equal(fixture.store.told.at(-1), 'approval.failed changed orders');
});

test('a change that is not for the worse keeps a recorded approval, and one that drops an approver can fill the quorum', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, {
    approvers: { orders: {}, one: { scope: { resources: ['westno_1'] } } },
    required: 'all',
  });
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  change(fixture, { description: 'in other words' });
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  change(fixture, { resources: ['WestNO_0'] });
  await fixture.time.advance(0);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
  assert.equal(fixture.posts.length, 1);
});

test('a submitted approval does not become void', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  change(fixture, { eventType: 'Terminate' });
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

test('an approval does not outlive its occurrence', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  end(fixture);
  assert.equal(fixture.store.stored(KEY, 1)?.state, 'moot');
  change(fixture, {});
  assert.equal(approvals.summary(KEY), null);
  assert.equal(
    states(await answer(fixture, approvals.request(caller('billing'), startRequests(EVENT_ID)))),
    '202 waiting',
  );
  assert.equal(fixture.posts.length, 0);
});

test('if the transaction of a document fails, the memory stays unchanged', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  fixture.list(EVENT_ID, { eventType: 'Reboot' });
  fixture.store.fault = new Error('the disk is full');
  assert.throws(() => fixture.poll(), /disk is full/);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  fixture.store.fault = null;
  fixture.poll();
  assert.equal(approvals.summary(KEY), null);
});

test('an approval that cannot be stored is neither kept nor posted', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.store.fault = new BridgeError('BRIDGE_INTERNAL', 'the disk is full');
  await assert.rejects(approvals.request(caller('orders'), startRequests(EVENT_ID)), /disk is full/);
  await fixture.time.advance(10_000);
  assert.equal(approvals.summary(KEY), null);
  assert.equal(fixture.posts.length, 0);
});

test('dry run: everything is recorded and answered, nothing is posted, also not after a restart without it', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { dryRun: true, required: 2 });
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)))),
    '202 waiting',
  );
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  assert.equal(
    states(await answer(fixture, approvals.request(caller('billing'), startRequests(EVENT_ID)))),
    '200 dry-run',
  );
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.recorded billing']);
  const restarted = fixture.open({ dryRun: false, required: 1 });
  t.after(() => fixture.close(restarted));
  change(fixture, { description: 'in other words' });
  assert.equal(await fixture.postsAfter(60_000), 0);
  assert.equal(restarted.summary(KEY)?.state, 'dry-run');
  assert.equal(
    states(await answer(fixture, restarted.request(caller('orders'), startRequests(EVENT_ID)))),
    '200 submitted',
  );
});

test('dry run: earlier decisions are not posted', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [again(3_600_000)];
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)))),
    '202 submitting',
  );
  const restarted = fixture.open({ dryRun: true });
  t.after(() => fixture.close(restarted));
  assert.equal(await fixture.postsAfter(60_000), 1);
  assert.equal(restarted.summary(KEY)?.state, 'dry-run');
});

test('the summary has the time of the state, and an empty list of holds', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)));
  assert.deepEqual(approvals.summary(KEY), {
    ...{ state: 'waiting', approvedBy: ['orders'], policy: null, waitingFor: ['billing'], holds: [] },
    at: '2026-01-01T00:00:00.000Z',
  });
});

test('approvals that are closing accept no request', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await approvals[Symbol.asyncDispose]();
  await approvals[Symbol.asyncDispose]();
  await assert.rejects(approvals.request(caller('orders'), startRequests(EVENT_ID)), {
    code: 'BRIDGE_APPROVALS_CLOSED',
  });
  assert.equal(fixture.store.published.length, 0);
});

test('a refused approval is reported once, and the approver may try again', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [REFUSED];
  const answered = await answer(fixture, approvals.request(caller('orders'), startRequests(KEY)));
  assert.ok(answered.kind === 'refusal');
  assert.deepEqual([answered.status, answered.type, answered.eventId], [502, 'refused', KEY]);
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  assert.equal(
    states(await answer(fixture, approvals.request(caller('orders'), startRequests(EVENT_ID)))),
    '200 submitted',
  );
  assert.deepEqual(fixture.store.told, [
    'approval.recorded orders',
    'approval.failed refused orders',
    'approval.recorded orders',
    'approval.submitted orders',
  ]);
});
