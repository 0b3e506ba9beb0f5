// Refused decisions → those of rules are posted again each minute, those of approvers rest.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import { BridgeError } from '../../../../src/errors.ts';
import type { PostResult } from '../../../../src/model/approvals.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ACCEPTED,
  type ApprovalSettings,
  type ApprovalsFixture,
  again,
  approvalsOverOneEvent,
  approve,
  caller,
  change,
  KEY,
  REFUSED,
  RULES,
  reopened,
  STARTED,
  said,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const MINUTE_MS = 60_000;
const APPROVE: ApprovalSettings = { policy: [{ when: {}, then: 'approve' }] };
/** Falls due so long after the fixture has begun. */
const DUE_MS = 13 * MINUTE_MS;
const DEADLINE: PolicyRule = { when: {}, then: 'wait', deadline: { beforeMs: 2 * MINUTE_MS, then: 'approve' } };

function refusedWith(status: number): PostResult {
  return { kind: 'refused', status, error: new Error(`the metadata service answered ${status}`) };
}

/** Approvals over one event with a quarter of an hour of notice, and a service that answers so from now on. */
function refused(t: TestContext, settings: ApprovalSettings, status = 403) {
  const opened = approvalsOverOneEvent(t, settings);
  opened.fixture.answerTo = () => refusedWith(status);
  change(opened.fixture, { notBefore: '2026-01-01T00:15:00Z' });
  return opened;
}

/** The bridge has posted the refused decision of a rule again, and waits for the answer. */
async function retrying(t: TestContext) {
  const opened = refused(t, APPROVE);
  await opened.fixture.time.advance(MINUTE_MS / 2);
  const { promise, resolve } = Promise.withResolvers<PostResult>();
  opened.fixture.answers = [promise];
  await opened.fixture.time.advance(MINUTE_MS);
  return { ...opened, resolve };
}

function postedAt(fixture: ApprovalsFixture): readonly number[] {
  return fixture.posts.map(({ atMs }) => atMs / MINUTE_MS);
}

function steps(approvals: Approvals): string {
  const life = approvals.life(EVENT_ID);
  assert.ok('steps' in life);
  return life.steps.map(({ step, status }) => [step, status].filter((part) => part !== null).join(' ')).join(', ');
}

/** The lines of the log that tell an operator about repeated decisions, without their time and process. */
function repeats(fixture: ApprovalsFixture): readonly object[] {
  return fixture.log
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => /posts it again|could not be made again/.test(msg))
    .map(({ level, eventId, status, reason, msg }) => ({ level, eventId, status, reason, msg }));
}

/** Logged once per refusal that the bridge repeats by itself. */
const WARNED = {
  ...{ level: 40, eventId: EVENT_ID, status: 403, reason: undefined },
  msg: 'the metadata service refused the decision of a rule: the bridge posts it again each minute while the event is Scheduled',
};

for (const status of [400, 401, 403, 405]) {
  test(`${status} to the StartRequest of a rule: failed, told once, and posted again each minute until it is accepted`, async (t) => {
    const { fixture, approvals } = refused(t, APPROVE, status);
    await fixture.time.advance(MINUTE_MS - 1);
    assert.equal(approvals.summary(KEY)?.state, 'failed');
    fixture.poll();
    assert.equal(approvals.summary(KEY)?.state, 'failed', 'a document within the minute posts nothing');
    assert.deepEqual(postedAt(fixture), [0]);
    await fixture.time.advance(2 * MINUTE_MS);
    assert.deepEqual(postedAt(fixture), [0, 1, 2]);
    assert.equal(approvals.summary(KEY)?.state, 'failed');
    assert.deepEqual(fixture.store.told, ['approval.failed refused']);
    assert.equal(steps(approvals), `decided, answered ${status}, failed ${status}`);
    assert.equal(fixture.told.filter((name) => name === 'failed').length, 1, 'the metric counts it once');
    assert.deepEqual(repeats(fixture), [{ ...WARNED, status }]);
    fixture.answerTo = () => ACCEPTED;
    await fixture.time.advance(MINUTE_MS);
    assert.deepEqual(postedAt(fixture), [0, 1, 2, 3]);
    assert.equal(approvals.summary(KEY)?.state, 'submitted');
    assert.deepEqual(fixture.store.told, ['approval.failed refused', 'approval.submitted']);
  });
}

