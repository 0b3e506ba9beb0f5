// An event's approvals on every path → GET /v1/approvals/EVENT_ID, and GET /v1/events in short.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import { govern } from '../../../../src/approvals/rules/governed.ts';
import { RulesInForce } from '../../../../src/approvals/rules/rules-in-force.ts';
import { type EventRecord, lifeOf } from '../../../../src/approvals/views/event-record.ts';
import { BridgeError } from '../../../../src/errors.ts';
import type { ApprovalDecision, EventApproval, PostResult } from '../../../../src/model/approvals.ts';
import { EVENT_ID, momentAt, START_MS, scheduledEvent } from '../../../support/events.ts';
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
  RULES,
  STARTED,
} from '../../../virtual/approvals-fixture.ts';

const START = { action: 'start', at: scheduledEvent().notBefore, by: null } as const;
const WAITS = { policy: null, then: 'wait', waitingFor: [], window: null, during: [], budgets: [] } as const;
const EMPTY = { steps: [], next: null, unwritten: [] };
const FIRST = '2026-01-01T00:00:00.000Z';

function lifeIn(approvals: Approvals, eventId = EVENT_ID): EventRecord {
  const life = approvals.life(eventId, { after: 0, limit: 200 });
  assert.ok('steps' in life);
  return life;
}

/** `answered 503`, `void orders`, … */
function lines(approvals: Approvals): readonly string[] {
  return lifeIn(approvals).steps.map(({ step, approver, status, reason }) =>
    [step, approver, status, reason].filter((part) => part !== null).join(' '),
  );
}

function failing(status?: number): PostResult {
  const error = new BridgeError(
    status === undefined ? 'BRIDGE_METADATA_TIMEOUT' : 'BRIDGE_METADATA_STATUS',
    'not accepted',
    {
      ...(status !== undefined && { status }),
    },
  );
  return { kind: 'again', error, delayMs: 1000, mayHaveArrived: false };
}

test('an event that nobody knows is refused as unknown', (t) => {
  const { approvals } = approvalsOverOneEvent(t);
  const life = approvals.life('nobody');
  assert.ok('kind' in life);
  assert.deepEqual([life.status, life.type, life.eventId], [404, 'unknown', 'nobody']);
});

/** The record of an event under these rules, at the moment of its last change. */
function recordUnder(settings: ApprovalSettings, parts: Partial<Parameters<typeof lifeOf>[0]> = {}): EventRecord {
  const rules = new RulesInForce({ ...RULES, ...settings });
  const known = { key: KEY, occurrence: 1, event: scheduledEvent() };
  const governed = govern(rules, known.event, momentAt(0), null);
  return lifeOf({
    ...{ rules, eventId: EVENT_ID, approval: null, governedEvent: { known, governed }, rank: 2, turnMs: null },
    ...{ record: { ...EMPTY, submittedMs: null }, isOver: false, nextStep: START, heldBackBy: [] },
    ...{ usedBudgets: [], rule: WAITS, at: momentAt(0), ...parts },
  });
}

const BLANK: EventRecord = {
  ...{ eventId: EVENT_ID, state: 'none', approvedBy: [], policy: null, at: null, waitingFor: [], holds: [] },
  ...{ decidedBy: null, deadline: null, rank: 2, submitsAt: null },
  ...{ submittedAt: null, notStartedForSeconds: null, ...EMPTY, nextStep: START, heldBackBy: [], rule: WAITS },
};

test('an event for which nothing was recorded and no rule speaks has the state none', () => {
  assert.deepEqual(recordUnder({}), BLANK);
  assert.deepEqual(recordUnder({}, { governedEvent: null }), BLANK, 'also after its start');
  const never = recordUnder({ policy: [{ when: {}, then: 'never' }] });
  assert.deepEqual(never, { ...BLANK, policy: 'policy[0]' }, 'a rule that has never is named');
});

test('the record of a drill says so', () => {
  const eventId = 'drill-00000000-0000-4000-8000-000000000001';
  assert.deepEqual(recordUnder({}, { eventId }), { ...BLANK, eventId, drill: true });
});

test('steps that an approver had no room for are counted, with the times of the first and the last', () => {
  const unwritten = [{ approver: 'orders', steps: 7, sinceMs: START_MS, untilMs: START_MS + 1500 }];
  const record = { ...EMPTY, submittedMs: null, unwritten };
  assert.deepEqual(recordUnder({}, { record }).unwritten, [
    { approver: 'orders', steps: 7, since: '2022-04-11T22:00:00.000Z', until: '2022-04-11T22:00:01.500Z' },
  ]);
});

