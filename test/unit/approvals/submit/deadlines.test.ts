// Rules that wait with a deadline, over time, moved events, restarts, blindness and clocks that are set → when the bridge approves by itself.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import { FIRST_PART } from '../../../../src/approvals/views/queries.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ApprovalBench,
  type ApprovalSettings,
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

/** So many minutes after the bench began. */
function inMinutes(minutes: number): string {
  return new Date(Date.UTC(2026, 0, 1) + minutes * MINUTE_MS).toISOString();
}

/** Two minutes before NotBefore, which is in minute 15 unless an event says otherwise. */
function byThen(then: 'approve' | 'leave', more: Partial<PolicyRule> = {}): ApprovalSettings {
  return { policy: [{ when: {}, then: 'wait', deadline: { beforeMs: 2 * MINUTE_MS, then }, ...more }], required: 'all' };
}

const APPROVE = byThen('approve');
const DUE_MS = 13 * MINUTE_MS;

/** Approvals over one event whose NotBefore is in minute 15. */
function opened(t: TestContext, settings = APPROVE, notBefore: string | null = inMinutes(15)) {
  const bench = new ApprovalBench();
  const approvals = bench.open(settings);
  t.after(() => bench.close(approvals));
  bench.list(EVENT_ID, { notBefore });
  bench.poll();
  return { bench, approvals };
}

/** kill -9 and a start; the process has read a document where it says so. */
function restart(t: TestContext, bench: ApprovalBench, hasRead = true, settings = APPROVE): Approvals {
  const approvals = bench.open(settings);
  t.after(() => bench.close(approvals));
  bench.forgetReading();
  if (hasRead) bench.poll();
  return approvals;
}

function postedAt(bench: ApprovalBench): readonly number[] {
  return bench.posts.map(({ atMs }) => atMs / MINUTE_MS);
}

function steps(approvals: Approvals): string {
  const life = approvals.life(EVENT_ID);
  return 'steps' in life ? life.steps.map(({ step }) => step).join(' ') : life.type;
}

test('a deadline approves so long before NotBefore, not a moment earlier, without anybody having said yes', async (t) => {
  const { bench, approvals } = opened(t);
  await bench.time.advance(DUE_MS - 1);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  assert.equal(bench.posts.length, 0);
  await bench.time.advance(1);
  assert.deepEqual(postedAt(bench), [13]);
  assert.equal(bench.posts[0]?.documentAgeMs, 0, 'on a document that was read for it');
  assert.deepEqual(bench.store.told, ['approval.submitted']);
  assert.equal(bench.store.published[0]?.policy, 'policy[0]');
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
  const { bench, approvals } = opened(t, { ...byThen('leave'), required: 'any' });
  await bench.time.advance(DUE_MS);
  assert.deepEqual(bench.told, ['left']);
  await bench.time.advance(60 * MINUTE_MS);
  bench.poll();
  await settle();
  assert.equal(bench.posts.length, 0);
  assert.deepEqual(bench.told, ['left'], 'once');
  await approvals.request(caller('orders'), startRequests(EVENT_ID));
  assert.equal(bench.posts.length, 1);
});

test('a yes that does not fill the quorum is among those that approved when the deadline decides', async (t) => {
  const { bench, approvals } = opened(t);
  await approvals.request(caller('orders'), startRequests(EVENT_ID));
  await bench.time.advance(DUE_MS);
  assert.equal(bench.posts.length, 1);
  assert.deepEqual(approvals.summary(KEY)?.approvedBy, ['orders']);
  assert.equal(bench.store.published.at(-1)?.approver, null, 'the deadline decided');
});

test('where the quorum was full before, the deadline neither decides nor leaves', async (t) => {
  for (const [isHeld, answers] of [
    [false, []],
    [false, [again(30 * MINUTE_MS)]],
    [true, []],
  ] as const) {
    const { bench, approvals } = opened(t, { ...APPROVE, required: 'any' });
    bench.answers = [...answers];
    if (isHeld) approvals.hold(caller('billing'), { EventId: EVENT_ID });
    await approvals.request(caller('orders'), startRequests(EVENT_ID));
    const before = steps(approvals);
    await bench.time.advance(DUE_MS);
    assert.equal(bench.posts.length, isHeld ? 0 : 1);
    assert.equal(approvals.approvalOf(KEY, 1)?.decision?.by, 'quorum');
    assert.equal(steps(approvals), before);
    assert.ok(!bench.told.includes('left'));
  }
});

