// An occurrence's approvals + a command, deadline or new content → its new approvals. Pure.
import type { ApprovalHold, ApprovalVote, EventApproval } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import { isSameOwner } from '../../model/hold-owner.ts';
import { hasWorsened } from '../../model/worsened.ts';
import { approvesAt, type GovernedEvent, isPast } from '../rules/governed.ts';
import { isOnlyAdvice } from '../rules/policy.ts';
import { ineligibilityOf, type Rules } from '../rules/quorum.ts';
import { isAlive, isOpen, isPassedBy, isPosted, isUnsettled, moved, type PassedBy } from './approval-state.ts';
import { isAllottedAlready, isDecidedByRule, settled, spent } from './decisions.ts';

/** Adds a vote, or reopens a refused approval. Returns the same object if there is nothing to record. */
export function withVote(
  rules: Rules,
  approval: EventApproval | null,
  governedEvent: GovernedEvent,
  said: Omit<ApprovalVote, 'at' | 'event'>,
  at: Instant,
): EventApproval {
  const standing = standingOf(rules, approval, governedEvent.known, at);
  const earlier = standing.votes.find(({ approver }) => approver === said.approver);
  // Only this bridge received the new vote, but every bridge received the earlier one.
  const isNearer = earlier?.isShared === true && !said.isShared;
  const isNewlySeen = earlier?.hasSeen === false && said.hasSeen;
  const hasFailed = standing.state === 'failed';
  if (earlier && !isNearer && !isNewlySeen && !hasFailed) return standing;
  // A repeated vote on a refused approval is a new vote, for the current content of the event.
  const vote =
    earlier && !hasFailed
      ? {
          ...(isNearer ? said : earlier),
          hasSeen: earlier.hasSeen || said.hasSeen,
          at: earlier.at,
          event: earlier.event,
        }
      : { ...said, at, event: governedEvent.known.event };
  const votes = earlier ? standing.votes.map((each) => (each === earlier ? vote : each)) : [...standing.votes, vote];
  if (isPosted(standing.state)) return { ...standing, votes };
  return settled(rules, { ...standing, votes }, governedEvent, at);
}

/**
 * Sets a hold, or replaces the reason of the hold that its owner already has. Returns the same object if nothing
 * changed.
 */
export function withHold(
  rules: Rules,
  approval: EventApproval | null,
  governedEvent: GovernedEvent,
  hold: ApprovalHold,
): EventApproval {
  const standing = standingOf(rules, approval, governedEvent.known, hold.at);
  const earlier = standing.holds.find((each) => isSameOwner(each, hold));
  if (standing === approval && earlier?.reason === hold.reason && earlier.via === hold.via) return approval;
  const holds = earlier
    ? standing.holds.map((each) => (each === earlier ? inPlaceOf(earlier, hold) : each))
    : [...standing.holds, hold];
  return withHolds(rules, { ...standing, holds }, governedEvent, hold.at);
}

function inPlaceOf({ replaced, at }: ApprovalHold, hold: ApprovalHold): ApprovalHold {
  return { ...hold, replaced: { times: (replaced?.times ?? 0) + 1, sinceMs: replaced?.sinceMs ?? at.wallMs } };
}

/** Releases holds. After the last one, the decision of an expired deadline stands only if NotBefore is still ahead. */
export function withoutHolds(
  rules: Rules,
  approval: EventApproval,
  governedEvent: GovernedEvent,
  isReleased: (hold: ApprovalHold) => boolean,
  at: Instant,
): EventApproval {
  const standing = standingOf(rules, approval, governedEvent.known, at);
  const holds = standing.holds.filter((hold) => !isReleased(hold));
  const isTooLate =
    holds.length === 0 && standing.decision?.by === 'deadline' && isPast(governedEvent.known.event, at.wallMs);
  return withHolds(rules, { ...standing, holds, ...(isTooLate && { decision: null }) }, governedEvent, at);
}

/** A refused approval is reopened only by a vote or a rule, not by the release of a hold. */
function withHolds(rules: Rules, approval: EventApproval, governedEvent: GovernedEvent, at: Instant): EventApproval {
  return approval.state === 'failed' ? approval : settled(rules, approval, governedEvent, at);
}

/**
 * Applies an expired deadline that approves. Returns `approval` unchanged if it is closed or has a decision, even one
 * of a dry run.
 */
export function withDeadline(
  rules: Rules,
  approval: EventApproval | null,
  governedEvent: GovernedEvent,
  at: Instant,
): EventApproval | null {
  const standing = standingOf(rules, approval, governedEvent.known, at);
  if (standing.decision !== null || (standing.state !== 'waiting' && standing.state !== 'held')) return approval;
  return settled(rules, standing, governedEvent, at, { fellDueMs: governedEvent.governed.dueMs });
}

/**
 * Returns the approvals once the decision of the rule fits its budgets. Null if the rule decides nothing now: a hold
 * stands, it is decided or refused already, or its time has not come.
 */
export function withAllotment(
  rules: Rules,
  approval: EventApproval | null,
  governedEvent: GovernedEvent,
  at: Instant,
): EventApproval | null {
  const { known, governed } = governedEvent;
  if (governed.ruling.budgets.length === 0 || isOnlyAdvice(known.event)) return null;
  if (!approvesAt(governed, at.wallMs) && isPast(known.event, at.wallMs)) return null;
  const standing = standingOf(rules, approval, known, at);
  if (standing.state !== 'waiting') return null;
  const after = settled(rules, standing, governedEvent, at, { isAllotted: true });
  return after.state === 'waiting' ? null : after;
}

