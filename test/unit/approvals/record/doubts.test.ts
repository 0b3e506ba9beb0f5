// A StartRequest without a known answer, then kill -9 → still in doubt at the next start.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { RulesOptions } from '../../../../src/approvals/rules/rules-in-force.ts';
import { BridgeError } from '../../../../src/errors.ts';
import type { PostResult } from '../../../../src/model/approvals.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  type ApprovalSettings,
  type ApprovalsFixture,
  again,
  approvalsOverOneEvent,
  approve,
  caller,
  change,
  KEY,
  LOST,
  REFUSED,
  RULES,
  reopened,
  STARTED,
  said,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const APPROVES = [{ when: {}, then: 'approve' }] as const;

/** A StartRequest that `answer` is the answer to is on its way. */
async function posting(t: TestContext, policy: RulesOptions['policy'] = null) {
  const { fixture, approvals } = approvalsOverOneEvent(t, { policy });
  const { promise, resolve: answer } = Promise.withResolvers<PostResult>();
  fixture.answers = [promise];
  if (policy === null) approve(approvals).catch(() => {});
  await settle();
  assert.equal(fixture.posts.length, 1);
  return { fixture, approvals, answer };
}

/** The process is killed, and the next one reads a document. */
function restart(t: TestContext, fixture: ApprovalsFixture, settings: ApprovalSettings = {}): Approvals {
  fixture.answerTo = () => again(3_600_000);
  const approvals = reopened(fixture, settings);
  t.after(() => fixture.close(approvals));
  fixture.poll();
  return approvals;
}

function hold(approvals: Approvals): string {
  return said(approvals.hold(caller('billing'), { EventId: EVENT_ID }));
}

function stateOf(fixture: ApprovalsFixture): string | undefined {
  return fixture.store.stored(KEY, 1)?.state;
}

function answersIn(fixture: ApprovalsFixture): readonly (string | null)[] {
  const { steps } = fixture.store.approvals.record(1, { after: 0, limit: 100 });
  return steps.filter(({ step }) => step === 'answered').map(({ reason }) => reason);
}

for (const [what, leave] of [
  ['void', ({ fixture }) => change(fixture, { eventType: 'Reboot' })],
  ['part of a dry run', ({ approvals }) => approvals.reload({ ...RULES, dryRun: true })],
  ['of no approver', ({ approvals }) => approvals.reload({ ...RULES, approvers: { billing: {} } })],
] as [string, (running: Awaited<ReturnType<typeof posting>>) => void][]) {
  test(`killed while a StartRequest was on its way whose approval was ${what} by then: nobody may hold`, async (t) => {
    const running = await posting(t);
    leave(running);
    assert.notEqual(stateOf(running.fixture), 'submitting');
    const next = restart(t, running.fixture);
    assert.equal(hold(next), '409 submitting');
    assert.deepEqual(answersIn(running.fixture), ['awaited', 'lost']);
  });
}

test('killed so, and then the event starts: unknown', async (t) => {
  const { fixture } = await posting(t);
  change(fixture, { eventType: 'Reboot' });
  restart(t, fixture);
  change(fixture, STARTED);
  assert.equal(stateOf(fixture), 'unknown');
});

test('the same over two restarts, and though the service refuses what is posted behind it', async (t) => {
  const { fixture } = await posting(t);
  change(fixture, { eventType: 'Reboot' });
  const second = restart(t, fixture);
  fixture.answers = [again(3_600_000)];
  approve(second).catch(() => {});
  await settle();
  assert.equal(fixture.posts.length, 2);
  change(fixture, { eventType: 'Redeploy' });
  assert.equal(hold(restart(t, fixture)), '409 submitting');
});

test('no doubt is left where the answer came before the process was killed', async (t) => {
  const { fixture, answer } = await posting(t);
  change(fixture, { eventType: 'Reboot' });
  answer(again(1000));
  await settle();
  assert.deepEqual(answersIn(fixture), ['awaited', null]);
  assert.equal(hold(restart(t, fixture)), '201 held');
  change(fixture, STARTED);
  assert.equal(stateOf(fixture), 'moot');
});

