// Events of GET /v1/events → one plain line each: what happens if nobody acts.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type NextStepEvent, nextStepLine } from '../../../src/model/next-step.ts';

const AT = '2026-01-01T00:15:00Z';
const START = { action: 'start', at: AT, by: null } as const;
const APPROVE = { action: 'approve', at: '2026-01-01T00:13:00.250Z', by: 'policy[1]' } as const;
const NOTHING = { action: null, at: null, by: null } as const;
const WAITS = { policy: 'policy[1]', then: 'wait', waitingFor: [] } as const;
const BOTH = { ...WAITS, waitingFor: ['orders', 'billing'] } as const;
const WAITING = { state: 'waiting', approvedBy: [], holds: [] } as const;
const NIGHTS = { name: 'nights', opensAt: '2026-11-24T21:00:00Z', closesAt: '2026-11-25T04:00:00Z' } as const;
const AT_NIGHT = { policy: 'policy[0]', then: 'approve', waitingFor: ['orders'], window: NIGHTS } as const;
const IN_WINDOW = { action: 'approve', at: '2026-11-24T21:00:00.000Z', by: 'policy[0]' } as const;
const HELD_BACK = { action: 'approve', at: null, by: 'policy[0]' } as const;
const NIGHTS_LINE = 'window nights from 2026-11-24T21:00:00Z until 2026-11-25T04:00:00Z';
const EVENT: NextStepEvent = {
  ...{ eventId: 'A', eventStatus: 'Scheduled', nextStep: START },
  ...{ rule: { policy: null, then: 'wait', waitingFor: [] }, approval: null },
};

