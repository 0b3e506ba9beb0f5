// Every way in which an event can be governed → `nextStep` and `rule` of GET /v1/events.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import { WEEKDAYS } from '../../../../src/approvals/rules/windows.ts';
import type { NextStep } from '../../../../src/model/next-step.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  type ApprovalSettings,
  ApprovalsFixture,
  again,
  approve,
  caller,
  change,
  KEY,
  REFUSED,
  STARTED,
} from '../../../virtual/approvals-fixture.ts';

interface Opened {
  readonly fixture: ApprovalsFixture;
  readonly approvals: Approvals;
}

const NOT_BEFORE = '2026-01-01T00:15:00Z';
const AT_NOT_BEFORE: NextStep = { action: 'start', at: NOT_BEFORE, by: null };
const NOTHING: NextStep = { action: null, at: null, by: null };
const LEADER = { submit: 'leader' as const, failoverAfterMs: 10_000, members: [] };

/** `approve` at so many seconds from the beginning. */
function approval(seconds: number, by: string | null): NextStep {
  return { action: 'approve', at: new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString(), by };
}

function rule(
  parts: Omit<PolicyRule, 'when'>,
  when: PolicyRule['when'] = {},
): { readonly policy: readonly PolicyRule[] } {
  return { policy: [{ when, ...parts }] };
}

const APPROVE = rule({ then: 'approve' });
const NEVER = rule({ then: 'never' });
const DEADLINE = rule({ then: 'wait', deadline: { beforeMs: 120_000, then: 'approve' } });
const LEAVE = rule({ then: 'wait', deadline: { beforeMs: 120_000, then: 'leave' } });

const WAIT = rule({ then: 'wait' });
/** In a budget that another machine of `startAnother` exceeds. */
const ALLOTTED: ApprovalSettings = {
  ...rule({ then: 'approve', budgets: ['machines'] }),
  budgets: { machines: { resources: ['WestNO_*'], atMost: 2, restMs: 0 } },
};
const FAR = '2026-01-30T00:00:00Z';
const NIGHTLY = { days: WEEKDAYS, timeZone: 'UTC', except: [] };

/**
 * Of the second in a group, whose turn comes after an hour and a half: each night has a window of an hour, and one of
 * three hours from the night that makes it the opening with this number.
 */
function turnInOpening(number: number): ApprovalSettings {
  const before = Array.from({ length: number - 2 }, (_, day) => `2026-01-${String(day + 1).padStart(2, '0')}`);
  return {
    ...rule({ then: 'approve', during: ['short', 'long'] }),
    windows: {
      short: { ...NIGHTLY, from: '01:00', to: '02:00' },
      long: { ...NIGHTLY, from: '03:00', to: '06:00', except: before },
    },
    group: { ...LEADER, failoverAfterMs: 90 * 60_000 },
    ownName: 'WestNO_1',
  };
}

/** One is open at the beginning, until a refused StartRequest is repeated. */
const TWO_WINDOWS: ApprovalSettings = {
  ...rule({ then: 'approve', during: ['first', 'second'] }),
  windows: { first: { ...NIGHTLY, from: '00:00', to: '00:01' }, second: { ...NIGHTLY, from: '00:05', to: '00:10' } },
};

function startAnother(fixture: ApprovalsFixture): void {
  fixture.list('another', { ...STARTED, resources: ['WestNO_2'] });
  fixture.poll();
}

function advice(fixture: ApprovalsFixture): void {
  change(fixture, { eventType: 'SpotRebalanceRecommendation' });
}

function hold({ approvals }: Opened): void {
  void approvals.hold(caller('billing'), { EventId: KEY });
}

/** In a service that takes no StartRequest before the end of the test. */
async function decided(opened: Opened): Promise<void> {
  opened.fixture.answerTo = () => again(600_000);
  void approve(opened.approvals);
  await opened.fixture.time.advance(2000);
}

/** By a service that refuses every StartRequest. */
function refusedUntil(elapsedMs: number): (opened: Opened) => Promise<void> {
  return async ({ fixture }) => {
    fixture.answerTo = () => REFUSED;
    await fixture.time.advance(elapsedMs);
  };
}

const CASES: Readonly<
  Record<string, { readonly settings?: ApprovalSettings; act?(opened: Opened): unknown; readonly is: NextStep }>
