// An occurrence's approvals and the rule that governs it → the decision. Pure.
import type {
  ApprovalDecision,
  ApprovalHold,
  ApprovalState,
  ApprovalVote,
  ApprovalWindow,
  EventApproval,
} from '../../model/approvals.ts';
import type { Instant, ScheduledEvent } from '../../model/events.ts';
import { approvesAt, type Governed, type GovernedEvent } from '../rules/governed.ts';
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

interface Settling {
  /** The deadline that expires now. Default: null. */
  readonly fellDueMs?: number | null;
  /** Whether the decision of a rule with budgets fits them now. Default: only if it has been made already. */
  readonly isAllotted?: boolean;
}

/** Returns the approvals with the current decision; the same object if nothing changed. */
export function settled(
  rules: Rules,
  before: EventApproval,
  governedEvent: GovernedEvent,
  at: Instant,
  settling: Settling = {},
): EventApproval {
  const decision = decisionOf(rules, before, governedEvent, at, settling);
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
  { fellDueMs = null, isAllotted = isAllottedAlready(approval) }: Settling,
): ApprovalDecision | null {
  const { votes, decision: earlier } = approval;
  const { event } = governedEvent.known;
  const { governed } = governedEvent;
  const { ruling, dueMs } = governed;
  const isSpent = !rules.dryRun && earlier?.isSpent === true;
  const due = fellDueMs ?? (isStillDue(approval, governed) ? dueMs : null);
  const by = decider(governed, quorumOver(rules, ruling, event, votes).isFull, due !== null, at);
  if (by === null || (isSpent && by !== 'quorum')) return isSpent ? spent(earlier) : null;
  if (by !== 'quorum' && ruling.budgets.length > 0 && !isAllotted)
    return due === null ? null : deferred(due, ruling, at);
  const atOnce = by === 'quorum' && votes.some(({ isShared }) => !isShared);
  const isMadeAnew = by === 'policy' && earlier?.by === 'policy' && !isOfRule(approval, ruling);
  const isNew = earlier === null || isOnlySpent(earlier, rules.dryRun) || isMadeAnew;
  return {
    ...{ by, at: isNew ? at : earlier.at, atOnce, dueMs: due, rule: ruling.rule, isSpent: rules.dryRun || isSpent },
    window: by === 'policy' ? windowOf(governed, isNew ? null : earlier.window, at) : null,
  };
}

/** A decision of a rule that counts in its budgets, and under no hold. `Allotments` takes it back if it stops fitting. */
export function isAllottedAlready({ state, decision, holds }: EventApproval): boolean {
  const isOfRule = decision?.by === 'policy' || decision?.by === 'deadline';
  return isOfRule && holds.length === 0 && (state === 'submitting' || state === 'dry-run');
}

/** The deadline has expired, and a budget holds the approval back. */
function deferred(dueMs: number, { rule }: PolicyDecision, at: Instant): ApprovalDecision {
  return { by: null, at, atOnce: false, dueMs, rule, isSpent: false, window: null };
}

/** The moment is the opening if the rule already governed the event then, so it is the same on each bridge of a group. */
function windowOf(
  { ruling, opening, since }: Governed,
  earlier: ApprovalWindow | null,
  at: Instant,
): ApprovalWindow | null {
  if (opening === null) return null;
  const { window, fromMs, untilMs } = opening;
  if (earlier?.fromMs === fromMs) return { ...earlier, window, untilMs };
  const isAwaited = since.wallMs < fromMs && ruling.budgets.length === 0;
  return { window, fromMs, untilMs, momentMs: isAwaited ? fromMs : at.wallMs };
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

/** Whether the governing rule decides without approvers: it approves now, or its deadline has expired. */
export function isDecidedByRule(approval: EventApproval, governed: Governed, at: Instant): boolean {
  return approvesAt(governed, at.wallMs) || isStillDue(approval, governed);
}

function decider(governed: Governed, isFull: boolean, isDue: boolean, at: Instant): ApprovalDecision['by'] {
  if (isFull) return 'quorum';
  if (approvesAt(governed, at.wallMs)) return 'policy';
  return isDue ? 'deadline' : null;
}

function isSameDecision(one: ApprovalDecision | null, other: ApprovalDecision | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.by === other.by &&
    one.atOnce === other.atOnce &&
    one.dueMs === other.dueMs &&
    one.rule === other.rule &&
    one.isSpent === other.isSpent &&
    isSameWindow(one.window, other.window)
  );
}

function isSameWindow(one: ApprovalWindow | null, other: ApprovalWindow | null): boolean {
  if (one === null || other === null) return one === other;
  return one.window === other.window && one.fromMs === other.fromMs && one.untilMs === other.untilMs;
}

/** Returns the rest of a dry run's decision, so that no rule and no deadline decides a second time. */
export function spent(decision: ApprovalDecision): ApprovalDecision {
  return { ...decision, by: null, atOnce: false, dueMs: null, window: null };
}
