// Events, rules and approvals → what the HTTP interface and the metrics read of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import type { WindowOptions } from '../../../../src/approvals/rules/windows.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import type { GoverningWindow, NextStep } from '../../../../src/model/next-step.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  type ApprovalSettings,
  ApprovalsFixture,
  approvalsOverOneEvent,
  approve,
  caller,
  change,
  end,
  KEY,
  STARTED,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const HOUR_MS = 60 * 60_000;
const DRILL = 'drill-00000000-0000-4000-8000-000000000001';
const NOTHING: NextStep = { action: null, at: null, by: null };
const EVERY_DAY = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const EVENT: Partial<ScheduledEvent> = { notBefore: '2026-01-20T12:00:00Z' };

interface Opened {
  readonly fixture: ApprovalsFixture;
  readonly approvals: Approvals;
}

function daily(from: string, to: string, parts: Partial<WindowOptions> = {}): WindowOptions {
  return { days: EVERY_DAY, from, to, except: [], timeZone: 'UTC', ...parts };
}

function holdIt({ approvals }: Opened): void {
  approvals.hold(caller('billing'), { EventId: EVENT_ID });
}

function rule(parts: Omit<PolicyRule, 'when'>): readonly PolicyRule[] {
  return [{ when: {}, ...parts }];
}

/** Rank 1 of a group, whose turn comes an hour and a half after the leader's. */
const SECOND: ApprovalSettings = {
  group: { submit: 'leader', failoverAfterMs: 1.5 * HOUR_MS, members: [] },
  ownName: 'WestNO_1',
};

test('an event that this bridge never saw is refused, and the refusal says how to find the right id', (t) => {
  const { approvals } = approvalsOverOneEvent(t);
  assert.deepEqual(approvals.life('nobody'), {
    ...{ kind: 'refusal', status: 404, type: 'unknown', title: 'No such event', eventId: 'nobody' },
    detail: 'This bridge has no record of the event nobody. GET /v1/events shows the listed events.',
  });
});

test('the record of an ended event has its id as the service wrote it if an approver saw it, else as requested', async (t) => {
  const cases: readonly (readonly [settings: ApprovalSettings, act: (approvals: Approvals) => unknown, id: string])[] =
    [
      [{}, (approvals) => approve(approvals), EVENT_ID],
      [{ policy: rule({ then: 'approve' }) }, () => {}, KEY],
      [{}, () => {}, KEY],
    ];
  for (const [settings, act, id] of cases) {
    const { fixture, approvals } = approvalsOverOneEvent(t, settings, EVENT);
    await act(approvals);
    await fixture.time.advance(1000);
    end(fixture);
    const life = approvals.life(KEY);
    assert.equal('steps' in life && life.eventId, id);
  }
});

test('the record of an ended event says nothing of the rule for the next event with its id', (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { policy: rule({ then: 'wait' }) }, EVENT);
  end(fixture);
  change(fixture, EVENT);
  // Nothing was stored of the next one, so this is still the record of the first.
  const life = approvals.life(KEY);
  assert.ok('steps' in life);
  assert.deepEqual([life.nextStep, life.rule, life.policy], [NOTHING, null, null]);
});

test('without a Scheduled event, there is no next step, no rule, and no approver is missing', (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, {}, EVENT);
  assert.deepEqual(approvals.missing(KEY), ['orders', 'billing']);
  change(fixture, STARTED);
  for (const key of [KEY, 'nobody']) {
    assert.deepEqual(approvals.nextStep(key), { nextStep: NOTHING, heldBackBy: [], rule: null });
    assert.deepEqual(approvals.missing(key), []);
  }
});

test('a rule approves nothing that the last document does not list: Azure is left to start it', (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(
    t,
    { policy: rule({ then: 'wait', deadline: { beforeMs: HOUR_MS, then: 'approve' } }) },
    EVENT,
  );
  assert.equal(approvals.nextStep(KEY).nextStep.action, 'approve');
  fixture.missing.add(KEY);
  fixture.poll();
  assert.deepEqual(approvals.nextStep(KEY).nextStep, { action: 'start', at: EVENT.notBefore, by: null });
});

