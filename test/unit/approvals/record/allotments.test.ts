// Rules with budgets: what is held back, for how long, and in which order it is approved.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import type { PostResult } from '../../../../src/model/approvals.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ACCEPTED,
  type ApprovalSettings,
  ApprovalsFixture,
  again,
  approve,
  caller,
  LOST,
  REFUSED,
  RULES,
  reopened,
  STARTED,
  said,
} from '../../../virtual/approvals-fixture.ts';
import { inMinutes } from '../../../virtual/approvals-story.ts';

const DRILL = 'drill-00000000-0000-4000-8000-000000000001';
const MINUTE_MS = 60_000;
const EVERY_DAY = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const ONE_DATABASE = { resources: ['db_*'], atMost: 1, restMs: 0 };

function settings(
  rule: Partial<PolicyRule> = {},
  databases: Partial<typeof ONE_DATABASE> = {},
  more: ApprovalSettings = {},
): ApprovalSettings {
  return {
    approvers: { orders: { admin: true } },
    policy: [{ when: {}, then: 'approve', budgets: ['databases'], ...rule }],
    budgets: { databases: { ...ONE_DATABASE, ...databases } },
    windows: {
      five: { days: EVERY_DAY, from: '00:05', to: '00:10', except: [], timeZone: 'UTC' },
      twenty: { days: EVERY_DAY, from: '00:20', to: '00:25', except: [], timeZone: 'UTC' },
    },
    ...more,
  };
}

/** Approvals with these rules, and events A, B, … that each name one list of machines. */
class Site {
  readonly fixture = new ApprovalsFixture();
  approvals: Approvals;
  readonly #t: TestContext;
  #settings: ApprovalSettings;

  constructor(t: TestContext, given: ApprovalSettings) {
    this.#t = t;
    this.#settings = given;
    this.approvals = this.#open(this.fixture.open(given));
  }

  #open(approvals: Approvals): Approvals {
    this.#t.after(() => this.fixture.close(approvals));
    return approvals;
  }

  list(eventId: string, resources: readonly string[], fields: Partial<ScheduledEvent> = {}): void {
    this.fixture.list(eventId, { eventStatus: 'Scheduled', notBefore: inMinutes(60), resources, ...fields });
  }

  /** One document, and time for what it causes. */
  async poll(): Promise<void> {
    this.fixture.poll();
    await this.fixture.time.advance(1);
  }

  async starts(eventId: string): Promise<void> {
    this.fixture.list(eventId, STARTED);
    await this.poll();
  }

  async ends(eventId: string): Promise<void> {
    this.fixture.end(eventId);
    await this.poll();
  }

  async restart(given = this.#settings): Promise<void> {
    this.#settings = given;
    this.approvals = this.#open(reopened(this.fixture, given));
    await this.poll();
  }

  posted(): string {
    return this.fixture.posts.flatMap(({ eventIds }) => eventIds).join(' ');
  }

  /** The record, without the answers of the service. */
  steps(eventId: string): string {
    const life = this.approvals.life(eventId);
    assert.ok('steps' in life);
    return life.steps.flatMap(({ step }) => (step === 'answered' ? [] : [step])).join(' ');
  }

  heldBack(eventId: string): readonly string[] {
    return this.approvals.nextStep(eventId.toLowerCase()).heldBackBy;
  }

  logged(text: string): readonly string[] {
    return this.fixture.log.filter((line) => line.includes(text));
  }
}

test('of two databases, one is approved, and the other when the first has ended', async (t) => {
  const site = new Site(t, settings());
  site.list('B', ['db_1'], { notBefore: inMinutes(30) });
  site.list('A', ['DB_2']);
  site.list('W', ['web_1']);
  await site.poll();
  assert.equal(site.posted(), 'B W');
  assert.deepEqual(site.heldBack('A'), ['databases']);
  assert.deepEqual(site.approvals.nextStep('a').nextStep, { action: 'approve', at: null, by: 'policy[0]' });
  await site.starts('B');
  assert.equal(site.posted(), 'B W');
  await site.ends('B');
  assert.equal(site.posted(), 'B W A');
  assert.deepEqual(site.heldBack('A'), []);
});

