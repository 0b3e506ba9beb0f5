// rankOf and turnMs: who of a group posts, and when.
import assert from 'node:assert/strict';
import test from 'node:test';
import { inWindowMs, rankOf, type TurnContext, turnMs } from '../../../../src/approvals/rules/group-order.ts';
import type { GroupOptions } from '../../../../src/approvals/rules/options.ts';
import type { ApprovalDecision, EventApproval } from '../../../../src/model/approvals.ts';
import type { Instant } from '../../../../src/model/events.ts';
import { momentAt, START_MS, scheduledEvent } from '../../../support/events.ts';

const EVENT = scheduledEvent({ resources: ['b_10', 'B_2', 'a_9', 'A_9'] });
const LEADER: GroupOptions = { submit: 'leader', failoverAfterMs: 10_000, members: ['z_0', 'A_9', 'c_0', 'Z_0'] };

test('rank is the place among the distinct names, sorted in lower case; then come the members that are not named, in their order', () => {
  const ranks = ['A_9', 'b_10', 'b_2', 'Z_0', 'C_0', 'elsewhere'].map((name) => rankOf(EVENT, name, LEADER.members));
  assert.deepEqual(ranks, [0, 1, 2, 3, 4, null]);
});

test('while the own name is unknown there is no rank; an event that names nobody is for the members', () => {
  assert.equal(rankOf(EVENT, null, LEADER.members), null);
  assert.equal(rankOf({ resources: [] }, 'c_0', LEADER.members), 2);
  assert.equal(rankOf({ resources: [] }, 'c_0', []), null);
});

/** Milliseconds to the turn of a VM, 3 s after the approvals became what they are. */
function turn(
  ownName: string,
  more: { decision?: Partial<ApprovalDecision> | null; since?: Instant } & Partial<TurnContext> = {},
) {
  const { decision = {}, since = momentAt(0), ...context } = more;
  const decided = decision && {
    by: 'policy' as const,
    at: since,
    atOnce: false,
    dueMs: null,
    rule: null,
    isSpent: false,
    window: null,
    ...decision,
  };
  const approval: EventApproval = {
    ...{ key: 'a', occurrence: 1, state: 'submitting', votes: [], holds: [] },
    ...{ decision: decided, policy: 'documentation', isDryRun: false, at: since },
  };
  return turnMs(approval, EVENT, { group: LEADER, ownName, startedAt: momentAt(0), at: momentAt(3000), ...context });
}

test('rank n waits n times failoverAfter from when it may be posted; others never post', () => {
  assert.deepEqual(
    ['a_9', 'b_10', 'b_2', 'elsewhere'].map((name) => turn(name)),
    [0, 7000, 17_000, null],
  );
  assert.equal(turn('b_10', { at: momentAt(60_000) }), 0);
});

test('with submit every, and for what an approver asked of this bridge, it is its turn at once', () => {
  assert.equal(turn('elsewhere', { group: { ...LEADER, submit: 'every' } }), 0);
  assert.equal(turn('elsewhere', { decision: { atOnce: true } }), 0);
});

test('what is not decided, and an event that is not known, has no turn', () => {
  assert.equal(turn('a_9', { decision: null }), null);
  const decision: ApprovalDecision = {
    by: 'policy',
    at: momentAt(0),
    atOnce: false,
    dueMs: null,
    rule: null,
    isSpent: false,
    window: null,
  };
  const context = { group: LEADER, ownName: 'a_9', startedAt: momentAt(0), at: momentAt(0) };
  const approval = {
    key: 'a',
    occurrence: 1,
    state: 'submitting',
    votes: [],
    holds: [],
    decision,
    policy: null,
  } as const;
  assert.equal(turnMs({ ...approval, isDryRun: false, at: momentAt(0) }, null, context), null);
});

test('the wait continues after restarts by the wall clock; if that was set back, it is no longer than from the start', () => {
  const before = (ms: number): Instant => ({ wallMs: START_MS + ms, elapsedMs: null });
  assert.equal(turn('b_10', { since: before(-4000) }), 3000);
  assert.equal(turn('b_10', { since: before(3_600_000) }), 7000, '3 s of this process count');
});

test('in a window the turn comes no earlier than it opens, and never if it closes first', () => {
  const window = { window: 'nights', fromMs: START_MS + 5000, untilMs: START_MS + 9000, momentMs: START_MS + 5000 };
  const at = momentAt(2000);
  assert.deepEqual(
    [0, 3000, 4000, 6999, 7000, null].map((ms) => inWindowMs(window, ms, at)),
    [3000, 3000, 4000, 6999, null, null],
  );
  assert.deepEqual([inWindowMs(null, 7000, at), inWindowMs(null, null, at)], [7000, null]);
  assert.equal(inWindowMs(window, 0, momentAt(9000)), null);
});

test('a decision that is made after the opening of its window counts the time since then, unless a hold was released later', () => {
  const window = { window: 'nights', fromMs: START_MS - 4000, untilMs: START_MS + 60_000, momentMs: START_MS - 4000 };
  assert.equal(turn('b_10', { decision: { window } }), 3000);
  assert.equal(turn('b_10', { decision: { window, at: momentAt(-1000) } }), 7000);
  assert.equal(turn('b_10', { decision: { window: { ...window, momentMs: START_MS + 1000 } } }), 7000);
});