/** In January. */
function window(name: string, opensAt: string, closesAt: string, timeZone = 'UTC'): GoverningWindow {
  return { name, opensAt: `2026-01-${opensAt}:00Z`, closesAt: `2026-01-${closesAt}:00Z`, timeZone };
}

interface WindowCase {
  readonly windows: ApprovalSettings['windows'];
  readonly settings?: ApprovalSettings;
  readonly fields?: Partial<ScheduledEvent>;
  act?(opened: Opened): unknown;
  /** `ACTION MOMENT` of the next step. */
  readonly next: string;
  readonly window: GoverningWindow | null;
}

/** Two windows of a day, and one that lasts longer and begins on the second day. */
const NIGHTS = { short: daily('01:00', '02:00'), long: daily('01:30', '06:00', { except: ['2026-01-01'] }) };
const MORNING = { one: daily('03:00', '04:00') };

const WINDOWS: Readonly<Record<string, WindowCase>> = {
  'the next opening, with its zone': {
    windows: { one: daily('03:00', '04:30', { timeZone: 'Europe/Berlin' }) },
    next: 'approve 01T02:00',
    window: window('one', '01T02:00', '01T03:30', 'Europe/Berlin'),
  },
  'none, if none opens before NotBefore': {
    windows: MORNING,
    fields: { notBefore: '2026-01-01T02:30:00Z' },
    next: 'start 01T02:30',
    window: null,
  },
  'the next one, if a hold leaves the event to Azure': {
    windows: MORNING,
    act: holdIt,
    next: 'start 20T12:00',
    window: window('one', '01T03:00', '01T04:00'),
  },
  'a later one, if the turn of this bridge comes after the end of the first': {
    windows: NIGHTS,
    settings: SECOND,
    next: 'approve 02T03:00',
    window: window('long', '02T01:30', '02T06:00'),
  },
  'the first one, if the turn comes in it, although another one is open then, too': {
    windows: { one: daily('01:00', '03:00'), other: daily('02:00', '06:00') },
    settings: SECOND,
    next: 'approve 01T02:30',
    window: window('one', '01T01:00', '01T03:00'),
  },
  'the second one, if approvers have decided and the turn comes at the end of the first': {
    windows: { one: daily('00:30', '01:30'), other: daily('01:30', '06:00') },
    settings: SECOND,
    act: ({ approvals }) =>
      void approvals.request(
        { approver: 'orders', via: 'source:approvals', isShared: true },
        { StartRequests: [{ EventId: EVENT_ID }] },
      ),
    next: 'approve 01T01:30',
    window: window('other', '01T01:30', '01T06:00'),
  },
  'the next one, if the first has passed while the machine slept': {
    windows: MORNING,
    act: ({ fixture }) => fixture.time.jumpWall(5 * HOUR_MS),
    next: 'approve 02T03:00',
    window: window('one', '02T03:00', '02T04:00'),
  },
  'the next one from the moment at which the first closes': {
    windows: MORNING,
    act: (opened) => {
      holdIt(opened);
      opened.fixture.time.jumpWall(3 * HOUR_MS);
      opened.fixture.poll();
      opened.fixture.time.jumpWall(HOUR_MS);
    },
    next: 'start 20T12:00',
    window: window('one', '02T03:00', '02T04:00'),
  },
  'the one it waits for, if the clock was set back before another one': {
    windows: MORNING,
    act: ({ fixture }) => {
      fixture.time.jumpWall(5 * HOUR_MS);
      fixture.poll();
      fixture.time.jumpWall(-5 * HOUR_MS);
    },
    next: 'approve 02T03:00',
    window: window('one', '02T03:00', '02T04:00'),
  },
  'none, if the clock was set back before one that had passed': {
    windows: MORNING,
    fields: { notBefore: '2026-01-01T12:00:00Z' },
    act: ({ fixture }) => {
      fixture.time.jumpWall(5 * HOUR_MS);
      fixture.poll();
      fixture.time.jumpWall(-5 * HOUR_MS);
    },
    next: 'start 01T12:00',
    window: null,
  },
};

