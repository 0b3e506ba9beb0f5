// A hold of everything, yeses, rules, restarts → nothing is posted until its release.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import { BridgeError } from '../../../../src/errors.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ACCEPTED,
  type ApprovalSettings,
  type ApprovalsFixture,
  approvalOnItsWay,
  approvalsOverOneEvent,
  approve,
  RULES as BASE,
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
import { settle } from '../../../virtual/virtual-time.ts';

const MINUTE_MS = 60_000;
const [OPS, CHIEF] = [caller('ops'), caller('chief')];
const APPROVERS = { orders: {}, billing: {}, ops: { admin: true }, chief: { admin: true } };
const RULES: ApprovalSettings = { approvers: APPROVERS };
const APPROVE: ApprovalSettings = { ...RULES, policy: [{ when: {}, then: 'approve' }] };
const AT_DEADLINE: PolicyRule = { when: {}, then: 'wait', deadline: { beforeMs: 2 * MINUTE_MS, then: 'approve' } };
const OTHER_ID = 'B4B00625-BF46-441F-92C8-31D767694520';
const REASON = 'a release is under way';

/** Of one event with a quarter of an hour of notice, under a hold of everything by `ops`. */
async function held(t: TestContext, settings: ApprovalSettings = RULES) {
  const opened = approvalsOverOneEvent(t, settings, { notBefore: '2026-01-01T00:15:00Z' });
  const answer = await opened.approvals.holdAll(OPS, REASON);
  assert.equal(said(answer), '201 held');
  return { ...opened, answer };
}

function steps(approvals: Approvals): string {
  const life = approvals.life(EVENT_ID);
  assert.ok('steps' in life);
  return life.steps
    .map(({ step, approver, via, reason }) => [step, approver, via, reason].filter((part) => part !== null).join(' '))
    .join(', ');
}

function stateOf(approvals: Approvals, key = KEY): string | undefined {
  return approvals.summary(key)?.state;
}

function holder({ holdOfAll }: Approvals): string | undefined {
  return holdOfAll?.by;
}

async function posted(fixture: ApprovalsFixture, afterMs = 0): Promise<readonly string[]> {
  await fixture.time.advance(afterMs);
  return fixture.posts.flatMap(({ eventIds }) => eventIds);
}

test('the hold is on each event as a hold of the caller: summary, next step, and the answer to a yes', async (t) => {
  const { fixture, approvals, answer } = await held(t);
  const hold = { approver: 'ops', reason: REASON, at: '2026-01-01T00:00:00.000Z', all: true };
  assert.deepEqual(answer, { kind: 'held', status: 201, hold: { eventId: '*', holds: [hold], submitting: [] } });
  assert.deepEqual(approvals.summary(KEY)?.holds, [hold]);
  assert.equal(stateOf(approvals), 'held');
  assert.deepEqual(approvals.nextStep(KEY).nextStep, { action: 'start', at: '2026-01-01T00:15:00Z', by: null });
  const yes = await approve(approvals, 'orders');
  assert.deepEqual(yes, {
    kind: 'results',
    status: 202,
    results: [{ eventId: EVENT_ID, state: 'held', approvedBy: ['orders'], heldBy: ['ops'] }],
  });
  assert.deepEqual(await posted(fixture, MINUTE_MS), []);
  assert.equal(said(approvals.releaseAll(CHIEF, null)), 'released');
  assert.deepEqual(await posted(fixture), [EVENT_ID]);
  assert.equal(stateOf(approvals), 'submitted');
  assert.equal(
    steps(approvals),
    `held ops all ${REASON}, recorded orders token, decided quorum, released chief all ops, submitted`,
  );
});

test('an event to come is held before its rule can approve it, and posted after the release', async (t) => {
  const { fixture, approvals } = await held(t, APPROVE);
  assert.deepEqual(await posted(fixture), [], 'a decision that was not yet posted is held too');
  fixture.list(OTHER_ID, { notBefore: '2026-01-01T00:15:00Z' });
  fixture.poll();
  assert.equal(stateOf(approvals, OTHER_ID.toLowerCase()), 'held');
  assert.deepEqual(await posted(fixture, MINUTE_MS), []);
  fixture.poll();
  approvals.releaseAll(OPS, null);
  assert.deepEqual(await posted(fixture), [EVENT_ID, OTHER_ID]);
});