test('an approval counts until its event ends, whether or not Azure has started it', async (t) => {
  const site = new Site(t, settings());
  site.list('A', ['db_1']);
  await site.poll();
  site.list('B', ['db_2']);
  await site.poll();
  assert.deepEqual(site.heldBack('B'), ['databases']);
  await site.ends('A');
  assert.equal(site.posted(), 'A B');
});

test('events that Azure starts by itself count, and those that wait for their NotBefore do not', async (t) => {
  const site = new Site(t, settings({ when: { impacts: ['Redeploy'] } }));
  site.list('F', ['db_1'], { eventType: 'Freeze' });
  site.list('R', ['db_2'], { eventType: 'Redeploy' });
  await site.poll();
  assert.equal(site.posted(), 'R');
  await site.ends('R');
  await site.starts('F');
  site.list('S', ['db_3'], { eventType: 'Redeploy' });
  await site.poll();
  assert.deepEqual(site.heldBack('S'), ['databases']);
  await site.ends('F');
  assert.equal(site.posted(), 'R S');
});

test('after the end of an event, its machines rest, also over a restart', async (t) => {
  const site = new Site(t, settings({}, { restMs: 10 * MINUTE_MS }));
  site.list('A', ['db_1']);
  site.list('B', ['db_2']);
  await site.poll();
  await site.fixture.time.advance(MINUTE_MS);
  await site.ends('A');
  await site.restart();
  assert.deepEqual(site.heldBack('B'), ['databases']);
  await site.fixture.time.advance(10 * MINUTE_MS - 10);
  assert.equal(site.posted(), 'A');
  await site.fixture.time.advance(10);
  assert.equal(site.posted(), 'A B');
});

test('the record of an event that is held back shows what is in use of its budgets, and that of another event does not', async (t) => {
  const site = new Site(t, settings({}, { restMs: 10 * MINUTE_MS }));
  site.list('A', ['DB_1', 'web_1']);
  site.list('B', ['db_2']);
  await site.poll();
  await site.fixture.time.advance(MINUTE_MS);
  await site.ends('A');
  site.list('C', ['db_3']);
  await site.starts('C');
  const budgetUse = (eventId: string) => {
    void site.approvals.hold(caller('orders'), { EventId: eventId });
    const record = site.approvals.life(eventId);
    return 'budgetUse' in record ? record.budgetUse : undefined;
  };
  const machines = [
    { name: 'db_1', eventId: null, until: new Date(Date.UTC(2026, 0, 1, 0, 11, 0, 1)).toISOString() },
    { name: 'db_3', eventId: 'C', until: null },
  ];
  assert.deepEqual(budgetUse('B'), [{ name: 'databases', atMost: 1, used: 2, machines }]);
  assert.equal(budgetUse('C'), undefined);
});

test('an event that was canceled before anybody approved it does not rest', async (t) => {
  const site = new Site(t, settings({}, { restMs: 10 * MINUTE_MS }));
  site.list('A', ['db_1']);
  site.list('B', ['db_2'], { notBefore: inMinutes(90) });
  await site.poll();
  await site.ends('B');
  site.list('C', ['web_1', 'db_1']);
  await site.poll();
  assert.equal(site.posted(), 'A C');
});

test('what an approver approves is never delayed, and counts', async (t) => {
  const site = new Site(t, settings());
  site.list('A', ['db_1']);
  site.list('B', ['db_2']);
  site.list('C', ['db_3']);
  await site.poll();
  assert.equal(said(await approve(site.approvals, 'orders', 'B')), '200 submitted');
  await site.ends('A');
  assert.deepEqual(site.heldBack('C'), ['databases']);
  await site.ends('B');
  assert.equal(site.posted(), 'A B C');
});