const CASES: readonly (readonly [Partial<NextStepEvent>, string, { dryRun?: boolean; isBlind?: boolean }?])[] = [
  [{}, `left to Azure, which starts it at ${AT}`],
  [{ rule: BOTH }, `waits for: orders, billing; if nobody acts: left to Azure, which starts it at ${AT}`],
  [{ nextStep: NOTHING }, 'left to Azure, which starts it at any time'],
  [{ eventStatus: 'Started', nextStep: NOTHING, rule: null }, 'started'],
  [
    { approval: WAITING, rule: BOTH, nextStep: APPROVE },
    'waits for: orders, billing; if nobody acts: approved by policy[1] at 2026-01-01T00:13:00Z',
  ],
  [
    { approval: { ...WAITING, approvedBy: ['orders'] }, rule: { ...BOTH, waitingFor: ['billing'] } },
    `approved by orders; waits for: billing; if nobody acts: left to Azure, which starts it at ${AT}`,
  ],
  [
    { approval: { ...WAITING, approvedBy: ['orders'] }, rule: { ...BOTH, waitingFor: ['billing'] }, nextStep: APPROVE },
    'approved by orders; waits for: billing; if nobody acts: approved by policy[1] at 2026-01-01T00:13:00Z',
  ],
  [
    { approval: { ...WAITING, state: 'held', holds: [{ approver: 'ops', reason: 'export runs' }] } },
    `held by ops: export runs; if nobody acts: left to Azure, which starts it at ${AT}`,
  ],
  [
    { approval: { ...WAITING, state: 'held', holds: [{ approver: 'ops', reason: null, all: true }] } },
    `everything is held by ops; if nobody acts: left to Azure, which starts it at ${AT}`,
  ],
  [
    { rule: { policy: 'policy[0]', then: 'never', waitingFor: [] } },
    `never approved by this bridge (policy[0]); left to Azure, which starts it at ${AT}`,
  ],
  [
    { approval: { ...WAITING, state: 'submitting' }, rule: WAITS, nextStep: APPROVE },
    'approved by policy[1]; submitted to Azure at 2026-01-01T00:13:00Z',
  ],
  [
    {
      approval: { ...WAITING, state: 'submitting', approvedBy: ['orders'] },
      nextStep: { ...APPROVE, by: null },
    },
    'approved by orders; submitted to Azure at 2026-01-01T00:13:00Z',
  ],
  [
    { approval: { ...WAITING, state: 'submitting' }, rule: { policy: 'policy[2]', then: 'approve', waitingFor: [] } },
    `approved by policy[2]; another machine of the group submits it; left to Azure, which starts it at ${AT}`,
  ],
  [
    { approval: { ...WAITING, state: 'submitted', approvedBy: ['orders'] } },
    'approved by orders; accepted by Azure, which may start it at any time',
  ],
  [
    { approval: { ...WAITING, state: 'failed', approvedBy: ['orders'] } },
    `the metadata service rejected the approval; approved by orders; left to Azure, which starts it at ${AT}`,
  ],
  [
    { approval: { ...WAITING, state: 'failed' }, rule: WAITS, nextStep: APPROVE },
    'the metadata service rejected the approval; if nobody acts: approved by policy[1] at 2026-01-01T00:13:00Z',
  ],
  [
    { approval: { ...WAITING, state: 'dry-run', approvedBy: ['orders'] } },
    `dry run: this bridge submits nothing; approved by orders; left to Azure, which starts it at ${AT}`,
    { dryRun: true },
  ],
  [
    { approval: { ...WAITING, state: 'submitting' }, rule: WAITS },
    `this bridge is blind and submits nothing; approved by policy[1]; left to Azure, which starts it at ${AT}`,
    { isBlind: true },
  ],
  [
    { rule: { policy: null, then: 'never', waitingFor: [] }, nextStep: NOTHING },
    'a recommendation only: there is nothing to approve',
  ],
  [
    { rule: AT_NIGHT, nextStep: IN_WINDOW, heldBackBy: [] },
    'waits for the window nights; if nobody acts: approved by policy[0] at 2026-11-24T21:00:00Z',
  ],
  [
    { approval: { ...WAITING, approvedBy: ['orders'] }, rule: AT_NIGHT, nextStep: IN_WINDOW },
    'approved by orders; waits for the window nights; if nobody acts: approved by policy[0] at 2026-11-24T21:00:00Z',
  ],
  [
    { approval: { ...WAITING, state: 'failed' }, rule: AT_NIGHT, nextStep: IN_WINDOW },
    'the metadata service rejected the approval; waits for the window nights; if nobody acts: approved by policy[0] at 2026-11-24T21:00:00Z',
  ],
  // The window is open: the bridge repeats what the metadata service has rejected.
  [
    {
      approval: { ...WAITING, state: 'failed' },
      ...{ rule: AT_NIGHT, nextStep: { ...IN_WINDOW, at: '2026-11-24T22:10:00.000Z' } },
    },
    `the metadata service rejected the approval; ${NIGHTS_LINE}; if nobody acts: approved by policy[0] at 2026-11-24T22:10:00Z`,
  ],
  [
    { approval: { ...WAITING, state: 'submitting' }, rule: AT_NIGHT, nextStep: IN_WINDOW },
    'approved by policy[0]; submitted to Azure at 2026-11-24T21:00:00Z',
  ],
  [
    {
      approval: { ...WAITING, state: 'held', holds: [{ approver: 'ops', reason: 'export runs' }] },
      rule: { ...AT_NIGHT, waitingFor: [] },
    },
    `held by ops: export runs; ${NIGHTS_LINE}; if nobody acts: left to Azure, which starts it at ${AT}`,
  ],
  [
    { rule: { ...AT_NIGHT, waitingFor: [] } },
    `this bridge is blind and submits nothing; ${NIGHTS_LINE}; left to Azure, which starts it at ${AT}`,
    { isBlind: true },
  ],
  [
    { rule: { ...AT_NIGHT, waitingFor: [] } },
    `dry run: this bridge submits nothing; ${NIGHTS_LINE}; left to Azure, which starts it at ${AT}`,
    { dryRun: true },
  ],
  [
    { rule: { ...AT_NIGHT, then: 'wait', window: null } },
    `waits for: orders; if nobody acts: left to Azure, which starts it at ${AT}`,
  ],
  [
    { rule: { ...AT_NIGHT, window: null }, nextStep: HELD_BACK, heldBackBy: ['databases'] },
    'held back by the budget databases; if nobody acts: approved by policy[0] as soon as it fits',
  ],
  [
    { rule: AT_NIGHT, nextStep: HELD_BACK, heldBackBy: ['databases', 'all'] },
    'held back by the budgets databases, all; if nobody acts: approved by policy[0] as soon as it fits in the window nights (until 2026-11-25T04:00:00Z)',
  ],
  [
    {
      approval: { ...WAITING, state: 'held', holds: [{ approver: 'ops', reason: null }] },
      ...{ rule: { ...WAITS, window: null }, heldBackBy: ['databases'] },
    },
    `held by ops; held back by the budget databases; if nobody acts: left to Azure, which starts it at ${AT}`,
  ],
  [
    { rule: { ...AT_NIGHT, window: null, during: ['nights'] } },
    `waits for: orders; no window of policy[0] opens before NotBefore; if nobody acts: left to Azure, which starts it at ${AT}`,
  ],
  [
    { rule: { ...AT_NIGHT, then: 'wait', window: null, during: ['nights'] } },
    `waits for: orders; no window of policy[0] opens before NotBefore; if nobody acts: left to Azure, which starts it at ${AT}`,
  ],
  // A bridge before 0.3.0 sends neither `window` nor `heldBackBy`.
  [
    { rule: { policy: 'policy[0]', then: 'approve', waitingFor: ['orders'] }, nextStep: IN_WINDOW },
    'if nobody acts: approved by policy[0] at 2026-11-24T21:00:00Z',
  ],
  [{ eventId: 'drill-b7cf3c25-632b-4924-809d-3fb64afebede' }, `the drill starts at ${AT}`],
];

for (const [event, line, { dryRun = false, isBlind = false } = {}] of CASES)
  test(`"${line}"`, () => {
    assert.equal(nextStepLine({ ...EVENT, ...event }, { dryRun, isBlind }), line);
  });