test('the use of a budget has the number of its machines, and the first hundred', () => {
  const use = { eventId: EVENT_ID, resources: [], endedMs: null };
  const machines = Array.from({ length: 101 }, (_, index) => ({ name: `web_${index}`, use, untilMs: null }));
  const usedBudgets = [{ name: 'web', atMost: 200, machines }];
  const [web, ...more] = recordUnder({}, { usedBudgets, heldBackBy: ['web'] }).budgetUse ?? [];
  assert.deepEqual([web?.name, web?.atMost, web?.used, web?.machines.length, more], ['web', 200, 101, 100, []]);
  assert.deepEqual(web?.machines.at(-1), { name: 'web_99', eventId: EVENT_ID, until: null });
});

test('a deadline is in the record, with what it does or did', () => {
  const event = scheduledEvent();
  const at = '2022-04-11T22:06:58.000Z';
  const dueMs = Date.parse(at);
  const deadlineOf = (
    then: 'approve' | 'leave',
    { isDone = false, approvedDueMs = null as number | null, notBefore = event.notBefore } = {},
  ) => {
    const rules = new RulesInForce({
      ...{ ...RULES, policy: [{ when: {}, then: 'wait', deadline: { beforeMs: 20 * 60_000, then } }] },
    });
    const known = { key: KEY, occurrence: 1, event: { ...event, notBefore } };
    const governed = { ...govern(rules, known.event, momentAt(0), null), isDone };
    const decision: ApprovalDecision = {
      ...{ by: 'deadline', at: momentAt(0), atOnce: false, dueMs: approvedDueMs, rule: governed.ruling.rule },
      ...{ isSpent: false, window: null },
    };
    const approval: EventApproval = {
      ...{ key: KEY, occurrence: 1, state: 'submitting', votes: [], holds: [], decision, policy: 'policy[0]' },
      ...{ isDryRun: false, at: momentAt(0) },
    };
    const parts = { governedEvent: { known, governed }, approval: approvedDueMs === null ? null : approval };
    return recordUnder({}, { ...parts, rules }).deadline;
  };
  assert.deepEqual(deadlineOf('approve'), { at, then: 'approve' }, 'ahead');
  assert.deepEqual(deadlineOf('leave'), { at, then: 'leave' }, 'ahead');
  assert.deepEqual(
    deadlineOf('approve', { isDone: true, approvedDueMs: dueMs }),
    { at, then: 'approve' },
    'it approved',
  );
  assert.deepEqual(deadlineOf('approve', { isDone: true }), { at, then: 'leave' }, 'it expired without an approval');
  const earlier = deadlineOf('approve', { isDone: true, approvedDueMs: dueMs - 60_000 });
  assert.deepEqual(earlier, { at, then: 'leave' }, 'an earlier one approved, and this one was past when it was set');
  assert.equal(deadlineOf('approve', { notBefore: null }), null, 'none without NotBefore');
});

test('recorded, decided, submitted, confirmed: who, when, how, and what the metadata service answered', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await fixture.time.advance(1000);
  await approve(approvals);
  await fixture.time.advance(61_500);
  const nobody = { approver: null, via: null, policy: null, status: null, reason: null };
  const at = '2026-01-01T00:00:01.000Z';
  const submitted: EventRecord = {
    ...{ eventId: EVENT_ID, state: 'submitted', approvedBy: ['orders'], policy: null, at, waitingFor: [], holds: [] },
    ...{ decidedBy: 'quorum', deadline: null, rank: null, submitsAt: null },
    ...{ submittedAt: at, notStartedForSeconds: 61, ...EMPTY, nextStep: START, heldBackBy: [], rule: WAITS },
    steps: [
      { ...nobody, at, step: 'recorded', approver: 'orders', via: 'token' },
      { ...nobody, at, step: 'decided', reason: 'quorum' },
      { ...nobody, at, step: 'submitted', status: 200 },
    ],
  };
  assert.deepEqual(lifeIn(approvals), submitted);
  assert.deepEqual(approvals.overview(), { states: ['submitted'], notStartedSeconds: 61.5, awaited: [] });
  change(fixture, STARTED);
  const startedAt = '2026-01-01T00:01:02.500Z';
  assert.deepEqual(lifeIn(approvals, KEY), {
    ...submitted,
    ...{ state: 'confirmed', at: startedAt, notStartedForSeconds: null },
    ...{ nextStep: { action: null, at: null, by: null }, rule: null },
    steps: [...submitted.steps, { ...nobody, at: startedAt, step: 'confirmed' }],
  });
  assert.deepEqual(approvals.overview(), { states: ['confirmed'], notStartedSeconds: 0, awaited: [] });
});