test('an event under a hold gives up its place; its release queues again', async (t) => {
  const site = new Site(t, settings());
  site.fixture.answers = [again(50 * MINUTE_MS)];
  site.list('A', ['db_1'], { notBefore: inMinutes(30) });
  site.list('B', ['db_2']);
  await site.poll();
  assert.equal(site.approvals.summary('a')?.state, 'submitting');
  assert.equal(said(site.approvals.hold(caller('orders'), { EventId: 'A' })), '201 held');
  await site.poll();
  assert.equal(site.posted(), 'A B');
  assert.equal(said(site.approvals.release(caller('orders'), 'A', null)), 'released');
  await site.poll();
  assert.deepEqual(site.heldBack('A'), ['databases']);
  await site.ends('B');
  assert.equal(site.approvals.summary('a')?.state, 'submitting');
});

test('an approval that waits for its turn in a group is taken back when its event names one machine too many', async (t) => {
  const group = { submit: 'leader', failoverAfterMs: 10_000, members: [] } as const;
  const site = new Site(t, settings({ when: { impacts: ['Reboot'] } }, {}, { group }));
  site.list('F', ['db_1'], { eventType: 'Freeze' });
  site.list('B', ['other_0', 'WestNO_0'], { eventType: 'Reboot' });
  await site.starts('F');
  assert.equal(site.approvals.summary('b')?.state, 'submitting');
  site.list('B', ['other_0', 'WestNO_0', 'db_2'], { eventType: 'Reboot' });
  await site.poll();
  assert.equal(site.approvals.summary('b')?.state, 'waiting');
  assert.deepEqual(site.heldBack('B'), ['databases']);
  await site.fixture.time.advance(MINUTE_MS);
  assert.equal(site.posted(), '');
  await site.ends('F');
  await site.fixture.time.advance(MINUTE_MS);
  assert.equal(site.posted(), 'B');
});

test('an approval that the service is too busy to take is taken back when Azure starts another event', async (t) => {
  const site = new Site(t, settings({ when: { impacts: ['Reboot'] } }));
  site.fixture.answers = [again(1000)];
  site.list('A', ['db_1'], { eventType: 'Reboot' });
  site.list('F', ['db_2'], { eventType: 'Freeze' });
  await site.poll();
  assert.equal(site.approvals.summary('a')?.state, 'submitting');
  await site.starts('F');
  await site.fixture.time.advance(MINUTE_MS);
  assert.equal(site.posted(), 'A');
  assert.deepEqual(site.heldBack('A'), ['databases']);
  await site.ends('F');
  assert.equal(site.posted(), 'A A');
  assert.equal(site.approvals.summary('a')?.state, 'submitted');
});

test('an approval whose answer was lost is posted again only when it fits, and stays in use', async (t) => {
  const site = new Site(t, settings({ when: { impacts: ['Reboot'] } }));
  site.fixture.answers = [LOST];
  site.list('A', ['db_1'], { eventType: 'Reboot' });
  site.list('F', ['db_2'], { eventType: 'Freeze' });
  await site.poll();
  await site.starts('F');
  site.list('B', ['db_2'], { eventType: 'Reboot' });
  await site.poll();
  await site.fixture.time.advance(MINUTE_MS);
  assert.equal(site.posted(), 'A');
  assert.deepEqual([site.heldBack('A'), site.heldBack('B')], [['databases'], ['databases']]);
  await site.ends('F');
  assert.equal(site.posted(), 'A A');
  assert.deepEqual(site.heldBack('B'), ['databases']);
});

test('an approval whose answer was lost rests after its end, although it no longer fitted', async (t) => {
  const site = new Site(t, settings({ when: { impacts: ['Reboot'] } }, { restMs: 10 * MINUTE_MS }));
  site.fixture.answers = [LOST];
  site.list('A', ['db_1'], { eventType: 'Reboot' });
  site.list('F', ['other_1'], { eventType: 'Freeze' });
  await site.poll();
  site.list('F', ['other_1', 'db_2'], STARTED);
  await site.poll();
  assert.deepEqual(site.heldBack('A'), ['databases']);
  await site.ends('A');
  site.list('B', ['db_2'], { eventType: 'Reboot' });
  await site.poll();
  assert.deepEqual(site.heldBack('B'), ['databases']);
});