test('what the metadata service refused is left by the deadline, as an approver decided it', async (t) => {
  const { bench, approvals } = opened(t, { ...APPROVE, required: 'any' });
  bench.answers = [REFUSED];
  await approvals.request(caller('orders'), startRequests(EVENT_ID));
  await bench.time.advance(DUE_MS);
  assert.equal(bench.posts.length, 1);
  assert.equal(bench.told.at(-1), 'left');
});

test('NotBefore moved moves the deadline, later and earlier', async (t) => {
  for (const [minutes, due] of [
    [30, 28],
    [10, 8],
  ] as const) {
    const { bench } = opened(t);
    await bench.time.advance(5 * MINUTE_MS);
    change(bench, { notBefore: inMinutes(minutes) });
    await bench.time.advance(60 * MINUTE_MS);
    assert.deepEqual(postedAt(bench), [due]);
  }
});

test('a change that does not move it leaves it as it is', async (t) => {
  const { bench } = opened(t);
  change(bench, { description: 'changed', durationInSeconds: 99 });
  await bench.time.advance(DUE_MS);
  assert.deepEqual(postedAt(bench), [13]);
});

test('a deadline that lay behind in the document that set it leaves', async (t) => {
  for (const minutes of [2, 1, -5]) {
    const { bench, approvals } = opened(t, APPROVE, inMinutes(minutes));
    await bench.time.advance(60 * MINUTE_MS);
    bench.poll();
    change(bench, { description: 'changed' });
    restart(t, bench);
    await bench.time.advance(MINUTE_MS);
    assert.equal(bench.posts.length, 0, String(minutes));
    assert.equal(approvals.summary(KEY)?.state, 'waiting');
  }
});

test('a deadline that lay behind in the document that moved it leaves', async (t) => {
  const { bench } = opened(t);
  await bench.time.advance(5 * MINUTE_MS);
  change(bench, { notBefore: inMinutes(7) });
  await bench.time.advance(60 * MINUTE_MS);
  assert.equal(bench.posts.length, 0);
});

test('an event without NotBefore has no deadline, and one that gets NotBefore gets it', async (t) => {
  const { bench, approvals } = opened(t, APPROVE, null);
  await bench.time.advance(60 * MINUTE_MS);
  assert.equal(bench.posts.length, 0);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  change(bench, { notBefore: inMinutes(80) });
  await bench.time.advance(60 * MINUTE_MS);
  assert.deepEqual(postedAt(bench), [78]);
});

test('a deadline that left counts anew where NotBefore moves', async (t) => {
  const { bench } = opened(t);
  bench.isBlind = true;
  await bench.time.advance(DUE_MS);
  bench.isBlind = false;
  change(bench, { notBefore: inMinutes(30) });
  await bench.time.advance(60 * MINUTE_MS);
  assert.deepEqual(postedAt(bench), [28]);
});

test('a deadline that decided and is not submitted yet decides anew where NotBefore moves', async (t) => {
  const { bench, approvals } = opened(t);
  bench.answers = [again(MINUTE_MS)];
  await bench.time.advance(DUE_MS);
  assert.equal(approvals.summary(KEY)?.state, 'submitting');
  change(bench, { notBefore: inMinutes(30) });
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  await bench.time.advance(60 * MINUTE_MS);
  assert.deepEqual(postedAt(bench), [13, 28]);
  assert.equal(steps(approvals), 'decided answered dropped decided submitted');
});

test('what a deadline decided holds through a change that does not move it, and is posted once', async (t) => {
  const { bench, approvals } = opened(t);
  bench.answers = [again(MINUTE_MS)];
  await bench.time.advance(DUE_MS);
  change(bench, { description: 'changed' });
  await bench.time.advance(60 * MINUTE_MS);
  assert.deepEqual(postedAt(bench), [13, 14]);
  assert.equal(steps(approvals), 'decided answered submitted');
});

