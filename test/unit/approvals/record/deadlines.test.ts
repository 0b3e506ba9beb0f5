// Rules with a deadline, over restarts, blindness, set clocks → when the bridge itself approves.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import type { RulesOptions } from '../../../../src/approvals/rules/rules-in-force.ts';
import { FIRST_PART } from '../../../../src/approvals/views/queries.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ACCEPTED,
  type ApprovalSettings,
  ApprovalsFixture,
  again,
  caller,
  change,
  KEY,
  REFUSED,
  STARTED,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const MINUTE_MS = 60_000;

/** So many minutes after the fixture began. */
function inMinutes(minutes: number): string {
  return new Date(Date.UTC(2026, 0, 1) + minutes * MINUTE_MS).toISOString();
}

/** Two minutes before NotBefore, which is in minute 15 unless an event says otherwise. */
function byThen(then: 'approve' | 'leave', more: Partial<PolicyRule> = {}): ApprovalSettings {
  return {
    policy: [{ when: {}, then: 'wait', deadline: { beforeMs: 2 * MINUTE_MS, then }, ...more }],
    required: 'all',
  };
}

const APPROVE = byThen('approve');
const DUE_MS = 13 * MINUTE_MS;

/** Approvals over one event whose NotBefore is in minute 15. */
function opened(t: TestContext, settings = APPROVE, notBefore: string | null = inMinutes(15)) {
  const fixture = new ApprovalsFixture();
  const approvals = fixture.open(settings);
  t.after(() => fixture.close(approvals));
  fixture.list(EVENT_ID, { notBefore });
  fixture.poll();
  return { fixture, approvals };
}

/** kill -9 and a start; the process has read a document where it says so. */
function restart(t: TestContext, fixture: ApprovalsFixture, hasRead = true, settings = APPROVE): Approvals {
  const approvals = fixture.open(settings);
  t.after(() => fixture.close(approvals));
  fixture.forgetReading();
  if (hasRead) fixture.poll();
  return approvals;
}

function postedAt(fixture: ApprovalsFixture): readonly number[] {
  return fixture.posts.map(({ atMs }) => atMs / MINUTE_MS);
}

function steps(approvals: Approvals): string {
  const life = approvals.life(EVENT_ID);
  return 'steps' in life ? life.steps.map(({ step }) => step).join(' ') : life.type;
}

test('a deadline approves exactly its time before NotBefore, without any vote', async (t) => {
  const { fixture, approvals } = opened(t);
  await fixture.time.advance(DUE_MS - 1);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  assert.equal(fixture.posts.length, 0);
  await fixture.time.advance(1);
  assert.deepEqual(postedAt(fixture), [13]);
  assert.equal(fixture.posts[0]?.documentAgeMs, 0, 'on a document that was read for it');
  assert.deepEqual(fixture.store.told, ['approval.submitted']);
  assert.equal(fixture.store.published[0]?.policy, 'policy[0]');
  const life = approvals.life(EVENT_ID);
  assert.ok('steps' in life);
  assert.equal(life.decidedBy, 'deadline');
  assert.deepEqual(
    life.steps.map(({ step, policy, reason }) => [step, policy, reason]),
    [
      ['decided', 'policy[0]', 'deadline'],
      ['submitted', 'policy[0]', null],
    ],
  );
});

test('a deadline that leaves the event to Azure posts nothing; the record says so, and approvers may still approve', async (t) => {
  const { fixture, approvals } = opened(t, { ...byThen('leave'), required: 'any' });
  await fixture.time.advance(DUE_MS);
  assert.deepEqual(fixture.told, ['left']);
  await fixture.time.advance(60 * MINUTE_MS);
  fixture.poll();
  await settle();
  assert.equal(fixture.posts.length, 0);
  assert.deepEqual(fixture.told, ['left'], 'once');
  await approvals.request(caller('orders'), startRequests(EVENT_ID));
  assert.equal(fixture.posts.length, 1);
});

test('a yes that does not fill the quorum is among those that approved when the deadline decides', async (t) => {
  const { fixture, approvals } = opened(t);
  await approvals.request(caller('orders'), startRequests(EVENT_ID));
  await fixture.time.advance(DUE_MS);
  assert.equal(fixture.posts.length, 1);
  assert.deepEqual(approvals.summary(KEY)?.approvedBy, ['orders']);
  assert.equal(fixture.store.published.at(-1)?.approver, null, 'the deadline decided');
});

