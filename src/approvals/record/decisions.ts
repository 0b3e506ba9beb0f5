// What stands of an occurrence's approvals, and its rule → the decision that this makes. Pure.

import type { ApprovalDecision, ApprovalHold, ApprovalState, ApprovalVote, EventApproval } from '../../model/approvals.ts';
import type { Instant, ScheduledEvent } from '../../model/events.ts';
import type { Governed, GovernedEvent } from '../rules/governed-events.ts';
import type { PolicyDecision } from '../rules/policy.ts';
import { type Quorum, quorumOf, type Rules } from '../rules/quorum.ts';
import { isPosted, moved } from './approval-state.ts';

/** The quorum over `votes` for the event as it is. */
export function quorumOver(rules: Rules, ruling: PolicyDecision, event: ScheduledEvent, votes: readonly ApprovalVote[]): Quorum {
  return quorumOf(
    rules,
    ruling,
    event,
    votes.map(({ approver }) => approver),
  );
}

/** Decides by what stands now; the same object where nothing changed. `fellDueMs`: the deadline that falls due at this moment. */
export function settled(
  rules: Rules,
  before: EventApproval,
  matter: GovernedEvent,
  at: Instant,
  fellDueMs: number | null = null,
): EventApproval {
  const decision = decisionOf(rules, before, matter, at, fellDueMs);
  const { policy } = matter.governed.ruling;
  const state = isPosted(before.state) ? before.state : stateOf(rules, before.holds, decision);
  const isSame = isSameDecision(decision, before.decision) && policy === before.policy && rules.dryRun === before.isDryRun;
  return moved(isSame ? before : { ...before, decision, policy, isDryRun: rules.dryRun }, state, at);
}

function stateOf({ dryRun }: Rules, holds: readonly ApprovalHold[], decision: ApprovalDecision | null): ApprovalState {
  if (holds.length > 0) return 'held';
  if (decision === null || isOnlySpent(decision, dryRun)) return 'waiting';
  return dryRun ? 'dry-run' : 'submitting';
}

function decisionOf(
  rules: Rules,
  approval: EventApproval,
  matter: GovernedEvent,
  at: Instant,
  fellDueMs: number | null,
): ApprovalDecision | null {
  const { votes, decision: earlier } = approval;
  const { event } = matter.known;
  const { ruling, dueMs } = matter.governed;
  const isSpent = !rules.dryRun && earlier?.isSpent === true;
  const due = fellDueMs ?? (isStillDue(approval, matter.governed) ? dueMs : null);
  const by = decider(ruling, quorumOver(rules, ruling, event, votes).isFull, due !== null);
  if (by === null || (isSpent && by !== 'quorum')) return isSpent ? spent(earlier) : null;
  const atOnce = by === 'quorum' && votes.some(({ isShared }) => !isShared);
  const isMadeAnew = by === 'policy' && earlier?.by === 'policy' && !isOfRule(approval, ruling);
  const isNew = earlier === null || isOnlySpent(earlier, rules.dryRun) || isMadeAnew;
  return { by, at: isNew ? at : earlier.at, atOnce, dueMs: due, rule: ruling.rule, isSpent: rules.dryRun || isSpent };
}

/** A decision belongs to the content of its rule, whose number moves where others come before it. Earlier versions kept the number alone. */
function isOfRule({ decision, policy }: EventApproval, ruling: PolicyDecision): boolean {
  if (decision === null) return false;
  return decision.rule === null ? policy === ruling.policy : decision.rule === ruling.rule;
}

/** The deadline of the rule that governs fell due, and it says to approve. */
function isStillDue(approval: EventApproval, { ruling, dueMs }: Governed): boolean {
  return isOfRule(approval, ruling) && approval.decision?.dueMs === dueMs && dueMs !== null && ruling.deadline?.then === 'approve';
}

/** What is left of a dry run's decision once that is over: nothing that decides. Earlier versions kept the rule in it. */
export function isOnlySpent({ by, isSpent }: ApprovalDecision, dryRun: boolean): boolean {
  return by === null || (isSpent && !dryRun && by !== 'quorum');
}

/** Whether the rule that governs would decide it without the approvers: it approves, or its deadline fell due. */
export function isDecidedByRule(approval: EventApproval, governed: Governed): boolean {
  return governed.ruling.then === 'approve' || isStillDue(approval, governed);
}

function decider({ then }: PolicyDecision, isFull: boolean, isDue: boolean): ApprovalDecision['by'] {
  if (isFull) return 'quorum';
  if (then === 'approve') return 'policy';
  return isDue ? 'deadline' : null;
}

function isSameDecision(one: ApprovalDecision | null, other: ApprovalDecision | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.by === other.by &&
    one.atOnce === other.atOnce &&
    one.dueMs === other.dueMs &&
    one.rule === other.rule &&
    one.isSpent === other.isSpent
  );
}

/** What is left of a dry run's decision: no rule and no deadline decides once more. */
export function spent(decision: ApprovalDecision): ApprovalDecision {
  return { ...decision, by: null, atOnce: false, dueMs: null };
}
