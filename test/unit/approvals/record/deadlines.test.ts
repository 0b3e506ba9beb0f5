// Rules with a deadline, over restarts, blindness, set clocks → when the bridge itself approves.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import { Deadlines } from '../../../../src/approvals/record/deadlines.ts';
import { decideWhenDue } from '../../../../src/approvals/record/decide-when-due.ts';
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
  logged,
  RULES,
  STARTED,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { inMinutes, type Story, testStories } from '../../../virtual/approvals-story.ts';
import { settle, VirtualTime } from '../../../virtual/virtual-time.ts';

const MINUTE_MS = 60_000;

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

const deadline = { beforeMs: 2 * MINUTE_MS, then: 'approve' } as const;
const ANY = { ...APPROVE, required: 'any' } as const;
const NO_DEADLINE_FOR_REBOOTS: ApprovalSettings = {
  policy: [
    { when: { impacts: ['Reboot'] }, then: 'wait' },
    { when: {}, then: 'wait', deadline },
  ],
};
const SAME_DEADLINE_FOR_REBOOTS: ApprovalSettings = {
  policy: [
    { when: { impacts: ['Reboot'] }, then: 'wait', deadline },
    { when: {}, then: 'wait', deadline },
  ],
};

testStories(
  [
    [
      'a deadline that leaves the event to Azure posts nothing; the record says so, and approvers may still approve',
      { ...byThen('leave'), required: 'any' },
      '+13 min; told > left; +60 min; poll; posts > 0; told > left; orders approves; posts > 1',
    ],
    [
      'a deadline leaves a refused approval, because an approver decided it',
      ANY,
      'service answers refused; orders approves; +13 min; posts > 1; told > recorded decided failed denied left',
    ],
    ['NotBefore moved later moves the deadline', APPROVE, '+5 min; NotBefore 30 min; +60 min; posted in min > 28'],
    ['NotBefore moved earlier moves the deadline', APPROVE, '+5 min; NotBefore 10 min; +60 min; posted in min > 8'],
    [
      'a change that does not move it leaves it as it is',
      APPROVE,
      'it is described; it lasts 99 s; +13 min; posted in min > 13',
    ],
    [
      'a deadline that lay behind in the document that moved it leaves',
      APPROVE,
      '+5 min; NotBefore 7 min; +60 min; posts > 0',
    ],
    [
      'a deadline that left counts again if NotBefore moves',
      APPROVE,
      'sight is lost; +13 min; sight is back; NotBefore 30 min; +60 min; posted in min > 28',
    ],
    [
      'a deadline that decided and is not submitted yet decides again if NotBefore moves',
      APPROVE,
      `service answers 503 1 min; +13 min; state > submitting; NotBefore 30 min; state > waiting
      +60 min; posted in min > 13, 28; record > decided answered dropped decided submitted`,
    ],
    [
      'the decision of a deadline survives a change that does not move it, and is posted once',
      APPROVE,
      `service answers 503 1 min; +13 min; it is described; +60 min; posted in min > 13, 14
      record > decided answered submitted`,
    ],
    [
      'another rule removes the deadline of the first',
      NO_DEADLINE_FOR_REBOOTS,
      'service answers 503 10 min; +5 min; it is a Reboot; +60 min; state > waiting; posts > 0',
    ],
    [
      'another rule removes the decision of the first',
      NO_DEADLINE_FOR_REBOOTS,
      'service answers 503 10 min; +14 min; it is a Reboot; +60 min; state > waiting; posts > 1',
    ],
    // The process is killed before the clock: its timers do not count.
    [
      'a deadline that passed while no process ran leaves',
      APPROVE,
      '+12 min; clock +2 min; restart; +60 min; posts > 0; state > waiting',
    ],
    ['a restart before the deadline does not matter', APPROVE, 'stop; restart; +13 min; posted in min > 13'],
    [
      'a deadline decided then is stored then: later restarts do not matter, nor that NotBefore passes',
      APPROVE,
      `service answers 503 60 min; +13 min; on disk > submitting by deadline; stop; service is away
      restart without a document; +10 min; state > submitting; restart; service is back; +1 min; posts > 2`,
    ],
    [
      'a deadline that falls due before this process has read a document leaves',
      APPROVE,
      'stop; restart without a document; +13 min; poll; +1 min; posts > 0; state > waiting',
    ],
    [
      'a hold stops the approval of a deadline, which is decided and stored all the same, whatever restarts follow',
      APPROVE,
      `orders holds; +13 min; on disk > held by deadline; stop; restart; +1 min; posts > 0
      orders releases > released; +1 s; posts > 1`,
    ],
    [
      'a deadline that passed under a hold while no process ran leaves: the release posts nothing',
      APPROVE,
      'orders holds; stop; +13 min; restart; orders releases; +1 min; posts > 0',
    ],
    [
      'a wall clock set forward over the deadline: decided by the next document',
      APPROVE,
      '+5 min; clock +9 min; +1 s; posts > 0; poll; posts > 1',
    ],
    [
      'a wall clock set forward over NotBefore leaves',
      APPROVE,
      'clock +15 min; poll; +60 min; posts > 0; told > left; state > waiting',
    ],
    [
      'a wall clock set back makes the deadline wait for it',
      APPROVE,
      '+12 min; clock -5 min; +359999 ms; poll; posts > 0; +1 ms; posted in min > 18',
    ],
    [
      'a deadline of weeks falls due to the moment',
      APPROVE,
      'NotBefore 57600 min; +57597 min; +59999 ms; posts > 0; +1 ms; posts > 1',
    ],
    ...(
      [
        [14, 'decided submitted'],
        [16, 'left'],
      ] as const
    ).map(
      ([minutes, told]): Story => [
        `a store that fails when a deadline falls due: the next document, in minute ${minutes}, makes it ${told}`,
        APPROVE,
        `disk is full; +${minutes} min; posts > 0; told >; log has a deadline expired and could not be stored
        disk is well; poll; +60 min; poll; told > ${told}`,
      ],
    ),
    [
      'after a store failure, a document that changes the event without moving the deadline also decides it',
      APPROVE,
      'disk is full; +13 min; disk is well; it is described; posted in min > 13',
    ],
    [
      'a decision under a hold is dropped if another rule governs, even with the same deadline',
      SAME_DEADLINE_FOR_REBOOTS,
      'orders holds; +13 min; it is a Reboot; orders releases; +1 min; posts > 0',
    ],
    [
      'an event that Azure started and took back has the deadline that lies ahead',
      APPROVE,
      'it starts; it is Scheduled, NotBefore 15 min; +60 min; posted in min > 13',
    ],
  ],
  { notBefore: inMinutes(15) },
);