test('another status is reported again', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS - 1);
  fixture.answerTo = () => refusedWith(400);
  await fixture.time.advance(2 * MINUTE_MS);
  assert.deepEqual(fixture.store.told, ['approval.failed refused', 'approval.failed refused']);
  assert.equal(steps(approvals), 'decided, answered 403, failed 403, answered 400, failed 400');
});

test('the decision of a deadline is posted again in the same way', async (t) => {
  const { fixture, approvals } = refused(t, { policy: [DEADLINE], required: 'all' });
  await fixture.time.advance(DUE_MS + 1.5 * MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [13, 14]);
  fixture.answerTo = () => ACCEPTED;
  await fixture.time.advance(MINUTE_MS);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

test('a decision of approvers is posted again only by another vote', async (t) => {
  const { fixture, approvals } = refused(t, {});
  assert.equal(said(await approve(approvals)), '502 refused');
  await fixture.time.advance(60 * MINUTE_MS);
  assert.equal(fixture.posts.length, 1);
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  assert.deepEqual(repeats(fixture), []);
});

test('a yes beside a rule that approves takes nothing from it', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS / 2);
  assert.equal(said(await approve(approvals)), '502 refused');
  assert.equal(approvals.approvalOf(KEY, 1)?.decision?.by, 'quorum');
  await fixture.time.advance(2 * MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [0, 0.5, 1.5, 2.5]);
  const published = ['approval.failed refused', 'approval.recorded orders', 'approval.failed refused orders'];
  assert.deepEqual(fixture.store.told, published, 'the refusal of a yes is published, though the status is the same');
  assert.deepEqual(repeats(fixture), [WARNED, WARNED]);
});

test('the refusal of a yes is published, though its answer comes after the minute of the rule', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS - 500);
  const { promise, resolve } = Promise.withResolvers<PostResult>();
  fixture.answers = [promise];
  const asked = approve(approvals);
  await fixture.time.advance(1000);
  resolve(refusedWith(403));
  assert.equal(said(await asked), '502 refused');
  const published = ['approval.failed refused', 'approval.recorded orders', 'approval.failed refused orders'];
  assert.deepEqual(fixture.store.told, published);
});

test('an accepted yes ends the retries of the rule', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS / 2);
  fixture.answerTo = () => ACCEPTED;
  assert.equal(said(await approve(approvals)), '200 submitted');
  const before = fixture.store.transactions;
  await fixture.time.advance(5 * MINUTE_MS);
  fixture.poll();
  assert.deepEqual(postedAt(fixture), [0, 0.5]);
  assert.equal(fixture.store.transactions, before + 1, 'only the document is stored');
});

test('an event that starts during a retry and goes back is reported as refused again', async (t) => {
  const { fixture, approvals, resolve } = await retrying(t);
  change(fixture, STARTED);
  resolve(refusedWith(403));
  await fixture.time.advance(MINUTE_MS / 2);
  assert.deepEqual(fixture.store.told, ['approval.failed refused']);
  change(fixture, { eventStatus: 'Scheduled', notBefore: '2026-01-01T00:15:00Z' });
  await settle();
  assert.deepEqual(postedAt(fixture), [0, 1, 2]);
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  assert.deepEqual(fixture.store.told, ['approval.failed refused', 'approval.failed refused']);
  assert.deepEqual(repeats(fixture), [WARNED, WARNED]);
});

test('an event that is missing during a retry and comes back is reported as refused again', async (t) => {
  const { fixture, approvals, resolve } = await retrying(t);
  fixture.missing.add(KEY);
  resolve(refusedWith(403));
  await fixture.time.advance(MINUTE_MS / 2);
  assert.equal(fixture.store.stored(KEY, 1)?.state, 'moot');
  fixture.missing.delete(KEY);
  change(fixture, { description: 'it is back' });
  await settle();
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  assert.deepEqual(fixture.store.told, ['approval.failed refused', 'approval.failed refused']);
  assert.deepEqual(repeats(fixture), [WARNED, WARNED]);
});

test('nor from a deadline that fell due, over a restart too', async (t) => {
  const settings: ApprovalSettings = { policy: [DEADLINE], required: 'any' };
  const { fixture, approvals } = refused(t, settings);
  await fixture.time.advance(DUE_MS + MINUTE_MS / 2);
  assert.equal(said(await approve(approvals)), '502 refused');
  assert.equal(approvals.approvalOf(KEY, 1)?.decision?.by, 'quorum');
  const restarted = reopened(fixture, settings);
  t.after(() => fixture.close(restarted));
  fixture.poll();
  await fixture.time.advance(MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [13, 13.5, 13.5, 14.5]);
});