> = {
  'without a policy Azure starts it at NotBefore': { is: AT_NOT_BEFORE },
  'an incomplete quorum leaves it to Azure': {
    ...{ settings: { required: 'all' }, act: ({ approvals }) => approve(approvals), is: AT_NOT_BEFORE },
  },
  'a full quorum is submitted now': { act: decided, is: approval(2, null) },
  'a rule approves it now': {
    settings: APPROVE,
    act: ({ fixture }) => {
      fixture.answerTo = () => again(600_000);
    },
    is: approval(0, 'policy[0]'),
  },
  'documentation is named': {
    ...{ settings: { policy: 'documentation' }, act: ({ fixture }) => change(fixture, { eventSource: 'User' }) },
    is: approval(0, 'documentation'),
  },
  'a rule that has never': { settings: NEVER, is: AT_NOT_BEFORE },
  'a deadline approves it': { settings: DEADLINE, is: approval(780, 'policy[0]') },
  'a deadline that leaves it': { settings: LEAVE, is: AT_NOT_BEFORE },
  'a deadline whose rule does not cover every name': {
    settings: rule({ then: 'wait', deadline: { beforeMs: 120_000, then: 'approve' } }, { resources: ['WestNO_0'] }),
    is: AT_NOT_BEFORE,
  },
  'a deadline that was past when NotBefore moved': {
    settings: DEADLINE,
    act: ({ fixture }) => change(fixture, { notBefore: '2026-01-01T00:01:00Z' }),
    is: { ...AT_NOT_BEFORE, at: '2026-01-01T00:01:00Z' },
  },
  'a deadline while the bridge is blind': {
    settings: DEADLINE,
    act: ({ fixture }) => {
      fixture.isBlind = true;
    },
    is: AT_NOT_BEFORE,
  },
  'a deadline without NotBefore': {
    ...{ settings: DEADLINE, act: ({ fixture }) => change(fixture, { notBefore: null }), is: NOTHING },
  },
  'a hold stops a deadline': { settings: DEADLINE, act: hold, is: AT_NOT_BEFORE },
  'a hold stops a rule that has not submitted yet': {
    settings: { ...APPROVE, group: { ...LEADER, failoverAfterMs: 60_000 }, ownName: 'WestNO_1' },
    ...{ act: hold, is: AT_NOT_BEFORE },
  },
  'the end of a hold': {
    settings: DEADLINE,
    act: (opened) => {
      hold(opened);
      void opened.approvals.release(caller('billing'), KEY, null);
    },
    is: approval(780, 'policy[0]'),
  },
  'the second in a group': {
    ...{ settings: { ...APPROVE, group: LEADER, ownName: 'WestNO_1' }, is: approval(10, 'policy[0]') },
  },
  'a deadline of the second in a group': {
    ...{ settings: { ...DEADLINE, group: LEADER, ownName: 'WestNO_1' }, is: approval(790, 'policy[0]') },
  },
  'a turn after NotBefore': {
    settings: { ...DEADLINE, group: { ...LEADER, failoverAfterMs: 121_000 }, ownName: 'WestNO_1' },
    is: AT_NOT_BEFORE,
  },
  'a turn at NotBefore': {
    settings: { ...DEADLINE, group: { ...LEADER, failoverAfterMs: 120_000 }, ownName: 'WestNO_1' },
    is: approval(900, 'policy[0]'),
  },
  'a full quorum after a NotBefore at which Azure did not start it': {
    act: async (opened) => {
      change(opened.fixture, { notBefore: '2026-01-01T00:00:01Z' });
      await decided(opened);
    },
    is: approval(2, null),
  },
  'a full quorum under a rule that waits': { settings: WAIT, act: decided, is: approval(2, null) },
  'a rule while the bridge is blind': {
    settings: { ...APPROVE, group: LEADER, ownName: 'WestNO_1' },
    act: ({ fixture }) => {
      fixture.isBlind = true;
    },
    is: AT_NOT_BEFORE,
  },
  'a budget that is full again before the turn of this bridge': {
    settings: { ...ALLOTTED, group: LEADER, ownName: 'WestNO_1' },
    ...{ act: ({ fixture }) => startAnother(fixture), is: { action: 'approve', at: null, by: 'policy[0]' } },
  },
  'the same while the bridge is blind': {
    settings: { ...ALLOTTED, group: LEADER, ownName: 'WestNO_1' },
    act: ({ fixture }) => {
      startAnother(fixture);
      fixture.isBlind = true;
    },
    is: AT_NOT_BEFORE,
  },
  'the same on a machine outside the group': {
    settings: { ...ALLOTTED, group: LEADER, ownName: 'db_0' },
    ...{ act: ({ fixture }) => startAnother(fixture), is: AT_NOT_BEFORE },
  },
  'a rule with a budget that was refused is posted again a minute later': {
    settings: { ...ALLOTTED, group: LEADER, ownName: 'WestNO_1' },
    act: refusedUntil(11_000),
    is: approval(80, 'policy[0]'),
  },
  'a turn in the fourteenth opening of the windows of its rule': {
    ...{ settings: turnInOpening(14), act: ({ fixture }) => change(fixture, { notBefore: FAR }) },
    is: approval((12 * 24 + 4.5) * 3600, 'policy[0]'),
  },
  'a turn in the fifteenth opening, which is not looked for': {
    ...{ settings: turnInOpening(15), act: ({ fixture }) => change(fixture, { notBefore: FAR }) },
    is: { ...AT_NOT_BEFORE, at: FAR },
  },
  'a machine outside the group': { settings: { ...APPROVE, group: LEADER, ownName: 'db_0' }, is: AT_NOT_BEFORE },
  'a dry run of a rule': { settings: { ...APPROVE, dryRun: true }, is: AT_NOT_BEFORE },
  'a dry run of a deadline': { settings: { ...DEADLINE, dryRun: true }, is: AT_NOT_BEFORE },
  'a dry run of approvers': {
    ...{ settings: { dryRun: true }, act: ({ approvals }) => approve(approvals), is: AT_NOT_BEFORE },
  },
  'accepted by Azure': { act: ({ approvals }) => approve(approvals), is: AT_NOT_BEFORE },
  'accepted by Azure, without NotBefore': {
    act: async ({ fixture, approvals }) => {
      change(fixture, { notBefore: null });
      await approve(approvals);
    },
    is: { action: 'start', at: null, by: null },
  },
  'a rule that was refused is posted again a minute later': {
    settings: { ...APPROVE, group: LEADER, ownName: 'WestNO_1' },
    act: refusedUntil(11_000),
    is: approval(80, 'policy[0]'),
  },
  'a rule that was refused shortly before its window closes waits for the next one': {
    settings: TWO_WINDOWS,
    act: refusedUntil(31_000),
    is: approval(300, 'policy[0]'),
  },
  'the same after the window': {
    settings: TWO_WINDOWS,
    act: refusedUntil(61_000),
    is: approval(300, 'policy[0]'),
  },
  'approvers who were refused': {
    act: ({ fixture, approvals }) => {
      fixture.answerTo = () => REFUSED;
      return approve(approvals);
    },
    is: AT_NOT_BEFORE,
  },
  'without NotBefore and without an approval': {
    act: ({ fixture }) => change(fixture, { notBefore: null }),
    is: NOTHING,
  },
  'without NotBefore, under a rule that has never': {
    ...{ settings: NEVER, act: ({ fixture }) => change(fixture, { notBefore: null }), is: NOTHING },
  },
  'a recommendation, which nobody starts': { settings: APPROVE, act: ({ fixture }) => advice(fixture), is: NOTHING },
  'a Started event': { act: ({ fixture }) => change(fixture, STARTED), is: NOTHING },
  'back from Started to Scheduled': {
    settings: DEADLINE,
    act: async ({ fixture, approvals }) => {
      await approve(approvals);
      change(fixture, STARTED);
      change(fixture, { eventStatus: 'Scheduled', notBefore: NOT_BEFORE });
    },
    is: AT_NOT_BEFORE,
  },
};