test('after a restart, an approval that may have been posted is not posted while it no longer fits', async (t) => {
  const site = new Site(t, settings({ when: { impacts: ['Reboot'] } }));
  site.fixture.answerTo = () => again(1000);
  site.list('A', ['db_1'], { eventType: 'Reboot' });
  site.list('F', ['db_2'], { eventType: 'Freeze' });
  await site.poll();
  const before = site.posted();
  site.fixture.list('F', STARTED);
  await site.restart();
  await site.fixture.time.advance(MINUTE_MS);
  assert.equal(site.posted(), before);
  assert.deepEqual(site.heldBack('A'), ['databases']);
  site.fixture.answerTo = () => ({ kind: 'accepted' });
  await site.ends('F');
  assert.equal(site.posted(), `${before} A`);
});

test('of two approvals that are not posted yet, the later NotBefore is taken back', async (t) => {
  const site = new Site(t, settings({ when: { impacts: ['Reboot'] } }, { atMost: 2 }));
  site.fixture.answerTo = () => again(1000);
  site.list('A', ['db_1'], { eventType: 'Reboot', notBefore: inMinutes(90) });
  site.list('B', ['db_2'], { eventType: 'Reboot' });
  site.list('F', ['db_3'], { eventType: 'Freeze' });
  await site.poll();
  await site.starts('F');
  assert.deepEqual([site.heldBack('A'), site.heldBack('B')], [['databases'], []]);
  assert.deepEqual(
    ['a', 'b'].map((key) => site.approvals.summary(key)?.state),
    ['waiting', 'submitting'],
  );
  assert.equal(site.steps('B'), 'decided', 'it kept its place');
});

test('a deadline that expired stays expired when its approval is taken back', async (t) => {
  const deadline = { beforeMs: 50 * MINUTE_MS, then: 'approve' } as const;
  const site = new Site(t, settings({ when: { impacts: ['Reboot'] }, then: 'wait', deadline }));
  site.fixture.answers = [again(1000)];
  site.list('A', ['db_1'], { eventType: 'Reboot' });
  site.list('F', ['db_2'], { eventType: 'Freeze' });
  await site.poll();
  await site.fixture.time.advance(10 * MINUTE_MS);
  await site.starts('F');
  assert.deepEqual(site.heldBack('A'), ['databases']);
  await site.ends('F');
  await site.fixture.time.advance(MINUTE_MS);
  assert.equal(site.posted(), 'A A');
});

test('under a hold, the budgets that would hold the event back are listed, and it is left to Azure', async (t) => {
  const site = new Site(t, settings());
  site.list('A', ['db_1']);
  site.list('B', ['db_2']);
  await site.poll();
  site.approvals.hold(caller('orders'), { EventId: 'B' });
  assert.deepEqual(site.heldBack('B'), ['databases']);
  assert.equal(site.approvals.nextStep('b').nextStep.action, 'start');
});

test('a refused approval gives up its place, and is tried again when the minute is over and it fits', async (t) => {
  const site = new Site(t, settings());
  site.fixture.answers = [REFUSED];
  site.list('A', ['db_1'], { notBefore: inMinutes(30) });
  site.list('B', ['db_2']);
  await site.poll();
  await site.poll();
  assert.equal(site.posted(), 'A B');
  await site.fixture.time.advance(MINUTE_MS);
  assert.deepEqual(site.heldBack('A'), ['databases']);
  await site.ends('B');
  assert.equal(site.posted(), 'A B A');
});

test('a deadline that approves waits for its budget, also over a restart', async (t) => {
  const deadline = { beforeMs: 50 * MINUTE_MS, then: 'approve' } as const;
  const site = new Site(t, settings({ then: 'wait', deadline }));
  site.list('A', ['db_1'], { notBefore: inMinutes(55) });
  site.list('B', ['db_2']);
  await site.poll();
  await site.fixture.time.advance(11 * MINUTE_MS);
  await site.poll();
  assert.equal(site.posted(), 'A');
  assert.deepEqual(site.heldBack('B'), ['databases']);
  await site.restart();
  assert.deepEqual(site.heldBack('B'), ['databases']);
  assert.equal(site.posted(), 'A');
  await site.ends('A');
  assert.equal(site.posted(), 'A B');
});