test('what was submitted and has not started ages through restarts', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await approve(approvals);
  await fixture.time.advance(60_000);
  const restarted = fixture.open();
  t.after(() => fixture.close(restarted));
  await fixture.time.advance(60_000);
  assert.equal(lifeIn(restarted).notStartedForSeconds, 120);
  assert.equal(restarted.overview().notStartedSeconds, 120);
  fixture.time.jumpWall(-600_000);
  assert.equal(lifeIn(restarted).notStartedForSeconds, 0, 'never negative');
});

test('an event that is over keeps its life, through restarts, until the next occurrence has one', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await approve(approvals);
  change(fixture, STARTED);
  const { at, state } = lifeIn(approvals);
  end(fixture);
  const life = lifeIn(approvals, KEY);
  assert.deepEqual([life.eventId, life.state, life.at, life.decidedBy], [EVENT_ID, state, at, 'quorum']);
  assert.deepEqual(lines(approvals), ['recorded orders', 'decided quorum', 'submitted 200', 'confirmed']);
  const restarted = fixture.open({ required: 'all' });
  t.after(() => fixture.close(restarted));
  assert.deepEqual(lifeIn(restarted, KEY), life);
  change(fixture, { eventStatus: 'Scheduled' });
  await approve(restarted);
  assert.deepEqual(lines(restarted), ['recorded orders']);
  assert.deepEqual(lifeIn(restarted).waitingFor, ['billing']);
});

test('an event that starts or ends without what it waits for makes that moot', async (t) => {
  for (const over of ['started', 'ended'] as const) {
    const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
    await approve(approvals);
    await fixture.time.advance(1000);
    if (over === 'started') change(fixture, STARTED);
    else end(fixture);
    const { state, at, waitingFor, approvedBy } = lifeIn(approvals);
    assert.deepEqual([state, at, waitingFor, approvedBy], ['moot', '2026-01-01T00:00:01.000Z', [], ['orders']]);
    assert.deepEqual(lines(approvals), ['recorded orders', 'moot']);
    assert.deepEqual(fixture.store.told, ['approval.recorded orders']);
  }
});

test('an accepted event that was never seen Started ends as submitted', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await approve(approvals);
  end(fixture);
  const { state, notStartedForSeconds } = lifeIn(approvals);
  assert.deepEqual([state, notStartedForSeconds], ['submitted', null], 'what is over is not waited for');
});

test('each answer of the metadata service that says something new is a line: a status, a code, nothing', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [failing(503), failing(503), failing(429), failing(), again(1000), failing(503)];
  await approve(approvals);
  await fixture.time.advance(5500);
  assert.equal(lifeIn(approvals).state, 'submitting');
  await fixture.time.advance(1000);
  assert.deepEqual(lines(approvals), [
    ...['recorded orders', 'decided quorum'],
    ...['answered 503', 'answered 429', 'answered BRIDGE_METADATA_TIMEOUT', 'answered', 'answered 503'],
    'submitted 200',
  ]);
  assert.equal(lifeIn(approvals).steps.at(-2)?.at, '2026-01-01T00:00:05.000Z');
});

test('a service that answers now this and now that adds a hundred lines and no more', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = Array.from({ length: 300 }, (_, index) => failing(500 + (index % 2)));
  await approve(approvals);
  await fixture.time.advance(300_000);
  assert.equal(lifeIn(approvals).state, 'submitted');
  assert.equal(lines(approvals).filter((line) => line.startsWith('answered')).length, 100);
});

test('the answers of another occurrence do not count against it', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  for (const _ of [1, 2]) {
    fixture.answers = [failing(503)];
    await approve(approvals);
    await fixture.time.advance(1000);
    assert.ok(lines(approvals).includes('answered 503'));
    end(fixture);
    change(fixture);
  }
});

test('a record that cannot be written delays what it tells of, and loses nothing', async (t) => {
  const { fixture, approvals, asked, answer } = await approvalOnItsWay(t);
  fixture.store.fault = new Error('the disk is full');
  answer(failing(503));
  await fixture.time.advance(1000);
  fixture.store.fault = null;
  await fixture.time.advance(5000);
  await asked;
  assert.equal(lifeIn(approvals).state, 'submitted');
});