test('if the quorum was full before, the deadline neither decides nor leaves', async (t) => {
  for (const [isHeld, answers] of [
    [false, []],
    [false, [again(30 * MINUTE_MS)]],
    [true, []],
  ] as const) {
    const { fixture, approvals } = opened(t, { ...APPROVE, required: 'any' });
    fixture.answers = [...answers];
    if (isHeld) approvals.hold(caller('billing'), { EventId: EVENT_ID });
    await approvals.request(caller('orders'), startRequests(EVENT_ID));
    const before = steps(approvals);
    await fixture.time.advance(DUE_MS);
    assert.equal(fixture.posts.length, isHeld ? 0 : 1);
    assert.equal(approvals.approvalOf(KEY, 1)?.decision?.by, 'quorum');
    assert.equal(steps(approvals), before);
    assert.ok(!fixture.told.includes('left'));
  }
});

test('a deadline leaves a refused approval, because an approver decided it', async (t) => {
  const { fixture, approvals } = opened(t, { ...APPROVE, required: 'any' });
  fixture.answers = [REFUSED];
  await approvals.request(caller('orders'), startRequests(EVENT_ID));
  await fixture.time.advance(DUE_MS);
  assert.equal(fixture.posts.length, 1);
  assert.equal(fixture.told.at(-1), 'left');
});

test('NotBefore moved moves the deadline, later and earlier', async (t) => {
  for (const [minutes, due] of [
    [30, 28],
    [10, 8],
  ] as const) {
    const { fixture } = opened(t);
    await fixture.time.advance(5 * MINUTE_MS);
    change(fixture, { notBefore: inMinutes(minutes) });
    await fixture.time.advance(60 * MINUTE_MS);
    assert.deepEqual(postedAt(fixture), [due]);
  }
});

test('a change that does not move it leaves it as it is', async (t) => {
  const { fixture } = opened(t);
  change(fixture, { description: 'changed', durationInSeconds: 99 });
  await fixture.time.advance(DUE_MS);
  assert.deepEqual(postedAt(fixture), [13]);
});

test('a deadline that lay behind in the document that set it leaves', async (t) => {
  for (const minutes of [2, 1, -5]) {
    const { fixture, approvals } = opened(t, APPROVE, inMinutes(minutes));
    await fixture.time.advance(60 * MINUTE_MS);
    fixture.poll();
    change(fixture, { description: 'changed' });
    restart(t, fixture);
    await fixture.time.advance(MINUTE_MS);
    assert.equal(fixture.posts.length, 0, String(minutes));
    assert.equal(approvals.summary(KEY)?.state, 'waiting');
  }
});

test('a deadline that lay behind in the document that moved it leaves', async (t) => {
  const { fixture } = opened(t);
  await fixture.time.advance(5 * MINUTE_MS);
  change(fixture, { notBefore: inMinutes(7) });
  await fixture.time.advance(60 * MINUTE_MS);
  assert.equal(fixture.posts.length, 0);
});

test('an event without NotBefore has no deadline, and one that gets NotBefore gets it', async (t) => {
  const { fixture, approvals } = opened(t, APPROVE, null);
  await fixture.time.advance(60 * MINUTE_MS);
  assert.equal(fixture.posts.length, 0);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  change(fixture, { notBefore: inMinutes(80) });
  await fixture.time.advance(60 * MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [78]);
});

test('a deadline that left counts again if NotBefore moves', async (t) => {
  const { fixture } = opened(t);
  fixture.isBlind = true;
  await fixture.time.advance(DUE_MS);
  fixture.isBlind = false;
  change(fixture, { notBefore: inMinutes(30) });
  await fixture.time.advance(60 * MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [28]);
});

test('a deadline that decided and is not submitted yet decides again if NotBefore moves', async (t) => {
  const { fixture, approvals } = opened(t);
  fixture.answers = [again(MINUTE_MS)];
  await fixture.time.advance(DUE_MS);
  assert.equal(approvals.summary(KEY)?.state, 'submitting');
  change(fixture, { notBefore: inMinutes(30) });
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  await fixture.time.advance(60 * MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [13, 28]);
  assert.equal(steps(approvals), 'decided answered dropped decided submitted');
});