/**
 * Returns the approvals without the decision of a rule with budgets, which waits until it fits again. Null if there is
 * no such decision that is still to be posted.
 */
export function withoutAllotment(
  rules: Rules,
  approval: EventApproval,
  governedEvent: GovernedEvent,
  at: Instant,
): EventApproval | null {
  if (governedEvent.governed.ruling.budgets.length === 0 || approval.state !== 'submitting') return null;
  if (!isAllottedAlready(approval)) return null;
  const after = settled(rules, approval, governedEvent, at, { isAllotted: false });
  return after.state === 'waiting' ? after : null;
}

/** Returns the approvals when the window that the event waits for has opened, if its rule decides then. */
export function whenOpened(
  rules: Rules,
  approval: EventApproval | null,
  governedEvent: GovernedEvent,
  at: Instant,
): EventApproval {
  return settled(rules, standingOf(rules, approval, governedEvent.known, at), governedEvent, at, { isAllotted: true });
}

/** Whether a valid decision exists, so that a deadline has nothing to decide. */
export function stands(approval: EventApproval | null): boolean {
  if (approval === null || approval.decision === null) return false;
  return approval.state !== 'waiting' && approval.state !== 'failed' && !isPassedBy(approval.state);
}

interface Review {
  /** The same object if nothing changed. */
  readonly approval: EventApproval | null;
  /** Votes that no longer lead to a StartRequest and were not reported yet. */
  readonly voided: readonly VoidVote[];
}

/**
 * `changed`: the event got worse, or the approver may no longer approve it. `dry-run`: a dry run took the vote over and
 * never posts it.
 */
export interface VoidVote {
  readonly vote: ApprovalVote;
  readonly reason: 'changed' | 'dry-run';
}

/** Checks the approvals against the current event and rules: votes may become void, and rules decide again. */
export function review(
  rules: Rules,
  approval: EventApproval | null,
  governedEvent: GovernedEvent,
  at: Instant,
): Review {
  const { known, governed } = governedEvent;
  if (approval?.state === 'confirmed') return { approval: moved(approval, 'submitted', at), voided: [] };
  if (approval?.state === 'submitted') return { approval, voided: [] };
  if (approval === null || !isAlive(rules, approval)) {
    const fresh = approvesAt(governed, at.wallMs)
      ? settled(rules, standingOf(rules, approval, known, at), governedEvent, at)
      : null;
    return { approval: fresh?.state === 'waiting' ? approval : (fresh ?? approval), voided: [] };
  }
  if (approval.state === 'dry-run') return { approval, voided: [] };
  const isStanding = (vote: ApprovalVote) =>
    !hasWorsened(vote.event, known.event) &&
    ineligibilityOf(rules, governed.ruling, vote.approver, known.event) === null;
  const votes = approval.votes.filter(isStanding);
  const hasFailed = approval.state === 'failed';
  // The failure has been reported to the approvers already; a rule decides again.
  const voided = hasFailed ? [] : voidIn(rules, approval, isStanding);
  const rest = votes.length === approval.votes.length ? approval : { ...approval, votes };
  const isOfApprovers = approval.decision?.by === 'quorum' && !isDecidedByRule(approval, governed, at);
  if (hasFailed && votes.length > 0 && isOfApprovers) return { approval: rest, voided };
  return { approval: settled(rules, rest, governedEvent, at), voided };
}

function voidIn(
  rules: Rules,
  approval: EventApproval,
  isStanding: (vote: ApprovalVote) => boolean,
): readonly VoidVote[] {
  const isTakenAlong = rules.dryRun && !approval.isDryRun;
  return approval.votes.flatMap((vote): VoidVote[] => {
    if (!isStanding(vote)) return [{ vote, reason: 'changed' }];
    return isTakenAlong ? [{ vote, reason: 'dry-run' }] : [];
  });
}

/** Applies the start of the event: confirms submitted approvals, closes open ones. */
export function begun(approval: EventApproval, at: Instant, passedBy: PassedBy): EventApproval {
  return approval.state === 'submitted' ? moved(approval, 'confirmed', at) : closed(approval, at, passedBy);
}

/**
 * The event ended: what was not submitted never will be. What was refused or part of a dry run stays so, unless it may
 * have been accepted.
 */
export function closed(approval: EventApproval, at: Instant, passedBy: PassedBy): EventApproval {
  const isClosed = passedBy === 'unknown' ? isUnsettled(approval) : isOpen(approval);
  return isClosed ? moved(approval, passedBy, at) : approval;
}

/** Returns the approvals to extend. If they are new, they keep the holds and the rest of a dry run's decision. */
function standingOf(
  rules: Rules,
  approval: EventApproval | null,
  { key, occurrence }: GovernedEvent['known'],
  at: Instant,
): EventApproval {
  if (approval !== null && isAlive(rules, approval)) return approval;
  const { holds = [], decision = null } = approval ?? {};
  const mark = decision?.isSpent ? spent(decision) : null;
  return {
    key,
    occurrence,
    state: 'waiting',
    votes: [],
    holds,
    decision: mark,
    policy: null,
    isDryRun: rules.dryRun,
    at,
  };
}