test('refused, and still Scheduled: the status stands at the answer and at the failure; another yes is posted', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [REFUSED];
  await approve(approvals);
  assert.equal(lifeIn(approvals).state, 'failed');
  assert.deepEqual(lines(approvals).slice(2), ['answered 403', 'failed 403']);
  await approve(approvals, 'billing');
  assert.deepEqual(lines(approvals).slice(4), ['recorded billing', 'submitted 200']);
});

test('a vote that reopens a refused approval is for the current content of the event', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  change(fixture, { durationInSeconds: 60 });
  fixture.answers = [REFUSED, failing(503)];
  await approve(approvals);
  await fixture.time.advance(1000);
  change(fixture, { durationInSeconds: 5 });
  await approve(approvals);
  assert.equal(lifeIn(approvals).state, 'submitting');
  change(fixture, { durationInSeconds: 60 });
  assert.equal(await fixture.postsAfter(60_000), 2, 'nobody said yes to a minute again');
  assert.equal(fixture.store.told.at(-1), 'approval.failed changed orders');
});

test('refused, and started meanwhile: moot, with the status', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [REFUSED];
  fixture.list(EVENT_ID, STARTED);
  await approve(approvals);
  assert.deepEqual(lines(approvals).slice(2), ['answered 403', 'moot']);
});

test('a yes that became void is named, and so is the decision that went with it', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [failing(503)];
  await approve(approvals);
  change(fixture, { eventType: 'Redeploy' });
  assert.deepEqual(lines(approvals), [
    'recorded orders',
    'decided quorum',
    'answered 503',
    'void orders',
    'dropped quorum',
  ]);
  const life = lifeIn(approvals);
  assert.deepEqual([life.state, life.approvedBy, life.decidedBy], ['none', [], null]);
  await approve(approvals);
  await fixture.time.advance(1000);
  assert.deepEqual(lines(approvals).slice(5), ['recorded orders', 'decided quorum', 'submitted 200']);
});

test('an event that Azure took back after the approved start is submitted again, and its record says so by the next start', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await approve(approvals);
  for (const eventStatus of ['Started', 'Scheduled', 'Started'] as const) {
    change(fixture, { eventStatus });
    assert.equal(lifeIn(approvals).state, eventStatus === 'Started' ? 'confirmed' : 'submitted');
  }
  assert.deepEqual(lines(approvals).slice(2), ['submitted 200', 'confirmed', 'confirmed']);
  assert.equal(fixture.posts.length, 1);
});

test('a yes to an event that Azure took back is recorded and told like the first one', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await approve(approvals);
  change(fixture, STARTED);
  change(fixture, { eventStatus: 'Scheduled' });
  await fixture.time.advance(1000);
  await approve(approvals);
  assert.equal(lines(approvals).at(-1), 'recorded orders');
  assert.deepEqual(lifeIn(approvals).approvedBy, ['orders']);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.recorded orders']);
});

test('the record is the same after a restart, to which nothing new happened', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await approve(approvals);
  approvals.hold(caller('billing'), { EventId: EVENT_ID, reason: 'busy' });
  const before = lifeIn(approvals);
  const transactions = fixture.store.transactions;
  const restarted = fixture.open({ required: 'all' });
  t.after(() => fixture.close(restarted));
  assert.deepEqual(lifeIn(restarted), before);
  assert.equal(fixture.store.transactions, transactions);
});

test('in a group, the record has the rank and the time of the turn of this bridge', async (t) => {
  const group = { submit: 'leader', failoverAfterMs: 10_000, members: ['westno_9'] } as const;
  for (const [ownName, rank, submitsAt] of [
    ['WESTNO_0', 0, null],
    ['westno_1', 1, '2026-01-01T00:00:10.000Z'],
    ['WestNO_9', 2, '2026-01-01T00:00:20.000Z'],
    ['elsewhere', null, null],
  ] as const) {
    const { fixture, approvals } = approvalsOverOneEvent(t, { policy: 'documentation', group, ownName });
    await fixture.time.advance(4000);
    const life = lifeIn(approvals);
    assert.deepEqual([life.rank, life.submitsAt], [rank, submitsAt], ownName);
    assert.equal(life.state, rank === 0 ? 'submitted' : 'submitting');
  }
});