test('the decision of a deadline survives a change that does not move it, and is posted once', async (t) => {
  const { fixture, approvals } = opened(t);
  fixture.answers = [again(MINUTE_MS)];
  await fixture.time.advance(DUE_MS);
  change(fixture, { description: 'changed' });
  await fixture.time.advance(60 * MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [13, 14]);
  assert.equal(steps(approvals), 'decided answered submitted');
});

test('another rule removes the deadline of the first, and its decision', async (t) => {
  const rules: readonly PolicyRule[] = [
    { when: { impacts: ['Reboot'] }, then: 'wait' },
    { when: {}, then: 'wait', deadline: { beforeMs: 2 * MINUTE_MS, then: 'approve' } },
  ];
  for (const minutes of [5, 14]) {
    const { fixture, approvals } = opened(t, { policy: rules });
    fixture.answers = [again(10 * MINUTE_MS)];
    await fixture.time.advance(minutes * MINUTE_MS);
    change(fixture, { eventType: 'Reboot' });
    await fixture.time.advance(60 * MINUTE_MS);
    assert.equal(approvals.summary(KEY)?.state, 'waiting');
    assert.equal(fixture.posts.length, minutes === 14 ? 1 : 0);
  }
});

test('a deadline that passed while no process ran leaves', async (t) => {
  const { fixture } = opened(t);
  await fixture.time.advance(12 * MINUTE_MS);
  // The process is killed here: its timers do not count.
  fixture.time.jumpWall(2 * MINUTE_MS);
  const after = restart(t, fixture);
  await fixture.time.advance(60 * MINUTE_MS);
  assert.equal(fixture.posts.length, 0);
  assert.equal(after.summary(KEY)?.state, 'waiting');
});

test('a restart before the deadline does not matter', async (t) => {
  const { fixture, approvals } = opened(t);
  await fixture.close(approvals);
  restart(t, fixture);
  await fixture.time.advance(DUE_MS);
  assert.deepEqual(postedAt(fixture), [13]);
});

test('a deadline decided then is stored then: later restarts do not matter, nor that NotBefore passes', async (t) => {
  const { fixture, approvals } = opened(t);
  fixture.answers = [again(60 * MINUTE_MS)];
  await fixture.time.advance(DUE_MS);
  assert.equal(fixture.store.stored(KEY, 1)?.decision?.by, 'deadline');
  await fixture.close(approvals);
  fixture.isAway = true;
  const first = restart(t, fixture, false);
  await fixture.time.advance(10 * MINUTE_MS);
  assert.equal(first.summary(KEY)?.state, 'submitting');
  restart(t, fixture);
  fixture.isAway = false;
  await fixture.time.advance(MINUTE_MS);
  assert.equal(fixture.posts.length, 2);
});

test('a deadline that falls due while blind leaves, also once sight is back', async (t) => {
  const { fixture } = opened(t);
  fixture.isBlind = true;
  await fixture.time.advance(DUE_MS);
  assert.deepEqual(
    fixture.store.approvals.record(1, FIRST_PART).steps.map(({ step, policy, reason }) => [step, policy, reason]),
    [['left', 'policy[0]', 'deadline']],
  );
  fixture.isBlind = false;
  fixture.poll();
  change(fixture, { description: 'changed' });
  await fixture.time.advance(60 * MINUTE_MS);
  assert.equal(fixture.posts.length, 0);
});

test('a deadline that falls due before this process has read a document leaves', async (t) => {
  const { fixture, approvals } = opened(t);
  await fixture.close(approvals);
  const after = restart(t, fixture, false);
  await fixture.time.advance(DUE_MS);
  fixture.poll();
  await fixture.time.advance(MINUTE_MS);
  assert.equal(fixture.posts.length, 0);
  assert.equal(after.summary(KEY)?.state, 'waiting');
});

test('a hold stops the approval of a deadline, which is decided and stored all the same, whatever restarts follow', async (t) => {
  const { fixture, approvals } = opened(t);
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await fixture.time.advance(DUE_MS);
  assert.equal(fixture.store.stored(KEY, 1)?.decision?.by, 'deadline');
  assert.equal(fixture.store.stored(KEY, 1)?.state, 'held');
  await fixture.close(approvals);
  const after = restart(t, fixture);
  await fixture.time.advance(MINUTE_MS);
  assert.equal(fixture.posts.length, 0);
  assert.equal(after.release(caller('orders'), EVENT_ID, null).kind, 'released');
  await fixture.time.advance(1000);
  assert.equal(fixture.posts.length, 1);
});