test('killed after a reload made the group another: what was on its way before stays in doubt', async (t) => {
  const { fixture, approvals } = await posting(t, APPROVES);
  const group = { ...RULES.group, submit: 'leader', members: ['another'] } as const;
  approvals.reload({ ...RULES, policy: APPROVES, group });
  const next = restart(t, fixture, { policy: APPROVES, group, ownName: 'another' });
  assert.equal(hold(next), '409 submitting');
  change(fixture, STARTED);
  assert.equal(stateOf(fixture), 'unknown');
});

test('a reload that cannot be stored while a StartRequest is on its way changes nothing', async (t) => {
  const { fixture, approvals } = await posting(t);
  fixture.store.fault = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  assert.throws(() => approvals.reload({ ...RULES, approvers: { billing: {} } }), /disk is full/);
  fixture.store.fault = null;
  assert.equal(stateOf(fixture), 'submitting');
  assert.deepEqual(answersIn(fixture), []);
});

for (const [what, follow] of [
  ['became void', async (fixture) => change(fixture, { eventType: 'Reboot' })],
  ['was refused', (fixture) => fixture.time.advance(2000)],
] as [string, (fixture: ApprovalsFixture) => void | Promise<void>][]) {
  test(`a lost answer that a full disk kept out of the record is there once the approval ${what}`, async (t) => {
    const { fixture, answer } = await posting(t);
    fixture.answers = [REFUSED];
    fixture.store.fault = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
    answer(LOST);
    await settle();
    fixture.store.fault = null;
    assert.deepEqual(answersIn(fixture), []);
    await follow(fixture);
    assert.notEqual(stateOf(fixture), 'submitting');
    assert.equal(hold(restart(t, fixture)), '409 submitting');
  });
}

test('an answer that is lost again after a start that Azure took back is in doubt again', async (t) => {
  const { fixture, approvals, answer } = await posting(t);
  answer(LOST);
  await settle();
  change(fixture, STARTED);
  assert.equal(stateOf(fixture), 'unknown');
  change(fixture, { eventStatus: 'Scheduled', notBefore: null });
  fixture.answers = [LOST];
  approve(approvals).catch(() => {});
  await fixture.time.advance(1000);
  assert.equal(fixture.posts.length, 2);
  change(fixture, { eventType: 'Reboot' });
  assert.equal(hold(restart(t, fixture)), '409 submitting');
});

for (const isLost of [true, false]) {
  const may = isLost ? 'may have been by the answer that was lost: unknown' : 'was by none of them: it stays failed';
  test(`a start behind a refusal ${may}`, async (t) => {
    const { fixture, answer } = await posting(t);
    fixture.answers = [REFUSED];
    answer(isLost ? LOST : again(1000));
    await fixture.time.advance(2000);
    assert.equal(stateOf(fixture), 'failed');
    change(fixture, STARTED);
    assert.equal(stateOf(fixture), isLost ? 'unknown' : 'failed');
  });
}

for (const [answered, last] of [
  [LOST, 'unknown'],
  [again(1000), 'dry-run'],
  [{ kind: 'accepted' }, 'confirmed'],
] as const) {
  test(`a start in a dry run that began while a StartRequest was on its way: ${last}, once the answer is there`, async (t) => {
    const { fixture, approvals, answer } = await posting(t);
    approvals.reload({ ...RULES, dryRun: true });
    change(fixture, STARTED);
    assert.equal(stateOf(fixture), 'dry-run');
    answer(answered);
    await settle();
    assert.equal(stateOf(fixture), last);
  });
}

test('an event that is over before the answer to a StartRequest is there, in a dry run: unknown', async (t) => {
  const { fixture, approvals } = await posting(t);
  approvals.reload({ ...RULES, dryRun: true });
  fixture.end(EVENT_ID);
  fixture.poll();
  assert.equal(stateOf(fixture), 'unknown');
});

