// The approvals of an event → its summary, the missing approvers, and the answers to approvers.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type GovernedEvent, govern } from '../../../../src/approvals/rules/governed.ts';
import type { PolicyOptions } from '../../../../src/approvals/rules/options.ts';
import { RulesInForce } from '../../../../src/approvals/rules/rules-in-force.ts';
import { allHeldAnswer, heldAnswer, missingOf, resultOf, summaryOf } from '../../../../src/approvals/views/result.ts';
import type { ApprovalDecision, ApprovalHold, EventApproval } from '../../../../src/model/approvals.ts';
import { EVENT_ID, momentAt, START_MS, scheduledEvent } from '../../../support/events.ts';
import { type ApprovalSettings, caller, KEY, RULES } from '../../../virtual/approvals-fixture.ts';
import { knownEvent } from '../../../virtual/outbox-fixture.ts';

const AT = '2022-04-11T22:00:00.000Z';
const EVENT = scheduledEvent();
const KNOWN = knownEvent(KEY, 1, { event: EVENT });
const BOTH = ['orders', 'billing'];

function decision(parts: Partial<ApprovalDecision>): ApprovalDecision {
  return {
    ...{ by: 'policy', at: momentAt(0), atOnce: false, dueMs: null, rule: null, isSpent: false, window: null },
    ...parts,
  };
}

function approval(parts: Partial<EventApproval>, ...approvers: readonly string[]): EventApproval {
  const votes = approvers.map((name) => ({ ...caller(name), at: momentAt(0), event: EVENT, hasSeen: false }));
  return {
    ...{ key: KEY, occurrence: 1, state: 'waiting', votes, holds: [], decision: null, policy: null },
    ...{ isDryRun: false, at: momentAt(0), ...parts },
  };
}

const HOLD: ApprovalHold = { ...caller('billing'), reason: 'a dump', at: momentAt(0), sentMs: null, replaced: null };
const HELD = { approver: 'billing', reason: 'a dump', at: AT };

function under(then: 'approve' | 'wait' | 'never' | null, settings: ApprovalSettings = {}) {
  const policy: PolicyOptions | null = then === null ? null : [{ when: {}, then }];
  const rules = new RulesInForce({ ...RULES, policy, ...settings });
  const governedEvent: GovernedEvent = { known: KNOWN, governed: govern(rules, EVENT, momentAt(0), null) };
  return { rules, governedEvent };
}

interface Case {
  readonly then: 'approve' | 'wait' | 'never' | null;
  readonly settings?: ApprovalSettings;
  readonly stored: EventApproval | null;
  readonly isStarted?: true;
  /** Fields of the summary that are not those of an event nobody has approved or holds. */
  readonly is: Partial<ReturnType<typeof summaryOf>> | null;
  readonly missing?: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  'nothing is recorded and no rule matches': { then: null, stored: null, is: null, missing: BOTH },
  'nothing is recorded and the event is Started': { then: 'wait', stored: null, isStarted: true, is: null },
  'the rule waits': {
    ...{ then: 'wait', stored: null, missing: BOTH },
    is: { state: 'waiting', policy: 'policy[0]', waitingFor: BOTH },
  },
  'the rule has never': { then: 'never', stored: null, is: null, missing: [] },
  'the rule has never, of what Azure took back': {
    ...{ then: 'never', stored: approval({ state: 'moot' }, 'orders'), is: null, missing: [] },
  },
  'the rule has never, of what Azure took back and somebody holds': {
    ...{ then: 'never', stored: approval({ state: 'moot', holds: [HOLD] }, 'orders'), missing: [] },
    is: { state: 'held', policy: 'policy[0]', holds: [HELD] },
  },
  'the rule has never, of what was accepted before': {
    ...{ then: 'never', stored: approval({ state: 'submitted', decision: decision({ by: 'quorum' }) }, 'orders') },
    ...{ is: { state: 'submitted', approvedBy: ['orders'] }, missing: [] },
  },
  'Azure took back an event whose rule waits': {
    ...{ then: 'wait', stored: approval({ state: 'moot' }, 'orders'), missing: BOTH },
    is: { state: 'waiting', policy: 'policy[0]', waitingFor: BOTH },
  },
  'one of two has approved': {
    ...{ then: 'wait', settings: { required: 'all' }, stored: approval({}, 'orders'), missing: ['billing'] },
    is: { state: 'waiting', approvedBy: ['orders'], waitingFor: ['billing'] },
  },
  'somebody holds what a rule has approved': {
    ...{ then: 'approve', stored: approval({ state: 'held', holds: [HOLD], decision: decision({}) }), missing: [] },
    is: { state: 'held', holds: [HELD] },
  },
  'somebody holds what a dry run has decided before': {
    ...{ then: 'wait', missing: BOTH },
    stored: approval({ state: 'held', holds: [HOLD], decision: decision({ by: null, isSpent: true }) }),
    is: { state: 'held', holds: [HELD], waitingFor: BOTH },
  },
  'a rule has approved it': {
    ...{ then: 'approve', stored: approval({ state: 'submitting', decision: decision({}) }), missing: [] },
    is: { state: 'submitting' },
  },
  'a dry run that is over approved it': {
    ...{ then: 'wait', stored: approval({ state: 'dry-run', decision: decision({ isSpent: true }) }), missing: BOTH },
    is: { state: 'dry-run' },
  },
  'it is Started while its StartRequest is on its way, and somebody holds it': {
    ...{ then: 'wait', stored: approval({ state: 'held', holds: [HOLD] }, 'orders'), isStarted: true },
    is: { state: 'held', approvedBy: ['orders'] },
  },
};