test('another rule takes the deadline of the first away, and what it decided', async (t) => {
  const rules: readonly PolicyRule[] = [
    { when: { impacts: ['Reboot'] }, then: 'wait' },
    { when: {}, then: 'wait', deadline: { beforeMs: 2 * MINUTE_MS, then: 'approve' } },
  ];
  for (const minutes of [5, 14]) {
    const { bench, approvals } = opened(t, { policy: rules });
    bench.answers = [again(10 * MINUTE_MS)];
    await bench.time.advance(minutes * MINUTE_MS);
    change(bench, { eventType: 'Reboot' });
    await bench.time.advance(60 * MINUTE_MS);
    assert.equal(approvals.summary(KEY)?.state, 'waiting');
    assert.equal(bench.posts.length, minutes === 14 ? 1 : 0);
  }
});

test('a deadline that passed while no process ran leaves', async (t) => {
  const { bench } = opened(t);
  await bench.time.advance(12 * MINUTE_MS);
  // The process is killed here: its timers do not count.
  bench.time.jumpWall(2 * MINUTE_MS);
  const after = restart(t, bench);
  await bench.time.advance(60 * MINUTE_MS);
  assert.equal(bench.posts.length, 0);
  assert.equal(after.summary(KEY)?.state, 'waiting');
});

test('a restart before the deadline does not matter', async (t) => {
  const { bench, approvals } = opened(t);
  await bench.close(approvals);
  restart(t, bench);
  await bench.time.advance(DUE_MS);
  assert.deepEqual(postedAt(bench), [13]);
});

test('a deadline decided then is stored then: later restarts do not matter, nor that NotBefore passes', async (t) => {
  const { bench, approvals } = opened(t);
  bench.answers = [again(60 * MINUTE_MS)];
  await bench.time.advance(DUE_MS);
  assert.equal(bench.store.stored(KEY, 1)?.decision?.by, 'deadline');
  await bench.close(approvals);
  bench.isAway = true;
  const first = restart(t, bench, false);
  await bench.time.advance(10 * MINUTE_MS);
  assert.equal(first.summary(KEY)?.state, 'submitting');
  restart(t, bench);
  bench.isAway = false;
  await bench.time.advance(MINUTE_MS);
  assert.equal(bench.posts.length, 2);
});

test('a deadline that falls due while blind leaves, also once sight is back', async (t) => {
  const { bench } = opened(t);
  bench.isBlind = true;
  await bench.time.advance(DUE_MS);
  assert.deepEqual(
    bench.store.approvals.record(1, FIRST_PART).steps.map(({ step, policy, reason }) => [step, policy, reason]),
    [['left', 'policy[0]', 'deadline']],
  );
  bench.isBlind = false;
  bench.poll();
  change(bench, { description: 'changed' });
  await bench.time.advance(60 * MINUTE_MS);
  assert.equal(bench.posts.length, 0);
});

test('a deadline that falls due before this process has read a document leaves', async (t) => {
  const { bench, approvals } = opened(t);
  await bench.close(approvals);
  const after = restart(t, bench, false);
  await bench.time.advance(DUE_MS);
  bench.poll();
  await bench.time.advance(MINUTE_MS);
  assert.equal(bench.posts.length, 0);
  assert.equal(after.summary(KEY)?.state, 'waiting');
});

test('a hold stops the approval of a deadline, which is decided and stored all the same, whatever restarts follow', async (t) => {
  const { bench, approvals } = opened(t);
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await bench.time.advance(DUE_MS);
  assert.equal(bench.store.stored(KEY, 1)?.decision?.by, 'deadline');
  assert.equal(bench.store.stored(KEY, 1)?.state, 'held');
  await bench.close(approvals);
  const after = restart(t, bench);
  await bench.time.advance(MINUTE_MS);
  assert.equal(bench.posts.length, 0);
  assert.equal(after.release(caller('orders'), EVENT_ID, null).kind, 'released');
  await bench.time.advance(1000);
  assert.equal(bench.posts.length, 1);
});