test('retries end if the event starts or ends, and begin again if a rule approves the event that went back', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS / 2);
  change(fixture, STARTED);
  await fixture.time.advance(5 * MINUTE_MS);
  assert.equal(fixture.posts.length, 1);
  change(fixture, { eventStatus: 'Scheduled', notBefore: '2026-01-01T00:15:00Z' });
  await fixture.time.advance(MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [0, 5.5, 6.5]);
  await fixture.time.advance(MINUTE_MS / 2);
  change(fixture, STARTED);
  fixture.poll();
  change(fixture, { eventStatus: 'Scheduled', notBefore: '2026-01-01T00:15:00Z' });
  await fixture.time.advance(1.5 * MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [0, 5.5, 6.5, 7, 8], 'a minute after the last refusal');
  fixture.end(EVENT_ID);
  fixture.poll();
  await fixture.time.advance(5 * MINUTE_MS);
  assert.equal(fixture.posts.length, 5);
  assert.equal(approvals.summary(KEY), null);
});

test('a hold keeps it back, and its release posts it again once the minute is over', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS / 2);
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await fixture.time.advance(MINUTE_MS);
  assert.equal(approvals.summary(KEY)?.state, 'held');
  assert.equal(fixture.posts.length, 1);
  fixture.answerTo = () => ACCEPTED;
  approvals.release(caller('orders'), EVENT_ID, null);
  await settle();
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

test('a rule that no longer decides posts nothing again', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS / 2);
  approvals.reload({ ...RULES, approvers: { orders: {} } });
  await fixture.time.advance(5 * MINUTE_MS);
  assert.equal(fixture.posts.length, 1);
});

test('in a group each machine posts again in its turn', async (t) => {
  const group = { submit: 'leader', failoverAfterMs: 10_000, members: [] } as const;
  const { fixture } = refused(t, { ...APPROVE, group, ownName: 'westno_1' });
  await fixture.time.advance(2 * MINUTE_MS);
  assert.deepEqual(
    fixture.posts.map(({ atMs }) => atMs / 1000),
    [10, 80],
  );
});

test('a restart posts at once what was refused, and a minute later again', async (t) => {
  const { fixture } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS / 2);
  const restarted = reopened(fixture, APPROVE);
  t.after(() => fixture.close(restarted));
  fixture.poll();
  await fixture.time.advance(MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [0, 0.5, 1.5]);
});

test('a store that fails when the minute is over puts it off to the next document', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS / 2);
  fixture.store.fault = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  await fixture.time.advance(MINUTE_MS / 2);
  assert.equal(fixture.posts.length, 1);
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  const msg = 'a refused decision could not be made again; the bridge will retry it';
  const failed = { level: 50, eventId: EVENT_ID, status: undefined, reason: 'the disk is full', msg };
  assert.deepEqual(repeats(fixture), [WARNED, failed]);
  fixture.store.fault = null;
  fixture.answerTo = () => ACCEPTED;
  fixture.poll();
  await settle();
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

test('an answer that asks for another try is posted again in its own rhythm', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS - 1);
  fixture.answers = [again(2000), REFUSED, ACCEPTED];
  await fixture.time.advance(3 * MINUTE_MS);
  assert.deepEqual(
    fixture.posts.map(({ atMs }) => atMs / 1000),
    [0, 60, 62, 122],
  );
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

test('closing leaves no timer behind, and no document posts again', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(1000);
  await fixture.close(approvals);
  assert.equal(fixture.time.pending, 0);
  await fixture.time.advance(5 * MINUTE_MS);
  fixture.poll();
  await settle();
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  assert.equal(fixture.posts.length, 1);
});

test('a stop while the document after a refusal is read leaves no timer behind', async (t) => {
  const { fixture, approvals } = refused(t, APPROVE);
  await fixture.time.advance(MINUTE_MS - 1);
  const poll = fixture.poll.bind(fixture);
  let closed = Promise.resolve();
  fixture.poll = () => {
    poll();
    if (fixture.posts.length === 2) closed = fixture.close(approvals);
  };
  await fixture.time.advance(1);
  await closed;
  assert.equal(approvals.summary(KEY)?.state, 'failed');
  assert.equal(fixture.time.pending, 0);
});
