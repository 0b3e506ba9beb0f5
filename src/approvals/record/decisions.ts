// An occurrence's approvals and the rule that governs it → the decision. Pure.
import type {
  ApprovalDecision,
  ApprovalHold,
  ApprovalState,
  ApprovalVote,
  EventApproval,
} from '../../model/approvals.ts';
import type { Instant, ScheduledEvent } from '../../model/events.ts';
import type { Governed, GovernedEvent } from '../rules/governed.ts';
import type { PolicyDecision } from '../rules/policy.ts';
import { type Quorum, quorumOf, type Rules } from '../rules/quorum.ts';
import { isPosted, moved } from './approval-state.ts';

/** Returns the quorum that `votes` give for the event in its current state. */
export function quorumOver(
  rules: Rules,
  ruling: PolicyDecision,
  event: ScheduledEvent,
  votes: readonly ApprovalVote[],
): Quorum {
  return quorumOf(
    rules,
    ruling,
    event,
    votes.map(({ approver }) => approver),
  );
}

/**
 * Returns the approvals with the current decision; the same object if nothing changed. `fellDueMs`: the deadline that
 * expires now.
 */
export function settled(
  rules: Rules,
  before: EventApproval,
  governedEvent: GovernedEvent,
  at: Instant,
  fellDueMs: number | null = null,
): EventApproval {
  const decision = decisionOf(rules, before, governedEvent, at, fellDueMs);
  const { policy } = governedEvent.governed.ruling;
  const state = isPosted(before.state) ? before.state : stateOf(rules, before.holds, decision);
  const isSame =
    isSameDecision(decision, before.decision) && policy === before.policy && rules.dryRun === before.isDryRun;
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
  governedEvent: GovernedEvent,
  at: Instant,
  fellDueMs: number | null,
): ApprovalDecision | null {
  const { votes, decision: earlier } = approval;
  const { event } = governedEvent.known;
  const { ruling, dueMs } = governedEvent.governed;
  const isSpent = !rules.dryRun && earlier?.isSpent === true;
  const due = fellDueMs ?? (isStillDue(approval, governedEvent.governed) ? dueMs : null);
  const by = decider(ruling, quorumOver(rules, ruling, event, votes).isFull, due !== null);
  if (by === null || (isSpent && by !== 'quorum')) return isSpent ? spent(earlier) : null;
  const atOnce = by === 'quorum' && votes.some(({ isShared }) => !isShared);
  const isMadeAnew = by === 'policy' && earlier?.by === 'policy' && !isOfRule(approval, ruling);
  const isNew = earlier === null || isOnlySpent(earlier, rules.dryRun) || isMadeAnew;
  return { by, at: isNew ? at : earlier.at, atOnce, dueMs: due, rule: ruling.rule, isSpent: rules.dryRun || isSpent };
}

/**
 * Compares the rule's content, because its number changes if rules are inserted before it. Earlier versions stored only
 * the number.
 */
function isOfRule({ decision, policy }: EventApproval, ruling: PolicyDecision): boolean {
  if (decision === null) return false;
  return decision.rule === null ? policy === ruling.policy : decision.rule === ruling.rule;
}

/** Whether the deadline of the governing rule has expired and the rule approves then. */
function isStillDue(approval: EventApproval, { ruling, dueMs }: Governed): boolean {
  return (
    isOfRule(approval, ruling) &&
    approval.decision?.dueMs === dueMs &&
    dueMs !== null &&
    ruling.deadline?.then === 'approve'
  );
}

/**
 * Whether the decision is only the rest of a finished dry run and decides nothing. Earlier versions kept the rule in
 * it.
 */
export function isOnlySpent({ by, isSpent }: ApprovalDecision, dryRun: boolean): boolean {
  return by === null || (isSpent && !dryRun && by !== 'quorum');
}

/** Whether the governing rule decides without approvers: it approves, or its deadline has expired. */
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

/** Returns the rest of a dry run's decision, so that no rule and no deadline decides a second time. */
export function spent(decision: ApprovalDecision): ApprovalDecision {
  return { ...decision, by: null, atOnce: false, dueMs: null };
}
