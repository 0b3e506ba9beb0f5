// Late answers, or to events that are gone → what is recorded, published and still in doubt.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { PostResult } from '../../../../src/model/approvals.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ACCEPTED,
  type ApprovalSettings,
  type ApprovalsFixture,
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
  said,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const ADMIN: ApprovalSettings = { approvers: { orders: {}, billing: {}, ops: { admin: true } } };

function errors(fixture: ApprovalsFixture): readonly string[] {
  return fixture.log.filter((line) => JSON.parse(line).level >= 50);
}

function stepsOf(fixture: ApprovalsFixture, occurrence = 1): readonly (string | null)[][] {
  const { steps } = fixture.store.approvals.record(occurrence, { after: 0, limit: 100 });
  return steps.map(({ step, reason }) => [step, reason]);
}

for (const [what, result] of [
  ['accepted', ACCEPTED],
  ['again', again(1000)],
  ['lost', LOST],
] as const satisfies readonly (readonly [string, PostResult])[]) {
  test(`an answer to an earlier occurrence changes nothing of the next one: ${what}`, async (t) => {
    const { fixture, approvals, answer } = await approvalOnItsWay(t);
    end(fixture);
    change(fixture);
    answer(result);
    await fixture.time.advance(5000);
    assert.deepEqual(errors(fixture), []);
    assert.equal(approvals.summary(KEY), null);
    assert.deepEqual(stepsOf(fixture, 2), []);
    assert.equal(said(approvals.hold(caller('billing'), { EventId: EVENT_ID })), '201 held');
  });
}

test('a hold of an event that ended waits no longer than for the answer', async (t) => {
  const { fixture, approvals, answer } = await approvalOnItsWay(t);
  const held = approvals.answered(EVENT_ID).then(() => said(approvals.hold(caller('billing'), { EventId: EVENT_ID })));
  end(fixture);
  answer(ACCEPTED);
  await settle();
  assert.equal(await Promise.race([held, 'waits']), '410 ended');
});

test('an acceptance ends the doubt of a lost answer before it', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, ADMIN);
  fixture.answers = [LOST, ACCEPTED];
  void approve(approvals);
  await fixture.time.advance(5000);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
  const held = await approvals.holdAll(caller('ops'), 'month end');
  assert.deepEqual('hold' in held && held.hold.submitting, []);
});

test('an answer that asks for another try leaves an approval without a vote as it was', async (t) => {
  const { fixture, approvals, answer } = await approvalOnItsWay(t, { policy: [{ when: {}, then: 'wait' }] });
  await fixture.time.advance(100);
  change(fixture, { eventType: 'Redeploy' });
  const before = approvals.summary(KEY);
  assert.equal(before?.at, '2026-01-01T00:00:00.100Z');
  await fixture.time.advance(100);
  answer(again(1000));
  await settle();
  assert.deepEqual(approvals.summary(KEY), before);
});

/** The document after the refusal does not list the event, which may come back. */
function missAfterPost(fixture: ApprovalsFixture, posts: number): void {
  const poll = fixture.poll.bind(fixture);
  fixture.poll = () => {
    poll();
    if (fixture.posts.length >= posts) Object.assign(fixture.known(KEY) ?? {}, { listed: false });
  };
}

for (const [state, answers] of [
  ['moot', [REFUSED]],
  ['unknown', [LOST, REFUSED]],
] as const) {
  test(`a refused approval of an event that the next document does not list is ${state}, and published no further`, async (t) => {
    const { fixture, approvals } = approvalsOverOneEvent(t);
    fixture.answers = [...answers];
    missAfterPost(fixture, answers.length);
    void approve(approvals);
    await fixture.time.advance(5000);
    assert.equal(fixture.store.stored(KEY, 1)?.state, state);
    assert.equal(stepsOf(fixture).at(-1)?.[0], state);
    assert.deepEqual(fixture.store.told, ['approval.recorded orders']);
    assert.deepEqual(errors(fixture), []);
  });
}