test('when the window of two events closes, each is left to its own deadline, which has not come', async (t) => {
  const deadline = { beforeMs: 5 * MINUTE_MS, then: 'approve' } as const;
  const site = new Site(t, settings({ during: ['five'], otherwise: 'wait', deadline }));
  site.list('C', ['db_1'], { eventStatus: 'Started', notBefore: null });
  site.list('A', ['db_2']);
  site.list('B', ['db_3'], { notBefore: inMinutes(50) });
  await site.poll();
  await site.fixture.time.advance(11 * MINUTE_MS);
  await site.ends('C');
  await site.fixture.time.advance(30 * MINUTE_MS);
  assert.equal(site.posted(), '');
  await site.fixture.time.advance(5 * MINUTE_MS);
  assert.equal(site.posted(), 'B');
});

test('when the window of two events closes, no rule without budgets approves them before their deadlines', async (t) => {
  const deadline = { beforeMs: 5 * MINUTE_MS, then: 'approve' } as const;
  const site = new Site(t, settings({ during: ['five'], otherwise: 'wait', deadline, budgets: [] }));
  for (const eventId of ['A', 'B']) {
    site.list(eventId, ['db_1']);
    await site.poll();
    site.approvals.hold(caller('orders'), { EventId: eventId });
  }
  await site.fixture.time.advance(11 * MINUTE_MS);
  for (const eventId of ['A', 'B']) site.approvals.release(caller('orders'), eventId, null);
  await site.fixture.time.advance(40 * MINUTE_MS);
  assert.equal(site.posted(), '');
  await site.fixture.time.advance(5 * MINUTE_MS);
  assert.equal(site.posted(), 'A B');
});

test('of two deadlines that expire at once, the order of EventId decides, not that of their timers', async (t) => {
  const deadline = { beforeMs: 5 * MINUTE_MS, then: 'approve' } as const;
  const site = new Site(t, settings({ then: 'wait', deadline }));
  site.list('B', ['db_2']);
  await site.poll();
  site.list('A', ['db_1']);
  await site.poll();
  await site.fixture.time.advance(56 * MINUTE_MS);
  assert.equal(site.posted(), 'A');
  assert.deepEqual(site.heldBack('B'), ['databases']);
});

test('of two deadlines that expired while the machine slept, the earlier NotBefore is tried first', async (t) => {
  const deadline = { beforeMs: 30 * MINUTE_MS, then: 'approve' } as const;
  const site = new Site(t, settings({ then: 'wait', deadline }));
  site.list('B', ['db_2'], { notBefore: inMinutes(70) });
  await site.poll();
  site.list('A', ['db_1'], { notBefore: inMinutes(65) });
  await site.poll();
  site.fixture.time.jumpWall(45 * MINUTE_MS);
  await site.poll();
  assert.equal(site.posted(), 'A');
});

test('of two events whose windows meet, the earlier NotBefore is tried first when one closes and one opens', async (t) => {
  const windows = {
    early: { days: EVERY_DAY, from: '00:05', to: '00:10', except: [], timeZone: 'UTC' },
    late: { days: EVERY_DAY, from: '00:10', to: '00:15', except: [], timeZone: 'UTC' },
  };
  const rule = { then: 'approve', budgets: ['databases'] } as const;
  const policy: readonly PolicyRule[] = [
    { when: { impacts: ['Redeploy'] }, ...rule, during: ['late'] },
    { when: { impacts: ['Reboot'] }, ...rule, during: ['early', 'late'] },
  ];
  const site = new Site(t, { ...settings(), windows, policy });
  site.list('B', ['db_2'], { eventType: 'Redeploy', notBefore: inMinutes(70) });
  await site.poll();
  site.list('A', ['db_1'], { eventType: 'Reboot', notBefore: inMinutes(65) });
  await site.poll();
  site.approvals.hold(caller('orders'), { EventId: 'A' });
  site.fixture.time.jumpWall(10 * MINUTE_MS);
  assert.equal(said(site.approvals.release(caller('orders'), 'A', null)), 'released');
  await site.poll();
  assert.equal(site.posted(), 'A');
});