for (const [title, { windows = {}, settings, fields, act, next, window: shown }] of Object.entries(WINDOWS))
  test(`the window of a rule is ${title}`, async (t) => {
    const policy = rule({ then: 'approve', during: Object.keys(windows) });
    const { fixture, approvals } = approvalsOverOneEvent(t, { ...settings, windows, policy }, { ...EVENT, ...fields });
    await act?.({ fixture, approvals });
    const { nextStep, rule: governing, heldBackBy } = approvals.nextStep(KEY);
    assert.deepEqual([`${nextStep.action} ${nextStep.at?.slice(8, 16)}`, heldBackBy], [next, []]);
    assert.deepEqual(governing, {
      ...{ policy: 'policy[0]', then: 'approve', waitingFor: governing?.waitingFor, window: shown },
      ...{ during: Object.keys(windows), budgets: [] },
    });
  });

interface OverviewCase {
  readonly settings?: ApprovalSettings;
  readonly fields?: Partial<ScheduledEvent>;
  /** By default the one of the other tests. */
  readonly eventId?: string;
  act?(opened: Opened): unknown;
  readonly states: readonly string[];
  /** The states of the events that are awaited. */
  readonly awaited: readonly string[];
}

const WAIT = rule({ then: 'wait' });

const OVERVIEWS: Readonly<Record<string, OverviewCase>> = {
  'an event that no rule and no approver spoke of': { states: [], awaited: [] },
  'an event whose rule waits for approvers': { settings: { policy: WAIT }, states: [], awaited: ['waiting'] },
  'the same without NotBefore, which no alert can count down to': {
    ...{ settings: { policy: WAIT }, fields: { notBefore: null }, states: [], awaited: [] },
  },
  'an event whose rule waits for its window': {
    settings: { windows: MORNING, policy: rule({ then: 'approve', during: ['one'] }) },
    ...{ states: [], awaited: [] },
  },
  'an event that waits for its deadline alone': {
    settings: { approvers: {}, policy: rule({ then: 'wait', deadline: { beforeMs: HOUR_MS, then: 'approve' } }) },
    ...{ states: [], awaited: [] },
  },
  'one of two votes for an event whose rule waits': {
    settings: { policy: WAIT, required: 'all' },
    act: ({ approvals }) => approve(approvals),
    ...{ states: ['waiting'], awaited: ['waiting'] },
  },
  'a hold on an event without a rule': { act: holdIt, states: ['held'], awaited: ['held'] },
  'a held event without NotBefore': { fields: { notBefore: null }, act: holdIt, states: ['held'], awaited: [] },
  'a held event that Azure has started': {
    act: (opened) => {
      holdIt(opened);
      change(opened.fixture, { eventStatus: 'Started' });
    },
    ...{ states: ['moot'], awaited: [] },
  },
  'an event that Azure has started, which a hold of everything held while its StartRequest was on its way': {
    settings: { approvers: { orders: { admin: true } } },
    act: async ({ fixture, approvals }) => {
      fixture.answers = [new Promise(() => {})];
      void approve(approvals).catch(() => {});
      await settle();
      void approvals.holdAll(caller('orders'), null);
      change(fixture, { eventStatus: 'Started' });
    },
    ...{ states: ['held'], awaited: [] },
  },
  'a drill, which must not raise an alert': {
    settings: { policy: WAIT, required: 'all' },
    eventId: DRILL,
    act: ({ approvals }) => approve(approvals, 'orders', DRILL),
    ...{ states: [], awaited: [] },
  },
};

for (const [title, { settings, fields, eventId = EVENT_ID, act, states, awaited }] of Object.entries(OVERVIEWS))
  test(`the overview for the metrics: ${title}`, async (t) => {
    const fixture = new ApprovalsFixture();
    const approvals = fixture.open(settings);
    t.after(() => fixture.close(approvals));
    fixture.list(eventId, { ...EVENT, ...fields });
    fixture.poll();
    await act?.({ fixture, approvals });
    await fixture.time.advance(60_000);
    const notBefore = fields?.notBefore ?? EVENT.notBefore;
    assert.deepEqual(approvals.overview(), {
      ...{ states, notStartedSeconds: 0, awaited: awaited.map((state) => ({ state, notBefore })) },
    });
  });