for (const [title, { then, settings, stored, isStarted, is, missing }] of Object.entries(CASES))
  test(`the summary: ${title}`, () => {
    const { rules, governedEvent } = under(then, settings);
    const blank = { approvedBy: [], policy: null, at: AT, waitingFor: [], holds: [] };
    assert.deepEqual(summaryOf(rules, stored, isStarted ? null : governedEvent), is && { ...blank, ...is });
    if (missing !== undefined) assert.deepEqual(missingOf(rules, stored, governedEvent), missing);
  });

test('the answer to a hold has all holds of the event, and how often a reason was replaced', () => {
  const replaced = { times: 2, sinceMs: START_MS - 60_000 };
  const ofAll: ApprovalHold = { ...HOLD, via: 'all', approver: 'orders', reason: null };
  const holds = [HOLD, { ...HOLD, replaced }, ofAll];
  assert.deepEqual(heldAnswer(KNOWN, approval({ state: 'held', holds })), {
    ...{ kind: 'held', status: 201 },
    hold: {
      eventId: EVENT_ID,
      holds: [
        HELD,
        { ...HELD, replaced: { times: 2, since: '2022-04-11T21:59:00.000Z' } },
        { approver: 'orders', reason: null, at: AT, all: true },
      ],
    },
  });
  assert.deepEqual(heldAnswer(KNOWN, null).hold, { eventId: EVENT_ID, holds: [] });
});

test('the answer to a hold of everything has no hold if that was released before it', () => {
  const hold = { by: 'orders', via: 'token', at: momentAt(0), reason: 'an incident' };
  assert.deepEqual(allHeldAnswer(hold, [EVENT_ID]), {
    ...{ kind: 'held', status: 201 },
    hold: {
      ...{ eventId: '*', submitting: [EVENT_ID] },
      holds: [{ approver: 'orders', reason: 'an incident', at: AT, all: true }],
    },
  });
  assert.deepEqual(allHeldAnswer(null, []).hold, { eventId: '*', holds: [], submitting: [] });
});

/** The answer to `orders`, who wrote the EventId in lower case. */
function answered(stored: EventApproval | null, kind: 'recordable' | 'started' = 'recordable') {
  const { rules, governedEvent } = under('wait', { required: 'all' });
  const request = { eventId: KEY, key: KEY, seen: [] };
  return resultOf(rules, 'orders', { kind, request, known: KNOWN }, stored, governedEvent);
}

test('the answer to an approver says what became of its yes', () => {
  const byQuorum = decision({ by: 'quorum' });
  const eventId = EVENT_ID;
  const approvedBy = ['orders'];
  assert.deepEqual(answered(null), { eventId, state: 'moot', approvedBy });
  assert.deepEqual(answered(null, 'started'), { eventId, state: 'started', approvedBy });
  assert.deepEqual(answered(approval({ state: 'confirmed', decision: byQuorum }, 'orders')), {
    ...{ eventId, state: 'started', approvedBy },
  });
  assert.deepEqual(answered(approval({}, 'orders')), {
    ...{ eventId, state: 'waiting', approvedBy, waitingFor: ['billing'] },
  });
  assert.deepEqual(answered(approval({ state: 'held', holds: [HOLD, { ...HOLD, via: 'all' }] }, 'orders')), {
    ...{ eventId, state: 'held', approvedBy, heldBy: ['billing'], waitingFor: ['billing'] },
  });
  assert.deepEqual(answered(approval({ state: 'held', holds: [HOLD], decision: byQuorum }, 'orders', 'billing')), {
    ...{ eventId, state: 'held', approvedBy: BOTH, heldBy: ['billing'] },
  });
  assert.deepEqual(answered(approval({ state: 'submitted', decision: byQuorum }, 'billing')), {
    ...{ eventId, state: 'submitted', approvedBy: ['billing'] },
  });
});

test('a yes that cannot lead to a start is refused with the reason, and names the event as the approver wrote it', () => {
  const refused = { kind: 'refusal', eventId: KEY };
  assert.deepEqual(answered(approval({ state: 'failed' }, 'orders')), {
    ...{ ...refused, status: 502, type: 'refused', title: 'The metadata service refused the approval' },
    detail: `The metadata service refused to start ${KEY}, which is still Scheduled; the bridge's log says why.`,
  });
  assert.deepEqual(answered(approval({}, 'billing')), {
    ...{ ...refused, status: 409, type: 'changed', title: 'The event has changed' },
    detail: `The event ${KEY} got worse before it could be submitted, so the approval is void. Check it again.`,
  });
});