test('a deadline that passed under a hold while no process ran leaves: the release posts nothing', async (t) => {
  const { bench, approvals } = opened(t);
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await bench.close(approvals);
  await bench.time.advance(DUE_MS);
  const after = restart(t, bench);
  after.release(caller('orders'), EVENT_ID, null);
  await bench.time.advance(MINUTE_MS);
  assert.equal(bench.posts.length, 0);
});

test('a wall clock set forward over the deadline: decided by the next document', async (t) => {
  const { bench } = opened(t);
  await bench.time.advance(5 * MINUTE_MS);
  bench.time.jumpWall(9 * MINUTE_MS);
  await bench.time.advance(1000);
  assert.equal(bench.posts.length, 0);
  bench.poll();
  await settle();
  assert.equal(bench.posts.length, 1);
});

test('a wall clock set forward over NotBefore leaves', async (t) => {
  const { bench, approvals } = opened(t);
  bench.time.jumpWall(15 * MINUTE_MS);
  bench.poll();
  await bench.time.advance(60 * MINUTE_MS);
  assert.equal(bench.posts.length, 0);
  assert.deepEqual(bench.told, ['left']);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
});

test('a wall clock set back makes the deadline wait for it', async (t) => {
  const { bench } = opened(t);
  await bench.time.advance(12 * MINUTE_MS);
  bench.time.jumpWall(-5 * MINUTE_MS);
  await bench.time.advance(6 * MINUTE_MS - 1);
  bench.poll();
  assert.equal(bench.posts.length, 0);
  await bench.time.advance(1);
  assert.deepEqual(postedAt(bench), [18]);
});

test('a deadline of weeks falls due to the moment', async (t) => {
  const days = 24 * 60;
  const { bench } = opened(t, APPROVE, inMinutes(40 * days));
  await bench.time.advance((40 * days - 2) * MINUTE_MS - 1);
  assert.equal(bench.posts.length, 0);
  await bench.time.advance(1);
  assert.equal(bench.posts.length, 1);
});

test('a store that fails when a deadline falls due: the next document decides it, if NotBefore lies ahead then', async (t) => {
  for (const [minutes, told] of [
    [14, 'decided submitted'],
    [16, 'left'],
  ] as const) {
    const { bench } = opened(t);
    bench.store.fault = new Error('the disk is full');
    await bench.time.advance(minutes * MINUTE_MS);
    assert.equal(bench.posts.length, 0);
    assert.deepEqual(bench.told, []);
    assert.ok(bench.log.some((line) => line.includes('a deadline fell due and could not be stored')));
    bench.store.fault = null;
    bench.poll();
    await bench.time.advance(60 * MINUTE_MS);
    bench.poll();
    assert.equal(bench.told.join(' '), told);
  }
});

test('a document that changes the event and does not move it is as good, after a store that failed', async (t) => {
  const { bench } = opened(t);
  bench.store.fault = new Error('the disk is full');
  await bench.time.advance(DUE_MS);
  bench.store.fault = null;
  change(bench, { description: 'changed' });
  await settle();
  assert.deepEqual(postedAt(bench), [13]);
});

test('what a deadline decided under a hold is dropped where another rule governs, though it has the same deadline', async (t) => {
  const deadline = { beforeMs: 2 * MINUTE_MS, then: 'approve' } as const;
  const { bench, approvals } = opened(t, {
    policy: [
      { when: { impacts: ['Reboot'] }, then: 'wait', deadline },
      { when: {}, then: 'wait', deadline },
    ],
  });
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await bench.time.advance(DUE_MS);
  change(bench, { eventType: 'Reboot' });
  approvals.release(caller('orders'), EVENT_ID, null);
  await bench.time.advance(MINUTE_MS);
  assert.equal(bench.posts.length, 0);
});

test('a deadline that leaves says so under a hold too, and where what was approved came to nothing', async (t) => {
  const { bench, approvals } = opened(t, byThen('leave'));
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await bench.time.advance(DUE_MS);
  assert.equal(steps(approvals), 'held left');
  const other = opened(t, { ...byThen('leave'), required: 'any' });
  other.bench.isAway = true;
  await other.bench.time.advance(11_000);
  void other.approvals.request(caller('orders'), startRequests(EVENT_ID));
  other.bench.isAway = false;
  change(other.bench, STARTED);
  change(other.bench, { eventStatus: 'Scheduled', notBefore: inMinutes(15) });
  await other.bench.time.advance(DUE_MS);
  assert.equal(steps(other.approvals), 'recorded decided moot left');
  assert.equal(other.bench.posts.length, 0);
});