test('a deadline that passed under a hold while no process ran leaves: the release posts nothing', async (t) => {
  const { fixture, approvals } = opened(t);
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await fixture.close(approvals);
  await fixture.time.advance(DUE_MS);
  const after = restart(t, fixture);
  after.release(caller('orders'), EVENT_ID, null);
  await fixture.time.advance(MINUTE_MS);
  assert.equal(fixture.posts.length, 0);
});

test('a wall clock set forward over the deadline: decided by the next document', async (t) => {
  const { fixture } = opened(t);
  await fixture.time.advance(5 * MINUTE_MS);
  fixture.time.jumpWall(9 * MINUTE_MS);
  await fixture.time.advance(1000);
  assert.equal(fixture.posts.length, 0);
  fixture.poll();
  await settle();
  assert.equal(fixture.posts.length, 1);
});

test('a wall clock set forward over NotBefore leaves', async (t) => {
  const { fixture, approvals } = opened(t);
  fixture.time.jumpWall(15 * MINUTE_MS);
  fixture.poll();
  await fixture.time.advance(60 * MINUTE_MS);
  assert.equal(fixture.posts.length, 0);
  assert.deepEqual(fixture.told, ['left']);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
});

test('a wall clock set back makes the deadline wait for it', async (t) => {
  const { fixture } = opened(t);
  await fixture.time.advance(12 * MINUTE_MS);
  fixture.time.jumpWall(-5 * MINUTE_MS);
  await fixture.time.advance(6 * MINUTE_MS - 1);
  fixture.poll();
  assert.equal(fixture.posts.length, 0);
  await fixture.time.advance(1);
  assert.deepEqual(postedAt(fixture), [18]);
});

test('a deadline of weeks falls due to the moment', async (t) => {
  const days = 24 * 60;
  const { fixture } = opened(t, APPROVE, inMinutes(40 * days));
  await fixture.time.advance((40 * days - 2) * MINUTE_MS - 1);
  assert.equal(fixture.posts.length, 0);
  await fixture.time.advance(1);
  assert.equal(fixture.posts.length, 1);
});

test('a store that fails when a deadline falls due: the next document decides it, if NotBefore lies ahead then', async (t) => {
  for (const [minutes, told] of [
    [14, 'decided submitted'],
    [16, 'left'],
  ] as const) {
    const { fixture } = opened(t);
    fixture.store.fault = new Error('the disk is full');
    await fixture.time.advance(minutes * MINUTE_MS);
    assert.equal(fixture.posts.length, 0);
    assert.deepEqual(fixture.told, []);
    assert.ok(fixture.log.some((line) => line.includes('a deadline expired and could not be stored')));
    fixture.store.fault = null;
    fixture.poll();
    await fixture.time.advance(60 * MINUTE_MS);
    fixture.poll();
    assert.equal(fixture.told.join(' '), told);
  }
});

test('after a store failure, a document that changes the event without moving the deadline also decides it', async (t) => {
  const { fixture } = opened(t);
  fixture.store.fault = new Error('the disk is full');
  await fixture.time.advance(DUE_MS);
  fixture.store.fault = null;
  change(fixture, { description: 'changed' });
  await settle();
  assert.deepEqual(postedAt(fixture), [13]);
});

test('a decision under a hold is dropped if another rule governs, even with the same deadline', async (t) => {
  const deadline = { beforeMs: 2 * MINUTE_MS, then: 'approve' } as const;
  const { fixture, approvals } = opened(t, {
    policy: [
      { when: { impacts: ['Reboot'] }, then: 'wait', deadline },
      { when: {}, then: 'wait', deadline },
    ],
  });
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await fixture.time.advance(DUE_MS);
  change(fixture, { eventType: 'Reboot' });
  approvals.release(caller('orders'), EVENT_ID, null);
  await fixture.time.advance(MINUTE_MS);
  assert.equal(fixture.posts.length, 0);
});

const DEADLINE_RULE: PolicyRule = {
  when: { impacts: ['Freeze', 'Reboot'] },
  then: 'wait',
  deadline: { beforeMs: 2 * MINUTE_MS, then: 'approve' },
};
/** The same rule, one place further down, and its lists in another order. */
const MOVED: readonly PolicyRule[] = [
  { when: { impacts: ['Terminate'] }, then: 'never' },
  { ...DEADLINE_RULE, when: { impacts: ['Reboot', 'Freeze'] } },
];
/** Asks for more than the rule did, with the same deadline. */
const CHANGED: readonly PolicyRule[] = [{ ...DEADLINE_RULE, required: 2 }];