test('the summary is empty without votes and holds, and names the missing approvers after the first', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  assert.equal(approvals.summary(KEY), null);
  assert.equal(approvals.summary('nobody'), null);
  assert.equal(approvals.approvalOf(KEY, 1), null);
  approvals.hold(caller('billing'), { EventId: EVENT_ID, reason: 'busy' });
  assert.equal(approvals.approvalOf(KEY, 1), null, 'a hold is no approval');
  await fixture.time.advance(1000);
  await approve(approvals);
  assert.deepEqual(approvals.summary(KEY), {
    ...{ state: 'held', approvedBy: ['orders'], policy: null, at: FIRST, waitingFor: ['billing'] },
    holds: [{ approver: 'billing', reason: 'busy', at: FIRST }],
  });
  approvals.release(caller('billing'), EVENT_ID, null);
  const waiting = approvals.summary(KEY);
  assert.deepEqual([waiting?.state, waiting?.at, waiting?.holds], ['waiting', '2026-01-01T00:00:01.000Z', []]);
  await approve(approvals, 'billing');
  assert.deepEqual(approvals.summary(KEY)?.waitingFor, []);
  assert.deepEqual(
    approvals.approvalOf(KEY, 1)?.votes.map(({ approver }) => approver),
    ['orders', 'billing'],
  );
});

test('a hold that was released leaves no summary behind, and its record stays', (t) => {
  const { approvals } = approvalsOverOneEvent(t);
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  approvals.release(caller('orders'), EVENT_ID, null);
  assert.equal(approvals.summary(KEY), null);
  const life = lifeIn(approvals);
  assert.deepEqual([life.state, life.at, life.steps.length], ['none', null, 2]);
});

test('an acceptance that was under way while the event ended belongs to nothing any more', async (t) => {
  const { fixture, approvals, asked, answer } = await approvalOnItsWay(t);
  end(fixture);
  answer(ACCEPTED);
  const answered = await asked;
  assert.equal(answered.kind === 'results' && answered.results[0]?.state, 'unknown');
  assert.equal(lifeIn(approvals).state, 'unknown');
});

/** It was Started before anybody's yes was posted, and is Scheduled again. */
function backFromStarted(fixture: ApprovalsFixture): void {
  change(fixture, STARTED);
  change(fixture, { eventStatus: 'Scheduled', notBefore: '2026-01-01T00:15:00Z' });
}

test('an event that went back from Started to Scheduled waits, with the votes that count, and is among those that are awaited', async (t) => {
  const both = { required: 'all', policy: [{ when: {}, then: 'wait' }] } as const;
  const { fixture, approvals } = approvalsOverOneEvent(t, both);
  await approve(approvals);
  change(fixture, STARTED);
  assert.equal(approvals.summary(KEY)?.state, 'moot');
  await fixture.time.advance(5000);
  change(fixture, { eventStatus: 'Scheduled', notBefore: '2026-01-01T00:15:00Z' });
  const waiting = {
    ...{ state: 'waiting', approvedBy: [], policy: 'policy[0]', at: '2026-01-01T00:00:05.000Z' },
    ...{ waitingFor: ['orders', 'billing'], holds: [] },
  };
  assert.deepEqual(approvals.summary(KEY), waiting);
  const { state, approvedBy, waitingFor, decidedBy, at } = lifeIn(approvals);
  assert.deepEqual(
    [state, approvedBy, waitingFor, decidedBy, at],
    ['waiting', [], ['orders', 'billing'], null, waiting.at],
  );
  assert.deepEqual(lines(approvals), ['recorded orders', 'moot']);
  assert.deepEqual(approvals.missing(KEY), ['orders', 'billing']);
  const { states, awaited } = approvals.overview();
  assert.deepEqual([states, awaited.map((each) => each.state)], [['waiting'], ['waiting']]);
  await approve(approvals, 'billing');
  assert.deepEqual(approvals.summary(KEY)?.waitingFor, ['orders']);
  await approve(approvals);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

test('the same without a policy, and if the result of its StartRequest is unknown', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [LOST];
  await approve(approvals);
  backFromStarted(fixture);
  assert.deepEqual(lines(approvals).slice(-1), ['unknown']);
  const { state, approvedBy, waitingFor, decidedBy } = lifeIn(approvals);
  assert.deepEqual([state, approvedBy, waitingFor, decidedBy], ['waiting', [], ['orders', 'billing'], null]);
  assert.equal(approvals.overview().awaited.length, 1);
});

test('a hold that stands over the start holds the event that went back, which is shown as held', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await approve(approvals);
  approvals.hold(caller('billing'), { EventId: EVENT_ID, reason: 'a dump' });
  backFromStarted(fixture);
  const { state, approvedBy, waitingFor, holds } = lifeIn(approvals);
  assert.deepEqual([state, approvedBy, waitingFor, holds.length], ['held', [], ['orders', 'billing'], 1]);
  assert.deepEqual(
    approvals.overview().awaited.map((each) => each.state),
    ['held'],
  );
});