test('it stands over kill -9, also where no event was known, and its end lasts too', async (t) => {
  const { fixture } = approvalsOverOneEvent(t, APPROVE, { notBefore: '2026-01-01T00:15:00Z' });
  const before = reopened(fixture, APPROVE);
  end(fixture);
  await before.holdAll(OPS, REASON);
  const approvals = reopened(fixture, APPROVE);
  assert.deepEqual(
    { ...approvals.holdOfAll, at: approvals.holdOfAll?.at.wallMs },
    { by: 'ops', via: 'token', reason: REASON, at: fixture.time.wallMs() },
  );
  const count = fixture.posts.length;
  change(fixture, { notBefore: '2026-01-01T00:20:00Z' });
  await fixture.time.advance(MINUTE_MS);
  assert.equal(fixture.posts.length, count);
  approvals.releaseAll(OPS, null);
  const last = reopened(fixture, APPROVE);
  t.after(() => fixture.close(last));
  assert.equal(last.holdOfAll, null);
  change(fixture, { notBefore: '2026-01-01T00:25:00Z' });
  await fixture.time.advance(0);
  assert.equal(fixture.posts.length, count + 1);
});

test('only an admin may set or release it, and the refusals say so', async (t) => {
  const { approvals, fixture } = await held(t);
  assert.equal(said(await approvals.holdAll(caller('orders'), null)), '403 not-admin');
  assert.equal(said(approvals.releaseAll(caller('orders'), null)), '403 not-admin');
  assert.equal(said(approvals.releaseAll(CHIEF, 'billing')), '404 not-held');
  assert.equal(said(approvals.releaseAll(CHIEF, 'ops', fixture.time.wallMs() - 1)), '409 changed');
  assert.equal(said(approvals.releaseAll(CHIEF, 'ops', fixture.time.wallMs())), 'released');
  assert.equal(said(approvals.releaseAll(CHIEF, null)), '404 not-held');
});

test('a message of a source can neither set nor release it', async (t) => {
  const { approvals } = approvalsOverOneEvent(t, RULES);
  for (const body of [{ Holds: [{ EventId: '*' }] }, { Releases: [{ EventId: '*' }] }]) {
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const origin = { source: 'queue', approver: 'ops', canGiveBack: false };
    const verdict = await approvals.take(origin, { id: JSON.stringify(body), place: {}, body: bytes, sentMs: 0 });
    assert.match(JSON.stringify(verdict), /"forbidden"/);
  }
  assert.equal(holder(approvals), undefined);
});

test('a hold of the same approver on one event is another hold: each release ends its own', async (t) => {
  const { fixture, approvals } = await held(t);
  assert.equal(said(approvals.release(OPS, EVENT_ID, null)), '404 not-held');
  assert.equal(said(approvals.hold(OPS, { EventId: EVENT_ID, reason: 'the backup' })), '201 held');
  await approve(approvals);
  assert.equal(said(approvals.release(OPS, EVENT_ID, null)), 'released');
  assert.equal(stateOf(approvals), 'held');
  approvals.hold(OPS, { EventId: EVENT_ID, reason: 'the backup' });
  approvals.releaseAll(OPS, null);
  assert.deepEqual(
    approvals.summary(KEY)?.holds.map(({ reason, all }) => [reason, all]),
    [['the backup', undefined]],
  );
  assert.deepEqual(await posted(fixture), []);
  approvals.release(OPS, EVENT_ID, null);
  assert.deepEqual(await posted(fixture), [EVENT_ID]);
});

test('a second one replaces the reason, one of another admin replaces the hold, and the same one changes nothing', async (t) => {
  const { fixture, approvals } = await held(t);
  const count = fixture.store.transactions;
  await approvals.holdAll(OPS, REASON);
  assert.equal(fixture.store.transactions, count);
  await approvals.holdAll(OPS, 'it takes longer');
  await approvals.holdAll(CHIEF, null);
  assert.deepEqual(
    approvals.summary(KEY)?.holds.map(({ approver, reason }) => [approver, reason]),
    [['chief', null]],
  );
  assert.equal(holder(approvals), 'chief');
  assert.equal(
    steps(approvals),
    `held ops all ${REASON}, held ops all it takes longer, held chief all, released chief all ops`,
  );
});

test('the hold of an admin who is one no more stands, and another admin releases it', async (t) => {
  const { fixture, approvals } = await held(t, APPROVE);
  fixture.list(OTHER_ID, { notBefore: '2026-01-01T00:15:00Z' });
  fixture.poll();
  for (const approvers of [
    { ...APPROVERS, ops: {} },
    { orders: {}, chief: { admin: true } },
  ]) {
    approvals.reload({ ...BASE, ...APPROVE, approvers });
    assert.equal(said(approvals.releaseAll(OPS, null)), '403 not-admin');
    assert.equal(stateOf(approvals, OTHER_ID.toLowerCase()), 'held');
  }
  assert.deepEqual(await posted(fixture), []);
  assert.equal(said(approvals.releaseAll(CHIEF, null)), 'released');
  fixture.poll();
  assert.deepEqual(await posted(fixture, 1000), [EVENT_ID, OTHER_ID]);
});