test('killed while a StartRequest was on its way: nobody may hold, and the record says so once, over two restarts', async (t) => {
  const { fixture } = await posting(t);
  const next = restart(t, fixture);
  assert.equal(hold(next), '409 submitting');
  assert.deepEqual(
    answersIn(fixture).filter((reason) => reason !== null),
    ['lost'],
  );
  change(fixture, { eventType: 'Reboot' });
  const last = restart(t, fixture);
  assert.equal(hold(last), '409 submitting');
  assert.deepEqual(
    answersIn(fixture).filter((reason) => reason !== null),
    ['lost'],
  );
  change(fixture, STARTED);
  assert.equal(stateOf(fixture), 'unknown');
});

test('no doubt is left over a restart if nothing was to be posted', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await approve(approvals);
  const next = restart(t, fixture, { required: 'all' });
  assert.equal(hold(next), '201 held');
  assert.deepEqual(answersIn(fixture), []);
});

test('a change that leaves an approval on its way adds no line to the record', async (t) => {
  const { fixture, answer } = await posting(t);
  change(fixture, { description: 'changed' });
  assert.deepEqual(answersIn(fixture), []);
  answer({ kind: 'accepted' });
  await settle();
  assert.equal(stateOf(fixture), 'submitted');
});

test('an event that went back to Scheduled before its answer was lost is unknown, and can be approved again', async (t) => {
  const { fixture, approvals, answer } = await posting(t);
  change(fixture, STARTED);
  change(fixture, { eventStatus: 'Scheduled', notBefore: null });
  answer(LOST);
  await settle();
  assert.equal(stateOf(fixture), 'unknown');
  approve(approvals).catch(() => {});
  await fixture.time.advance(1000);
  assert.equal(stateOf(fixture), 'submitted');
  assert.equal(fixture.posts.length, 2);
});

for (const [answered, state] of [
  [LOST, 'unknown'],
  [again(1000), 'moot'],
] as const) {
  test(`an event that went back to Scheduled and started again before its answer: ${state}, once it is there`, async (t) => {
    const { fixture, answer } = await posting(t);
    change(fixture, STARTED);
    change(fixture, { eventStatus: 'Scheduled', notBefore: null });
    change(fixture, STARTED);
    answer(answered);
    await settle();
    assert.equal(stateOf(fixture), state);
  });
}

test('killed twice while the same approval was to be posted: the record says once that it may have been accepted', async (t) => {
  const { fixture } = await posting(t);
  restart(t, fixture);
  const last = restart(t, fixture);
  assert.equal(hold(last), '409 submitting');
  assert.deepEqual(
    answersIn(fixture).filter((reason) => reason !== null),
    ['lost'],
  );
});

test('what the service accepts has the votes that came while it was on its way', async (t) => {
  const { fixture, approvals, answer } = await posting(t);
  approve(approvals, 'billing').catch(() => {});
  answer({ kind: 'accepted' });
  await settle();
  const { state, votes } = fixture.store.stored(KEY, 1) ?? {};
  assert.deepEqual([state, votes?.map(({ approver }) => approver)], ['submitted', ['orders', 'billing']]);
});

for (const [what, answered] of [
  ['is accepted', { kind: 'accepted' }],
  ['is refused', REFUSED],
  ['is put off', again(1000)],
  ['is lost', LOST],
] as const) {
  test(`an event that is over before its StartRequest ${what} stays unknown, and nothing fails`, async (t) => {
    const { fixture, answer } = await posting(t);
    fixture.end(EVENT_ID);
    fixture.poll();
    const count = fixture.log.length;
    answer(answered);
    await fixture.time.advance(60_000);
    assert.equal(stateOf(fixture), 'unknown');
    assert.equal(fixture.posts.length, 1);
    const faults = fixture.log.slice(count).filter((line) => JSON.parse(line).level >= 50);
    assert.deepEqual(faults, []);
  });
}
