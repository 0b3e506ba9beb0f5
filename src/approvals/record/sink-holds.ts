// Votes of sinks, their deliveries, void votes → the holds of sinks (behaviour 10.6).
import type { ApprovalHold, ApprovalOrigin, EventApproval } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import { isSameOwner, sinkOf, viaSink } from '../../model/hold-owner.ts';
import type { GovernedEvent } from '../rules/governed.ts';
import { isOnlyAdvice } from '../rules/policy.ts';
import type { Rules } from '../rules/quorum.ts';
import type { HoldingSinks } from '../rules/rules-in-force.ts';
import { isAlive, isPosted } from './approval-state.ts';
import { withHold, withoutHolds, withVote } from './transitions.ts';

interface SinkHoldFacts {
  readonly holdingSinks: HoldingSinks;
  /** Sinks that hold the event from the current change on. */
  readonly preparing: readonly string[];
  readonly wasSent: (sink: string) => boolean;
  /** Null if that is not known yet. */
  readonly actsOn: (sink: string) => boolean | null;
}

/**
 * Applies a finished preparation: adds a vote of the approver of the sink, who has seen the event, and releases the
 * hold of the sink.
 */
export function withPrepared(
  rules: Rules,
  approval: EventApproval | null,
  governedEvent: GovernedEvent,
  origin: ApprovalOrigin,
  at: Instant,
): EventApproval {
  const voted = withVote(rules, approval, governedEvent, { ...origin, hasSeen: true }, at);
  const isOwn = (hold: ApprovalHold) => isSameOwner(hold, origin);
  return voted.holds.some(isOwn) ? withoutHolds(rules, voted, governedEvent, isOwn, at) : voted;
}

/**
 * Returns the approvals with the current holds of sinks. Submitted approvals can no longer be held.
 * @param approvals `after`: the result of the review of `before`
 */
export function withSinkHolds(
  rules: Rules,
  { before, after }: { readonly before: EventApproval | null; readonly after: EventApproval | null },
  governedEvent: GovernedEvent,
  { holdingSinks, preparing, wasSent, actsOn }: SinkHoldFacts,
  at: Instant,
): EventApproval | null {
  if (after !== null && isPosted(after.state)) return after;
  const isStale = (hold: ApprovalHold) => isOfNoSink(hold, holdingSinks) || actsOn(sinkOf(hold) ?? '') === false;
  const kept = after?.holds.some(isStale) ? withoutHolds(rules, after, governedEvent, isStale, at) : after;
  if (isOnlyAdvice(governedEvent.known.event)) return kept;
  const lost = lostVoters(rules, before, after);
  const isAgain = (sink: string, approver: string) => lost.has(approver) && wasSent(sink) && actsOn(sink) === true;
  const holding = [...holdingSinks].filter(([sink, approver]) => preparing.includes(sink) || isAgain(sink, approver));
  return holding.reduce(
    (approval, [sink, approver]) => withHold(rules, approval, governedEvent, holdBy(sink, approver, at)),
    kept,
  );
}

/** Whether the sink of the hold was removed, or acts for another approver now: nothing would release the hold. */
function isOfNoSink(hold: ApprovalHold, holdingSinks: HoldingSinks): boolean {
  const sink = sinkOf(hold);
  return sink !== null && holdingSinks.get(sink) !== hold.approver;
}

/** Returns the approvers whose votes counted before and do not count now. */
function lostVoters(rules: Rules, before: EventApproval | null, after: EventApproval | null): ReadonlySet<string> {
  const counting = new Set(after !== null && isAlive(rules, after) ? after.votes.map(({ approver }) => approver) : []);
  return new Set((before?.votes ?? []).map(({ approver }) => approver).filter((approver) => !counting.has(approver)));
}

function holdBy(sink: string, approver: string, at: Instant): ApprovalHold {
  return {
    approver,
    via: viaSink(sink),
    isShared: false,
    reason: `sink ${sink} prepares`,
    at,
    sentMs: null,
    replaced: null,
  };
}