test('a deadline that falls due under it is decided, and stands at the release while NotBefore is ahead', async (t) => {
  const { fixture, approvals } = await held(t, { ...RULES, policy: [AT_DEADLINE] });
  await fixture.time.advance(13 * MINUTE_MS + 1);
  assert.equal(stateOf(approvals), 'held');
  assert.deepEqual(await posted(fixture), []);
  approvals.releaseAll(OPS, null);
  fixture.poll();
  assert.deepEqual(await posted(fixture, 1000), [EVENT_ID]);
});

test('a deadline that fell due under it is left to Azure if NotBefore has passed at the release', async (t) => {
  const { fixture, approvals } = await held(t, { ...RULES, policy: [AT_DEADLINE] });
  await fixture.time.advance(16 * MINUTE_MS);
  approvals.releaseAll(OPS, null);
  fixture.poll();
  assert.equal(stateOf(approvals), 'waiting');
  assert.deepEqual(await posted(fixture, MINUTE_MS), []);
});

test('it stands at once while a StartRequest is on its way, and says which event that may start', async (t) => {
  const { fixture, approvals, asked, answer } = await approvalOnItsWay(t, RULES);
  const holding = approvals.holdAll(OPS, REASON);
  assert.equal(holder(approvals), 'ops');
  assert.equal(stateOf(approvals), 'held');
  await fixture.time.advance(2000);
  const told = await holding;
  assert.deepEqual(told.kind === 'held' && told.hold.submitting, [EVENT_ID]);
  answer(ACCEPTED);
  await fixture.time.advance(0);
  await asked;
  assert.equal(stateOf(approvals), 'submitted');
  assert.deepEqual(approvals.summary(KEY)?.holds, []);
  assert.equal(fixture.posts.length, 1);
});

test('a StartRequest that the service refuses meanwhile is not posted again under it', async (t) => {
  const { fixture, approvals, asked, answer } = await approvalOnItsWay(t, RULES);
  const holding = approvals.holdAll(OPS, REASON);
  answer(LOST);
  await fixture.time.advance(2000);
  const told = await holding;
  assert.deepEqual(told.kind === 'held' && told.hold.submitting, [EVENT_ID], 'nobody knows if it was accepted');
  await asked;
  assert.equal((await posted(fixture, MINUTE_MS)).length, 1);
  assert.equal(stateOf(approvals), 'held');
  fixture.poll();
  approvals.releaseAll(OPS, null);
  assert.equal((await posted(fixture, 1000)).length, 2);
});

test('kill -9 while a StartRequest is on its way: the next process knows that it may have been accepted', async (t) => {
  const { fixture, approvals } = await approvalOnItsWay(t, RULES);
  void approvals.holdAll(OPS, REASON);
  await settle();
  const next = reopened(fixture, RULES);
  t.after(() => fixture.close(next));
  change(fixture, STARTED);
  assert.equal(stateOf(next), 'unknown');
});

test("a rule's refused decision is made again under it, and posted only after the release", async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, APPROVE, { notBefore: '2026-01-01T00:15:00Z' });
  fixture.answers = [REFUSED];
  await fixture.time.advance(0);
  assert.equal(stateOf(approvals), 'failed');
  await approvals.holdAll(OPS, REASON);
  assert.equal((await posted(fixture, 3 * MINUTE_MS)).length, 1);
  assert.equal(stateOf(approvals), 'held');
  fixture.poll();
  approvals.releaseAll(OPS, null);
  assert.equal((await posted(fixture, 1000)).length, 2);
});

test('a dry run that it interrupts goes on as one: nothing is posted then either', async (t) => {
  const { fixture, approvals } = await held(t, { ...APPROVE, dryRun: true });
  assert.equal(stateOf(approvals), 'held');
  approvals.releaseAll(OPS, null);
  assert.equal(stateOf(approvals), 'dry-run');
  assert.deepEqual(await posted(fixture, MINUTE_MS), []);
});

test('an event that nobody may approve is not held: it has nothing to hold', async (t) => {
  const { approvals } = await held(t, { ...RULES, policy: [{ when: {}, then: 'never' }] });
  assert.equal(approvals.summary(KEY), null);
  approvals.reload({ ...BASE, ...APPROVE });
  assert.equal(stateOf(approvals), 'held');
});