testStories(
  [
    ...[2, 1, -5].map(
      (minutes): Story => [
        `a deadline that lay behind in the document that set it leaves: NotBefore in minute ${minutes}`,
        APPROVE,
        `NotBefore ${minutes} min; +60 min; poll; it is described; restart; +1 min; posts > 0; state > waiting`,
      ],
    ),
    [
      'an event without NotBefore has no deadline, and one that gets NotBefore gets it',
      APPROVE,
      '+60 min; posts > 0; state > waiting; NotBefore 80 min; +60 min; posted in min > 78',
    ],
  ],
  { notBefore: null },
);

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

/** The record of an event that has no approvals. */
function stored(fixture: ApprovalsFixture, occurrence: number): readonly string[] {
  return fixture.store.approvals.record(occurrence, FIRST_PART).steps.map(({ step }) => step);
}

test('the deadlines of one moment leave once each, and publish and log nothing else', async (t) => {
  const { fixture } = opened(t, byThen('leave'));
  fixture.list('second', { notBefore: inMinutes(15) });
  fixture.poll();
  await fixture.time.advance(DUE_MS);
  assert.deepEqual([stored(fixture, 1), stored(fixture, 2)], [['left'], ['left']]);
  assert.deepEqual(fixture.told, ['left', 'left']);
  assert.deepEqual(fixture.store.published, []);
  const lines = fixture.log.map((line) => JSON.parse(line)).map(({ level, eventId, msg }) => [level, eventId, msg]);
  assert.deepEqual(lines, [
    [30, EVENT_ID, 'approval left'],
    [30, 'second', 'approval left'],
  ]);
});

