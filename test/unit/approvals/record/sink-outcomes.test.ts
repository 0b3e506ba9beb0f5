// Outcomes of a sink that approves and holds → settled deliveries, its votes, its holds.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import { withSinkHolds } from '../../../../src/approvals/record/sink-holds.ts';
import { govern } from '../../../../src/approvals/rules/governed.ts';
import { RulesInForce } from '../../../../src/approvals/rules/rules-in-force.ts';
import type { ApprovalHold, EventApproval } from '../../../../src/model/approvals.ts';
import type { Settlement } from '../../../../src/model/deliveries.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { EVENT_ID, momentAt, scheduledEvent } from '../../../support/events.ts';
import {
  type ApprovalSettings,
  type ApprovalsFixture,
  again,
  approvalsOverOneEvent,
  caller,
  change,
  KEY,
  RULES,
  STARTED,
  said,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const SETTINGS: ApprovalSettings = {
  approvers: { orders: {}, billing: {}, node: {} },
  holdingSinks: new Map([['drain', 'node']]),
};
const DRAIN = { sink: 'drain', approver: 'node' };

/** Of one event, whose first CloudEvent has the id `first`. */
function opened(t: TestContext, settings: ApprovalSettings = SETTINGS) {
  const { fixture, approvals } = approvalsOverOneEvent(t, settings);
  saw(fixture, 'first');
  return { fixture, approvals };
}

/** A CloudEvent about EVENT_ID as it is now has this id. */
function saw(fixture: ApprovalsFixture, id: string, eventId = EVENT_ID): void {
  const { key, occurrence, event } = fixture.known(eventId.toLowerCase()) ?? assert.fail();
  fixture.store.seenEvents.set(id, { change: 'scheduled', key, occurrence, event });
}

function prepared(approvals: Approvals, ...ids: readonly string[]): void {
  const settlements = ids.map((approves, index) => ({ seq: index + 7, result: 'accepted', approves }) as const);
  approvals.settle(DRAIN, settlements, 0);
}

function votesOf(fixture: ApprovalsFixture, occurrence = 1, key = KEY) {
  const votes = fixture.store.stored(key, occurrence)?.votes ?? [];
  return votes.map(({ approver, via, isShared, hasSeen }) => [approver, via, isShared, hasSeen]);
}

function holders(approvals: Approvals): string {
  return (approvals.summary(KEY)?.holds ?? []).map(({ approver, reason }) => `${approver}: ${reason}`).join(', ');
}

/** Under the hold of the sink, because the event got worse after the sink was ready. */
async function heldAgain(t: TestContext) {
  const { fixture, approvals } = opened(t);
  fixture.answers = [again(1000)];
  fixture.sent.add('drain 1');
  prepared(approvals, 'first');
  await settle();
  change(fixture, { eventType: 'Reboot' });
  saw(fixture, 'second');
  assert.equal(holders(approvals), 'node: sink drain prepares');
  return { fixture, approvals };
}

test('an accepted delivery is settled and approves as the approver of its sink, who has seen the event, in one transaction', async (t) => {
  const { fixture, approvals } = opened(t);
  const before = fixture.store.transactions;
  prepared(approvals, 'first');
  assert.equal(fixture.store.transactions, before + 1);
  assert.deepEqual(fixture.store.settled, ['drain 7']);
  assert.deepEqual(votesOf(fixture), [['node', 'sink:drain', false, true]]);
  await fixture.time.advance(0);
  assert.deepEqual(fixture.store.told, ['approval.recorded node', 'approval.submitted node']);
  assert.equal(fixture.posts.length, 1);
});

for (const [what, settlement] of [
  ['failed', { seq: 7, result: 'failed', status: 503 }],
  ['was given up', { seq: 7, result: 'dead', reason: 'refused', status: 400 }],
  ['was accepted and approves nothing', { seq: 7, result: 'accepted' }],
  ['was accepted and names a CloudEvent that is no longer kept', { seq: 7, result: 'accepted', approves: 'other' }],
] as const satisfies readonly (readonly [string, Settlement])[]) {
  test(`a delivery that ${what} is settled, and approves nothing`, async (t) => {
    const { fixture, approvals } = opened(t);
    // As the journal on disk: it takes a text only.
    fixture.store.journal.seen = (id) => {
      assert.equal(typeof id, 'string');
      return null;
    };
    approvals.settle(DRAIN, [settlement], 0);
    await settle();
    assert.deepEqual(fixture.store.settled, ['drain 7']);
    assert.equal(approvals.summary(KEY), null);
    assert.deepEqual([fixture.store.told, fixture.told, fixture.posts], [[], [], []]);
  });
}

test('a second accepted delivery fails nothing once the event has started, though the sink lost its approver', async (t) => {
  const { fixture, approvals } = opened(t);
  prepared(approvals, 'first');
  await settle();
  change(fixture, STARTED);
  fixture.revoked.add('sink:drain node');
  const published = [...fixture.store.told];
  prepared(approvals, 'first');
  await settle();
  assert.deepEqual(fixture.store.settled, ['drain 7', 'drain 7']);
  assert.deepEqual(fixture.store.told, published);
  assert.ok(!fixture.told.includes('denied'));
});

for (const [what, settings, revoked] of [
  ['is not one of those required', { ...SETTINGS, required: ['orders'] }, []],
  ['was taken from the sink', SETTINGS, ['sink:drain node']],
] as const satisfies readonly (readonly [string, ApprovalSettings, readonly string[]])[]) {
  test(`a vote of an approver that ${what} is refused, published and logged; its delivery is settled`, async (t) => {
    const { fixture, approvals } = opened(t, settings);
    for (const each of revoked) fixture.revoked.add(each);
    prepared(approvals, 'first');
    await settle();
    assert.deepEqual(fixture.store.settled, ['drain 7']);
    assert.deepEqual(votesOf(fixture), []);
    assert.deepEqual(fixture.store.told, ['approval.failed forbidden node']);
    assert.equal(fixture.store.published[0]?.eventId, EVENT_ID);
    assert.deepEqual(fixture.told, ['denied']);
    const line = JSON.parse(fixture.log.find((each) => each.includes('an approval was refused')) ?? '{}');
    assert.deepEqual([line.approver, line.eventId, line.type, line.sink], ['node', EVENT_ID, 'forbidden', 'drain']);
    assert.equal(fixture.posts.length, 0);
  });
}

test('of several votes in one batch, the refused one keeps no other back', async (t) => {
  const approvers = { orders: {}, node: { scope: { impacts: ['Freeze'] } } } as const;
  const { fixture, approvals } = opened(t, { ...SETTINGS, approvers });
  fixture.list('B', { eventType: 'Reboot' });
  fixture.poll();
  saw(fixture, 'of B', 'B');
  prepared(approvals, 'of B', 'first');
  await settle();
  assert.deepEqual(fixture.store.settled, ['drain 7', 'drain 8']);
  assert.deepEqual(fixture.store.told.slice(0, 2).toSorted(), ['approval.failed scope node', 'approval.recorded node']);
  assert.deepEqual([votesOf(fixture).length, votesOf(fixture, 2, 'b').length], [1, 0]);
});

test('a vote that is refused again gets a CloudEvent with another id', (t) => {
  const { fixture, approvals } = opened(t, { ...SETTINGS, required: ['orders'] });
  prepared(approvals, 'first');
  prepared(approvals, 'first');
  const [first, second] = fixture.store.published;
  assert.equal(second?.id, `${first?.id}:r2`);
});

test('a vote about an event that got worse since is refused', async (t) => {
  const { fixture, approvals } = opened(t);
  change(fixture, { eventType: 'Reboot' });
  prepared(approvals, 'first');
  assert.deepEqual(votesOf(fixture), []);
  assert.deepEqual(fixture.store.told, ['approval.failed changed node']);
});

test('a vote for an event that has started is refused, and one that repeats its earlier vote changes nothing', async (t) => {
  const late = opened(t);
  change(late.fixture, STARTED);
  prepared(late.approvals, 'first');
  assert.deepEqual(late.fixture.store.told, ['approval.failed started node']);

  const { fixture, approvals } = opened(t);
  prepared(approvals, 'first');
  await settle();
  change(fixture, STARTED);
  const told = [...fixture.store.told];
  prepared(approvals, 'first');
  assert.deepEqual(fixture.store.told, told);
  assert.equal(approvals.summary(KEY)?.state, 'confirmed');
  assert.deepEqual(fixture.store.settled, ['drain 7', 'drain 7']);
});

test('an outcome that cannot be stored is thrown, and nothing of it counts', (t) => {
  const { fixture, approvals } = opened(t);
  fixture.store.fault = new Error('the disk is full');
  assert.throws(() => prepared(approvals, 'first'), /the disk is full/);
  assert.equal(approvals.summary(KEY), null);
  assert.deepEqual(fixture.told, []);
});

test('a sink that is ready releases its own hold and no other', async (t) => {
  const { fixture, approvals } = await heldAgain(t);
  assert.equal(said(approvals.hold(caller('billing'), { EventId: EVENT_ID })), '201 held');
  prepared(approvals, 'second');
  assert.equal(holders(approvals), 'billing: null');
  assert.deepEqual(votesOf(fixture), [['node', 'sink:drain', false, true]]);
  assert.equal(await fixture.postsAfter(60_000), 1);
  approvals.release(caller('billing'), EVENT_ID, null);
  assert.equal(await fixture.postsAfter(1000), 2);
  assert.equal(approvals.summary(KEY)?.state, 'submitted');
});

for (const [what, holdingSinks, left] of [
  ['keeps the sink', new Map([['drain', 'node']]), 'node: sink drain prepares'],
  ['removes the sink', new Map(), ''],
  ['gives the sink another approver', new Map([['drain', 'billing']]), ''],
  [
    'adds another sink of its approver',
    new Map([
      ['drain', 'node'],
      ['other', 'node'],
    ]),
    'node: sink drain prepares',
  ],
] as const) {
  test(`a reload that ${what} leaves ${left === '' ? 'no hold of it' : 'its hold'}, and those of approvers`, async (t) => {
    const { approvals } = await heldAgain(t);
    approvals.hold(caller('billing'), { EventId: EVENT_ID });
    approvals.reload({ ...RULES, ...SETTINGS, holdingSinks });
    assert.equal(holders(approvals), [left, 'billing: null'].filter(Boolean).join(', '));
  });
}

const WAITING: EventApproval = {
  ...{ key: 'a', occurrence: 1, state: 'waiting', votes: [], holds: [], decision: null },
  ...{ policy: null, isDryRun: false, at: momentAt(0) },
};
const VOTE = { approver: 'node', via: 'sink:drain', isShared: false, at: momentAt(0), hasSeen: true };
const VOTED: EventApproval = { ...WAITING, votes: [{ ...VOTE, event: scheduledEvent() }] };
const SINK_HOLD: ApprovalHold = {
  ...{ approver: 'node', via: 'sink:drain', isShared: false, reason: 'sink drain prepares', at: momentAt(5) },
  ...{ sentMs: null, replaced: null },
};

interface Facts {
  readonly before?: EventApproval | null;
  readonly after?: EventApproval | null;
  readonly preparing?: readonly string[];
  readonly wasSent?: boolean;
  readonly actsOn?: boolean | null;
  readonly fields?: Partial<ScheduledEvent>;
}

function holdsOf({ before = null, after = before, preparing = [], wasSent = true, actsOn = true, fields = {} }: Facts) {
  const rules = new RulesInForce({ ...RULES, ...SETTINGS, required: 'all' } as ConstructorParameters<
    typeof RulesInForce
  >[0]);
  const event = scheduledEvent(fields);
  const governedEvent = {
    known: { key: 'a', occurrence: 1, event },
    governed: govern(rules, event, momentAt(0), null),
  };
  const facts = {
    ...{ holdingSinks: new Map([['drain', 'node']]), preparing, wasSent: () => wasSent },
    // Only of this sink: others act on every event.
    actsOn: (sink: string) => (sink === 'drain' ? actsOn : true),
  };
  const held = withSinkHolds(rules, { before, after }, governedEvent, facts, momentAt(5));
  return held?.holds ?? [];
}

for (const [what, holds, facts] of [
  ['that it receives from now on', [SINK_HOLD], { preparing: ['drain'] }],
  ['that another sink receives', [], { preparing: ['other'] }],
  ['whose vote became void after it prepared', [SINK_HOLD], { before: VOTED, after: WAITING }],
  ['whose vote became void with all others', [SINK_HOLD], { before: VOTED, after: null }],
  [
    'whose vote was part of a dry run that is over',
    [SINK_HOLD],
    { before: VOTED, after: { ...VOTED, isDryRun: true } },
  ],
  ['whose vote still counts', [], { before: VOTED }],
  ['whose vote became void, and which it was never sent', [], { before: VOTED, after: WAITING, wasSent: false }],
  ['whose vote became void, and on which it may not act', [], { before: VOTED, after: WAITING, actsOn: false }],
  [
    'whose vote became void, if nobody can say yet that it acts on it',
    [],
    { before: VOTED, after: WAITING, actsOn: null },
  ],
  [
    'that the service has accepted',
    [],
    { before: VOTED, after: { ...WAITING, state: 'submitted' }, preparing: ['drain'] },
  ],
  ['that is only advice', [], { preparing: ['drain'], fields: { eventType: 'SpotRebalanceRecommendation' } }],
  ['that it holds already', [SINK_HOLD], { before: { ...WAITING, state: 'held', holds: [SINK_HOLD] } }],
  [
    'that it holds, if nobody can say yet that it acts on it',
    [SINK_HOLD],
    { before: { ...WAITING, state: 'held', holds: [SINK_HOLD] }, actsOn: null },
  ],
  [
    'that it holds and on which it no longer acts',
    [],
    { before: { ...WAITING, state: 'held', holds: [SINK_HOLD] }, actsOn: false },
  ],
] as const satisfies readonly (readonly [string, readonly ApprovalHold[], Facts])[]) {
  test(`a sink that prepares ${holds.length > 0 ? 'holds' : 'does not hold'} an event ${what}`, () => {
    assert.deepEqual(holdsOf(facts), holds);
  });
}