test('an event that Azure starts under it was not approved, and one that goes back to Scheduled is held again', async (t) => {
  const { fixture, approvals } = await held(t);
  await approve(approvals);
  change(fixture, STARTED);
  assert.equal(stateOf(approvals), 'moot');
  change(fixture, { eventStatus: 'Scheduled', notBefore: '2026-01-01T00:15:00Z' });
  assert.equal(stateOf(approvals), 'held');
  const record = steps(approvals);
  assert.doesNotMatch(record, /held.*held/, 'it is the same hold');
  assert.equal(approvals.summary(KEY)?.holds[0]?.replaced, undefined);
  await approve(approvals);
  assert.deepEqual(await posted(fixture, MINUTE_MS), []);
});

test('one that was released while its event was Started does not hold it when it goes back to Scheduled', async (t) => {
  const { fixture, approvals } = await held(t);
  change(fixture, STARTED);
  approvals.releaseAll(OPS, null);
  change(fixture, { eventStatus: 'Scheduled', notBefore: '2026-01-01T00:15:00Z' });
  assert.deepEqual(approvals.summary(KEY)?.holds ?? [], []);
  await approve(approvals);
  assert.deepEqual(await posted(fixture), [EVENT_ID]);
});

test('if it cannot be stored, it does not stand, and no event is held', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, RULES);
  fixture.store.fault = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  await assert.rejects(approvals.holdAll(OPS, REASON), { code: 'BRIDGE_STORE_FULL' });
  assert.equal(holder(approvals), undefined);
  assert.notEqual(stateOf(approvals), 'held');
  fixture.store.fault = null;
  await approvals.holdAll(OPS, REASON);
  fixture.store.fault = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  assert.throws(() => approvals.releaseAll(OPS, null), { code: 'BRIDGE_STORE_FULL' });
  assert.equal(holder(approvals), 'ops');
  assert.equal(stateOf(approvals), 'held');
});

test('several yeses in one request are all answered as held', async (t) => {
  const { fixture, approvals } = await held(t);
  fixture.list(OTHER_ID);
  fixture.poll();
  const answered = await approvals.request(caller('orders'), startRequests(EVENT_ID, OTHER_ID));
  assert.equal(said(answered), '202 held held');
});

test('one of another admin that gives the same reason, or none either, replaces it', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, RULES, { notBefore: '2026-01-01T00:15:00Z' });
  for (const admin of [OPS, CHIEF]) await approvals.holdAll(admin, null);
  assert.deepEqual(
    approvals.summary(KEY)?.holds.map(({ approver, all }) => [approver, all]),
    [['chief', true]],
  );
  await approve(approvals);
  assert.deepEqual(await posted(fixture, MINUTE_MS), []);
});

for (const who of ['billing', 'ops']) {
  test(`it holds an event that ${who} holds without a reason already, and goes on when that hold is released`, async (t) => {
    const { fixture, approvals } = approvalsOverOneEvent(t, RULES, { notBefore: '2026-01-01T00:15:00Z' });
    approvals.hold(caller(who), { EventId: EVENT_ID });
    await approvals.holdAll(OPS, null);
    await approve(approvals);
    assert.equal(said(approvals.release(caller(who), EVENT_ID, null)), 'released');
    assert.equal(stateOf(approvals), 'held');
    assert.deepEqual(await posted(fixture, MINUTE_MS), []);
  });
}

test('what the service has accepted is not held by it', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, RULES, { notBefore: '2026-01-01T00:15:00Z' });
  await approve(approvals);
  await approvals.holdAll(OPS, REASON);
  change(fixture, { description: 'changed' });
  assert.deepEqual([stateOf(approvals), approvals.summary(KEY)?.holds], ['submitted', []]);
  assert.equal(steps(approvals), 'recorded orders token, decided quorum, submitted');
});

test('the log says who set and released it and why, and at a start that it stands', async (t) => {
  const { fixture } = await held(t);
  const all = () =>
    fixture.log
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => /everything/.test(msg))
      .map(({ level, approver, reason, msg }) => [level, approver, reason, msg]);
  const set = [40, 'ops', REASON, 'everything is held: the bridge submits nothing until it is released'];
  assert.deepEqual(all(), [set]);
  const next = reopened(fixture, RULES);
  t.after(() => fixture.close(next));
  const stands = [40, 'ops', REASON, 'a hold of everything stands: the bridge submits nothing until it is released'];
  assert.deepEqual(all(), [set, stands]);
  next.releaseAll(CHIEF, null);
  assert.deepEqual(all(), [set, stands, [40, 'chief', undefined, 'the hold of everything is released']]);
  const last = reopened(fixture, RULES);
  t.after(() => fixture.close(last));
  assert.equal(all().length, 3);
});