for (const order of ['AB', 'BA'])
  test(`a rule without budgets goes first at one moment, and counts (listed in the order ${order})`, async (t) => {
    const during = ['five'];
    const policy: readonly PolicyRule[] = [
      { when: { impacts: ['Redeploy'] }, then: 'approve', during, budgets: ['databases'] },
      { when: { impacts: ['Reboot'] }, then: 'approve', during },
    ];
    const site = new Site(t, { ...settings(), policy });
    for (const eventId of order) {
      if (eventId === 'A') site.list('A', ['db_1'], { eventType: 'Redeploy', notBefore: inMinutes(30) });
      else site.list('B', ['db_2'], { eventType: 'Reboot' });
      await site.poll();
    }
    await site.fixture.time.advance(6 * MINUTE_MS);
    assert.equal(site.posted(), 'B');
    assert.deepEqual(site.heldBack('A'), ['databases']);
  });

test('an event whose window closes while it is held back waits for the next window', async (t) => {
  const site = new Site(t, settings({ during: ['five', 'twenty'] }));
  site.list('A', ['db_1'], { notBefore: inMinutes(50) });
  site.list('B', ['db_2']);
  await site.poll();
  await site.fixture.time.advance(6 * MINUTE_MS);
  assert.equal(site.posted(), 'A');
  await site.fixture.time.advance(6 * MINUTE_MS);
  await site.ends('A');
  assert.deepEqual(site.heldBack('B'), []);
  assert.equal(site.approvals.nextStep('b').nextStep.at, inMinutes(20));
  await site.fixture.time.advance(8 * MINUTE_MS);
  assert.equal(site.posted(), 'A B');
});

test('when Azure starts an event that a budget holds back, the log says so once, with its id and the budget', async (t) => {
  const site = new Site(t, settings());
  site.list('A', ['db_1']);
  site.list('B', ['db_2']);
  await site.poll();
  await site.poll();
  assert.deepEqual(site.logged('Azure started an event that budgets held back'), []);
  await site.starts('B');
  await site.poll();
  const lines = site.logged('Azure started an event that budgets held back').map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ eventId, budgets }) => [eventId, budgets]),
    [['B', ['databases']]],
  );
});

test('a reload that raises the limit approves what fits then, and one that lowers it takes nothing back', async (t) => {
  const site = new Site(t, settings());
  site.list('A', ['db_1']);
  site.list('B', ['db_2']);
  await site.poll();
  await site.restart(settings({}, { atMost: 2 }));
  assert.equal(site.posted(), 'A B');
  await site.restart(settings());
  assert.equal(site.approvals.summary('b')?.state, 'submitted');
});

test('a reload that forbids what a budget holds back approves nothing, even if it removes the budget', async (t) => {
  const site = new Site(t, settings());
  site.list('A', ['db_1']);
  site.list('B', ['db_2']);
  await site.poll();
  site.approvals.reload({ ...RULES, ...settings({}, {}), budgets: {}, policy: [{ when: {}, then: 'never' }] });
  await site.poll();
  assert.equal(site.posted(), 'A');
  assert.deepEqual(site.heldBack('B'), []);
  assert.equal(site.approvals.summary('b'), null);
  assert.deepEqual(site.fixture.told, ['decided', 'submitted']);
});

test('a reload that raises the limit approves what fits then', async (t) => {
  const site = new Site(t, settings());
  for (const [eventId, name] of [
    ['A', 'db_1'],
    ['B', 'db_2'],
    ['C', 'db_3'],
  ] as const)
    site.list(eventId, [name]);
  await site.poll();
  site.approvals.reload({ ...RULES, ...settings({}, { atMost: 2 }) });
  await site.poll();
  assert.equal(site.posted(), 'A B');
  assert.deepEqual(site.heldBack('C'), ['databases']);
});