/** What each makes of approvals whose policy is this from now on. */
const BRING = {
  'a reload': (
    _: TestContext,
    __: ApprovalsFixture,
    approvals: Approvals,
    policy: readonly PolicyRule[],
  ): Approvals => {
    approvals.reload(rulesWith(policy));
    return approvals;
  },
  'a restart': (t: TestContext, fixture: ApprovalsFixture, _: Approvals, policy: readonly PolicyRule[]): Approvals =>
    restart(t, fixture, true, { policy, required: 'all' }),
} as const;

function rulesWith(policy: readonly PolicyRule[]): RulesOptions {
  const group = { submit: 'every', failoverAfterMs: 10_000, members: [] } as const;
  return { approvers: { orders: {}, billing: {} }, required: 'all', policy, group, dryRun: false };
}

for (const [what, bring] of Object.entries(BRING)) {
  test(`what a deadline decided belongs to its rule and not to its number: ${what} puts another rule before it, and it stands`, async (t) => {
    const { fixture, approvals } = opened(t, { policy: [DEADLINE_RULE], required: 'all' });
    approvals.hold(caller('orders'), { EventId: EVENT_ID });
    await fixture.time.advance(DUE_MS);
    const moved = bring(t, fixture, approvals, MOVED);
    assert.equal(steps(moved), 'held decided');
    assert.equal(moved.summary(KEY)?.policy, 'policy[1]', 'shown by the number that it has now');
    moved.release(caller('orders'), EVENT_ID, null);
    await settle();
    assert.deepEqual(postedAt(fixture), [13]);
    assert.equal(fixture.store.published.at(-1)?.policy, 'policy[1]');
  });

  test(`the same without a hold, while the service answers 503: ${what} posts it on`, async (t) => {
    const { fixture, approvals } = opened(t, { policy: [DEADLINE_RULE], required: 'all' });
    fixture.answerTo = () => again(1000);
    await fixture.time.advance(DUE_MS + 5000);
    fixture.answerTo = () => ACCEPTED;
    const moved = bring(t, fixture, approvals, MOVED);
    await fixture.time.advance(5000);
    assert.equal(moved.summary(KEY)?.state, 'submitted');
  });

  test(`a rule that ${what} changes is another rule, though its number and its deadline are the same`, async (t) => {
    const { fixture, approvals } = opened(t, { policy: [DEADLINE_RULE], required: 'all' });
    approvals.hold(caller('orders'), { EventId: EVENT_ID });
    await fixture.time.advance(DUE_MS);
    const changed = bring(t, fixture, approvals, CHANGED);
    assert.equal(steps(changed), 'held decided dropped');
    changed.release(caller('orders'), EVENT_ID, null);
    await fixture.time.advance(MINUTE_MS);
    assert.equal(fixture.posts.length, 0);
  });
}

test('a deadline that still lies ahead, and one that has left, stay as they are through a change of their number', async (t) => {
  const { fixture, approvals } = opened(t, { policy: [DEADLINE_RULE], required: 'all' });
  approvals.reload(rulesWith(MOVED));
  await fixture.time.advance(DUE_MS);
  assert.deepEqual(postedAt(fixture), [13]);
  const other = opened(t, { policy: [DEADLINE_RULE], required: 'all' });
  other.fixture.isBlind = true;
  await other.fixture.time.advance(DUE_MS);
  other.fixture.isBlind = false;
  other.approvals.reload(rulesWith(MOVED));
  await other.fixture.time.advance(MINUTE_MS);
  assert.equal(other.fixture.posts.length, 0);
});

test('a deadline that leaves says so under a hold too, and where what was approved came to nothing', async (t) => {
  const { fixture, approvals } = opened(t, byThen('leave'));
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await fixture.time.advance(DUE_MS);
  assert.equal(steps(approvals), 'held left');
  const other = opened(t, { ...byThen('leave'), required: 'any' });
  other.fixture.isAway = true;
  await other.fixture.time.advance(11_000);
  void other.approvals.request(caller('orders'), startRequests(EVENT_ID));
  other.fixture.isAway = false;
  change(other.fixture, STARTED);
  change(other.fixture, { eventStatus: 'Scheduled', notBefore: inMinutes(15) });
  await other.fixture.time.advance(DUE_MS);
  assert.equal(steps(other.approvals), 'recorded decided moot left');
  assert.equal(other.fixture.posts.length, 0);
});