test('a deadline that falls due while blind is left, even if that could not be stored', async (t) => {
  const { fixture, approvals } = opened(t);
  fixture.isBlind = true;
  fixture.store.fault = new Error('the disk is full');
  await fixture.time.advance(DUE_MS);
  const [fault] = logged(fixture, 'error');
  const msg = 'a deadline expired and could not be stored; the bridge will retry it';
  assert.deepEqual(fault, { eventId: EVENT_ID, reason: 'the disk is full', msg });
  fixture.isBlind = false;
  fixture.store.fault = null;
  fixture.poll();
  await fixture.time.advance(60 * MINUTE_MS);
  assert.equal(approvals.summary(KEY)?.state, 'waiting');
  assert.equal(fixture.posts.length, 0);
});

test('a deadline that could not be stored is logged once for each document', async (t) => {
  const { fixture, approvals } = opened(t);
  fixture.store.fault = new Error('the disk is full');
  await fixture.time.advance(DUE_MS);
  assert.equal(logged(fixture, 'error').length, 1);
  approvals.documentHandled();
  assert.equal(logged(fixture, 'error').length, 2);
});

test('a deadline approves nothing that the last document does not list', async (t) => {
  const { fixture } = opened(t);
  const known = fixture.known(KEY);
  assert.ok(known);
  Object.assign(known, { listed: false });
  await fixture.time.advance(DUE_MS);
  assert.deepEqual(stored(fixture, 1), ['left']);
  assert.equal(fixture.posts.length, 0);
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
  return { ...RULES, required: 'all', policy };
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

/** Real deadlines in virtual time, and what they emit. */
function emitting() {
  const time = new VirtualTime();
  const deadlines = new Deadlines(time);
  const emitted: (readonly string[])[] = [];
  deadlines.due$.subscribe((keys) => emitted.push(keys));
  return { time, deadlines, emitted };
}

test('a deadline that was removed is not emitted, also not when all that are due are looked for', () => {
  const { time, deadlines, emitted } = emitting();
  for (const key of ['removed', 'kept']) deadlines.set(key, time.wallMs() + MINUTE_MS);
  deadlines.set('removed', null);
  time.jumpWall(2 * MINUTE_MS);
  deadlines.lookAgain();
  assert.deepEqual(emitted, [['kept']]);
  deadlines[Symbol.dispose]();
  assert.equal(time.pending, 0);
});

test('the deadlines of one moment are emitted together, once', async () => {
  const { time, deadlines, emitted } = emitting();
  for (const key of ['first', 'second']) deadlines.set(key, time.wallMs() + MINUTE_MS);
  deadlines.lookAgain();
  assert.deepEqual(emitted, [], 'none has expired');
  await time.advance(MINUTE_MS);
  assert.deepEqual(emitted, [['first', 'second']]);
  deadlines.lookAgain();
  assert.equal(emitted.length, 2, 'until they are set');
});

test('nothing is emitted after a stop', () => {
  const { time, deadlines, emitted } = emitting();
  deadlines.set('first', time.wallMs() + MINUTE_MS);
  deadlines[Symbol.dispose]();
  time.jumpWall(MINUTE_MS);
  deadlines.lookAgain();
  assert.deepEqual(emitted, []);
});

test('the deadline of an event that is gone or not governed is removed', async () => {
  const { time, deadlines, emitted } = emitting();
  const fixture = new ApprovalsFixture();
  fixture.list('started', STARTED);
  fixture.poll();
  const started = fixture.known('started');
  decideWhenDue({
    ...{ deps: time, deadlines },
    ports: { events: () => new Map([['started', started]]) },
    ledger: { governedEventOf: () => null },
  } as unknown as Parameters<typeof decideWhenDue>[0]);
  for (const key of ['gone', 'started']) deadlines.set(key, time.wallMs() + MINUTE_MS);
  await time.advance(MINUTE_MS);
  deadlines.lookAgain();
  assert.deepEqual(emitted, [['gone', 'started']]);
});