test('a dry run holds back as the real one would', async (t) => {
  const site = new Site(t, settings({}, {}, { dryRun: true }));
  site.list('A', ['db_1']);
  site.list('B', ['db_2']);
  await site.poll();
  assert.deepEqual(
    ['a', 'b'].map((key) => site.approvals.summary(key)?.state),
    ['dry-run', 'waiting'],
  );
  await site.ends('A');
  assert.equal(site.approvals.summary('b')?.state, 'dry-run');
  assert.equal(site.posted(), '');
});

test('a store that fails when an approval fits: the next document makes it', async (t) => {
  const site = new Site(t, settings());
  site.list('A', ['db_1']);
  site.list('B', ['db_2']);
  await site.poll();
  site.fixture.store.approvalFault = ({ key, state }) =>
    key === 'b' && state === 'submitting' ? new Error('the disk is full') : null;
  await site.ends('A');
  assert.equal(site.posted(), 'A');
  const [line = ''] = site.logged('an approval fits its budgets and could not be stored; the bridge will retry it');
  assert.equal(JSON.parse(line).reason, 'the disk is full');
  site.fixture.store.approvalFault = null;
  await site.poll();
  assert.equal(site.posted(), 'A B');
});

test('a drill takes no place of a maintenance, and waits for one', async (t) => {
  const site = new Site(t, settings());
  site.list(DRILL, ['db_9']);
  await site.poll();
  site.list(EVENT_ID, ['db_1']);
  await site.poll();
  assert.equal(site.posted(), EVENT_ID);
  site.list(`${DRILL.slice(0, -1)}2`, ['db_8']);
  await site.poll();
  assert.deepEqual(site.heldBack(`${DRILL.slice(0, -1)}2`), ['databases']);
});

test('an event that ended 29 days ago still rests in a budget with a rest of 30 days, also after a restart', async (t) => {
  const site = new Site(t, settings({}, { restMs: 30 * 24 * 60 * MINUTE_MS }));
  site.list('A', ['db_1']);
  await site.poll();
  await site.ends('A');
  site.list('B', ['db_2'], { notBefore: null });
  await site.poll();
  await site.fixture.time.advance(29 * 24 * 60 * MINUTE_MS);
  await site.restart();
  assert.deepEqual(site.heldBack('B'), ['databases']);
  await site.fixture.time.advance(24 * 60 * MINUTE_MS);
  assert.equal(site.posted(), 'A B');
});

test('of two events that ended one after the other, both rest', async (t) => {
  const site = new Site(t, settings({}, { atMost: 2, restMs: 10 * MINUTE_MS }));
  site.list('A', ['db_1']);
  site.list('B', ['db_2']);
  await site.poll();
  await site.ends('A');
  await site.fixture.time.advance(MINUTE_MS);
  await site.ends('B');
  site.list('C', ['db_3']);
  await site.poll();
  assert.deepEqual(site.heldBack('C'), ['databases']);
  await site.fixture.time.advance(9 * MINUTE_MS);
  assert.equal(site.posted(), 'A B C', 'when the first has rested');
});

test('an event that may have started by an approval counts, also when Azure takes the start back', async (t) => {
  const site = new Site(t, settings({ when: { impacts: ['Reboot'] } }));
  site.fixture.answers = [LOST];
  site.list('A', ['db_1']);
  await site.poll();
  void approve(site.approvals, 'orders', 'A');
  await site.poll();
  await site.starts('A');
  assert.equal(site.approvals.summary('a')?.state, 'unknown');
  site.list('A', ['db_1'], { eventStatus: 'Scheduled' });
  await site.poll();
  site.list('B', ['db_2'], { eventType: 'Reboot' });
  await site.poll();
  assert.deepEqual(site.heldBack('B'), ['databases']);
  assert.equal(site.posted(), 'A');
});

test('what a dry run approved counts for events that come later', async (t) => {
  const site = new Site(t, settings({}, {}, { dryRun: true }));
  site.list('A', ['db_1']);
  await site.poll();
  site.list('B', ['db_2']);
  await site.poll();
  assert.deepEqual(site.heldBack('B'), ['databases']);
  assert.equal(site.approvals.summary('b')?.state, 'waiting');
});