test('a rule that matches some of the names only leaves: an approval would reach them all', async (t) => {
  const web = { when: { resources: ['web_*'] } };
  for (const [resources, posts] of [
    [['web_0', 'WEB_1'], 1],
    [['web_0', 'db_0'], 0],
  ] as const) {
    const { bench } = opened(t, byThen('approve', web), null);
    change(bench, { resources, notBefore: inMinutes(15) });
    await bench.time.advance(60 * MINUTE_MS);
    assert.equal(bench.posts.length, posts);
    assert.equal(bench.told[0], posts === 1 ? 'decided' : 'left');
  }
});

test('a name that comes into Resources, and which the rule does not match, takes away what the deadline decided under a hold', async (t) => {
  const { bench, approvals } = opened(t, byThen('approve', { when: { resources: ['WestNO_*'] } }));
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  await bench.time.advance(DUE_MS);
  change(bench, { resources: ['WestNO_0', 'EastNO_0'] });
  change(bench, { resources: ['WestNO_0'] });
  approvals.release(caller('orders'), EVENT_ID, null);
  await bench.time.advance(MINUTE_MS);
  assert.equal(bench.posts.length, 0, 'it fell due once, and will not again');
});

test('each event has its own deadline', async (t) => {
  const { bench } = opened(t);
  bench.list('later', { notBefore: inMinutes(20) });
  bench.list('sooner', { notBefore: inMinutes(10) });
  bench.list('gone', { notBefore: inMinutes(12) });
  bench.list('begun', { notBefore: inMinutes(12) });
  bench.poll();
  await bench.time.advance(9 * MINUTE_MS);
  bench.end('gone');
  bench.list('begun', STARTED);
  bench.poll();
  await bench.time.advance(60 * MINUTE_MS);
  assert.deepEqual(
    bench.posts.map(({ eventIds: [id], atMs }) => [id, atMs / MINUTE_MS]),
    [
      ['sooner', 8],
      [EVENT_ID, 13],
      ['later', 18],
    ],
  );
});

test('an event that Azure started and took back has the deadline that lies ahead', async (t) => {
  const { bench } = opened(t);
  change(bench, STARTED);
  change(bench, { eventStatus: 'Scheduled', notBefore: inMinutes(15) });
  await bench.time.advance(60 * MINUTE_MS);
  assert.deepEqual(postedAt(bench), [13]);
});

test('a deadline in a dry run decides and posts nothing, in that run or in a later one', async (t) => {
  const { bench, approvals } = opened(t, { ...APPROVE, dryRun: true });
  await bench.time.advance(DUE_MS);
  assert.equal(approvals.summary(KEY)?.state, 'dry-run');
  const real = restart(t, bench);
  change(bench, { notBefore: inMinutes(40) });
  await bench.time.advance(60 * MINUTE_MS);
  assert.equal(bench.posts.length, 0);
  assert.deepEqual(bench.store.told, []);
  for (const name of ['orders', 'billing']) await real.request(caller(name), startRequests(EVENT_ID));
  assert.equal(bench.posts.length, 1);
});

test('closing leaves no timer behind', async (t) => {
  const { bench, approvals } = opened(t);
  assert.equal(bench.time.pending, 1);
  await bench.close(approvals);
  assert.equal(bench.time.pending, 0);
});

test('the life of an event names its deadline while it is Scheduled, moved or not', async (t) => {
  const { bench, approvals } = opened(t);
  approvals.hold(caller('orders'), { EventId: EVENT_ID });
  const deadline = () => (approvals.life(EVENT_ID) as { deadline: unknown }).deadline;
  assert.deepEqual(deadline(), { at: '2026-01-01T00:13:00.000Z', then: 'approve' });
  change(bench, { notBefore: inMinutes(30) });
  assert.deepEqual(deadline(), { at: '2026-01-01T00:28:00.000Z', then: 'approve' });
  change(bench, STARTED);
  assert.equal(deadline(), null);
});