test('a rule that matches some of the names only leaves: an approval would reach them all', async (t) => {
  const web = { when: { resources: ['web_*'] } };
  for (const [resources, posts] of [
    [['web_0', 'WEB_1'], 1],
    [['web_0', 'db_0'], 0],
  ] as const) {
    const { fixture } = opened(t, byThen('approve', web), null);
    change(fixture, { resources, notBefore: inMinutes(15) });
    await fixture.time.advance(60 * MINUTE_MS);
    assert.equal(fixture.posts.length, posts);
    assert.equal(fixture.told[0], posts === 1 ? 'decided' : 'left');
  }
});

test('a name that comes into Resources, and which the rule does not match, takes away what the deadline decided under a hold', async (t) => {
  const { fixture, approvals } = opened(t, byThen('approve', { when: { resources: ['WestNO_*'] } }));
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await fixture.time.advance(DUE_MS);
  change(fixture, { resources: ['WestNO_0', 'EastNO_0'] });
  change(fixture, { resources: ['WestNO_0'] });
  approvals.release(caller('orders'), EVENT_ID, null);
  await fixture.time.advance(MINUTE_MS);
  assert.equal(fixture.posts.length, 0, 'it fell due once, and will not again');
});

test('each event has its own deadline', async (t) => {
  const { fixture } = opened(t);
  fixture.list('later', { notBefore: inMinutes(20) });
  fixture.list('sooner', { notBefore: inMinutes(10) });
  fixture.list('gone', { notBefore: inMinutes(12) });
  fixture.list('begun', { notBefore: inMinutes(12) });
  fixture.poll();
  await fixture.time.advance(9 * MINUTE_MS);
  fixture.end('gone');
  fixture.list('begun', STARTED);
  fixture.poll();
  await fixture.time.advance(60 * MINUTE_MS);
  assert.deepEqual(
    fixture.posts.map(({ eventIds: [id], atMs }) => [id, atMs / MINUTE_MS]),
    [
      ['sooner', 8],
      [EVENT_ID, 13],
      ['later', 18],
    ],
  );
});

test('an event that Azure started and took back has the deadline that lies ahead', async (t) => {
  const { fixture } = opened(t);
  change(fixture, STARTED);
  change(fixture, { eventStatus: 'Scheduled', notBefore: inMinutes(15) });
  await fixture.time.advance(60 * MINUTE_MS);
  assert.deepEqual(postedAt(fixture), [13]);
});

test('a deadline in a dry run decides and posts nothing, in that run or in a later one', async (t) => {
  const { fixture, approvals } = opened(t, { ...APPROVE, dryRun: true });
  await fixture.time.advance(DUE_MS);
  assert.equal(approvals.summary(KEY)?.state, 'dry-run');
  const real = restart(t, fixture);
  change(fixture, { notBefore: inMinutes(40) });
  await fixture.time.advance(60 * MINUTE_MS);
  assert.equal(fixture.posts.length, 0);
  assert.deepEqual(fixture.store.told, []);
  for (const name of ['orders', 'billing']) await real.request(caller(name), startRequests(EVENT_ID));
  assert.equal(fixture.posts.length, 1);
});

test('closing leaves no timer behind', async (t) => {
  const { fixture, approvals } = opened(t);
  assert.equal(fixture.time.pending, 1);
  await fixture.close(approvals);
  assert.equal(fixture.time.pending, 0);
});

test('the life of an event names its deadline while it is Scheduled, moved or not', async (t) => {
  const { fixture, approvals } = opened(t);
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  const deadline = () => (approvals.life(EVENT_ID) as { deadline: unknown }).deadline;
  assert.deepEqual(deadline(), { at: '2026-01-01T00:13:00.000Z', then: 'approve' });
  change(fixture, { notBefore: inMinutes(30) });
  assert.deepEqual(deadline(), { at: '2026-01-01T00:28:00.000Z', then: 'approve' });
  change(fixture, STARTED);
  assert.equal(deadline(), null);
});