for (const [title, { settings, act, is }] of Object.entries(CASES))
  test(`nextStep: ${title} (6.12)`, async (t) => {
    const fixture = new ApprovalsFixture();
    const approvals = fixture.open(settings);
    t.after(() => fixture.close(approvals));
    fixture.list(EVENT_ID, { notBefore: NOT_BEFORE });
    fixture.poll();
    await act?.({ fixture, approvals });
    assert.deepEqual(approvals.nextStep(KEY).nextStep, is);
    const record = approvals.life(KEY);
    // The store in memory has no record without an approval.
    if ('steps' in record) assert.deepEqual(record.nextStep, is, 'the same in the record');
  });

test('nextStep: a blind bridge approves drills all the same, since no document lists them (6.12)', async (t) => {
  const drill = 'drill-00000000-0000-4000-8000-000000000001';
  const windows = turnInOpening(2);
  for (const [settings, is] of [
    [windows, { action: 'approve', at: '2026-01-01T01:00:00.000Z', by: 'policy[0]' }],
    [ALLOTTED, { action: 'approve', at: null, by: 'policy[0]' }],
  ] as const) {
    const fixture = new ApprovalsFixture();
    const approvals = fixture.open(settings);
    t.after(() => fixture.close(approvals));
    fixture.list('another', { ...STARTED, resources: ['WestNO_2'] });
    fixture.list(drill, { eventStatus: 'Scheduled', notBefore: FAR, resources: ['WestNO_0', 'WestNO_1'] });
    fixture.poll();
    for (const isBlind of [false, true]) {
      fixture.isBlind = isBlind;
      assert.deepEqual(approvals.nextStep(drill).nextStep, is);
    }
  }
});