test('no budget holds back an event before its deadline, whether or not somebody holds it', async (t) => {
  const deadline = { beforeMs: 5 * MINUTE_MS, then: 'approve' } as const;
  const site = new Site(t, settings({ then: 'wait', deadline }));
  site.list('F', ['db_1'], STARTED);
  site.list('A', ['db_2']);
  await site.poll();
  assert.deepEqual(site.heldBack('A'), []);
  site.approvals.hold(caller('orders'), { EventId: 'A' });
  assert.deepEqual(site.heldBack('A'), []);
  await site.fixture.time.advance(56 * MINUTE_MS);
  assert.deepEqual(site.heldBack('A'), ['databases']);
});

test('an event that a budget holds back is logged once, with its id, budget and NotBefore; one that fits is not', async (t) => {
  const site = new Site(t, settings());
  site.list('A', ['db_1'], { notBefore: inMinutes(30) });
  site.list('B', ['db_2']);
  await site.poll();
  site.list('B', ['db_2'], { description: 'changed' });
  await site.poll();
  const logged = () => site.logged('budgets hold back an approval').map((line) => JSON.parse(line));
  const facts = logged().map(({ eventId, budgets, notBefore, level }) => [eventId, budgets, notBefore, level]);
  assert.deepEqual(facts, [['B', ['databases'], inMinutes(60), 30]]);
  await site.ends('B');
  site.list('B', ['db_2']);
  await site.poll();
  assert.equal(logged().length, 2, 'it is another occurrence');
  await site.starts('A');
  assert.deepEqual(site.logged('Azure started an event that budgets held back'), []);
});

test('an event that Azure starts by an approval does not keep others from being approved', async (t) => {
  const site = new Site(t, settings());
  site.list('A', ['db_1']);
  await site.poll();
  await site.starts('A');
  site.list('W', ['web_1']);
  await site.poll();
  assert.equal(site.posted(), 'A W');
  assert.deepEqual(site.logged('could not be stored'), []);
});

test('what is on its way is not taken back when it no longer fits: its answer decides', async (t) => {
  const site = new Site(t, settings({ when: { impacts: ['Reboot'] } }));
  const { promise, resolve: answer } = Promise.withResolvers<PostResult>();
  site.fixture.answers = [promise];
  site.list('A', ['db_1'], { eventType: 'Reboot' });
  site.list('F', ['db_2'], { eventType: 'Freeze' });
  await site.poll();
  await site.starts('F');
  assert.equal(site.approvals.summary('a')?.state, 'submitting');
  answer(ACCEPTED);
  await site.poll();
  assert.equal(site.approvals.summary('a')?.state, 'submitted');
  assert.equal(site.steps('A'), 'decided submitted');
  assert.deepEqual(site.logged('could not be stored'), []);
});

test('a rule with budgets approves a drill that fits, behind each maintenance, and once', async (t) => {
  const site = new Site(t, settings());
  site.list(DRILL, ['db_9'], { notBefore: inMinutes(10) });
  site.list('A', ['db_1']);
  site.list('W', ['web_1']);
  await site.poll();
  assert.equal(site.posted(), 'A W');
  assert.deepEqual(site.fixture.drillsApproved, []);
  assert.deepEqual(site.heldBack(DRILL), ['databases']);
  site.list(`${DRILL.slice(0, -1)}2`, ['web_2']);
  site.list('V', ['web_3']);
  await site.poll();
  assert.deepEqual(site.fixture.drillsApproved, [`${DRILL.slice(0, -1)}2`]);
  assert.equal(site.steps(`${DRILL.slice(0, -1)}2`), 'decided submitted');
  await site.ends('A');
  assert.deepEqual(site.fixture.drillsApproved, [`${DRILL.slice(0, -1)}2`, DRILL]);
});

test('after they are closed, no timer waits for the end of a rest', async (t) => {
  const site = new Site(t, settings({}, { restMs: 10 * MINUTE_MS }));
  site.list('A', ['db_1']);
  site.list('B', ['db_2']);
  await site.poll();
  await site.ends('A');
  assert.deepEqual(site.heldBack('B'), ['databases']);
  await site.fixture.close(site.approvals);
  assert.equal(site.fixture.time.pending, 0);
});
