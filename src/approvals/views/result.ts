// An event's approvals → the approver's answer and the summary in /v1/events (behaviour 6.5). Pure.
import { toRfc3339 } from '../../formats/dates.ts';
import {
  ALL_EVENTS,
  type ApprovalHold,
  type ApprovalState,
  type EventApproval,
  type HoldOfAll,
} from '../../model/approvals.ts';
import { isOfAll } from '../../model/hold-owner.ts';
import { isPassedBy, isPosted } from '../record/approval-state.ts';
import { isOnlySpent, quorumOver } from '../record/decisions.ts';
import {
  type AllHeld,
  type HoldRecorded,
  type HoldView,
  type Refusal,
  type RequestResult,
  refusal,
} from '../requests/answer.ts';
import type { Checked } from '../requests/check.ts';
import type { GovernedEvent } from '../rules/governed.ts';
import type { Rules } from '../rules/quorum.ts';

/** The approvals of one event, as in `GET /v1/events`. */
export interface Summary {
  readonly state: ApprovalState;
  readonly approvedBy: readonly string[];
  readonly policy: string | null;
  /** RFC 3339: when `state` was reached. */
  readonly at: string;
  /** Empty unless `state` is `waiting` or `held`. */
  readonly waitingFor: readonly string[];
  readonly holds: readonly HoldView[];
}

/**
 * Returns the summary of an event. Returns null if there are no approvals or holds and no rule that waits or approves.
 * @param governedEvent null after the start of the event
 */
export function summaryOf(
  rules: Rules,
  stored: EventApproval | null,
  governedEvent: GovernedEvent | null,
): Summary | null {
  const approval = asItCounts(stored, governedEvent);
  const isNever = governedEvent?.governed.ruling.then === 'never' && approval !== stored;
  if (approval === null || isBlank(stored) || (isNever && approval.holds.length === 0))
    return ruledSummary(rules, governedEvent);
  const { state, votes, policy, holds, at } = approval;
  return {
    state,
    approvedBy: votes.map(({ approver }) => approver),
    policy,
    at: toRfc3339(at.wallMs),
    waitingFor: waitingForOf(rules, approval, governedEvent),
    // An accepted event is not held, even if a sink set a hold before the answer arrived.
    holds: governedEvent === null || isPosted(state) ? [] : holdViews(holds),
  };
}

function ruledSummary(rules: Rules, governedEvent: GovernedEvent | null): Summary | null {
  if (governedEvent === null) return null;
  const { ruling, since } = governedEvent.governed;
  if (ruling.policy === null || ruling.then === 'never') return null;
  const { waitingFor } = quorumOver(rules, ruling, governedEvent.known.event, []);
  return {
    state: 'waiting',
    approvedBy: [],
    policy: ruling.policy,
    at: toRfc3339(since.wallMs),
    waitingFor,
    holds: [],
  };
}

/**
 * Returns the approvals that count now. If an event was Started and went back to Scheduled, earlier votes do not count:
 * it waits again for all required approvers, and its holds remain. Returns the same object in all other cases.
 */
export function asItCounts(approval: EventApproval | null, governedEvent: GovernedEvent | null): EventApproval | null {
  if (approval === null || governedEvent === null || !isPassedBy(approval.state)) return approval;
  const { ruling, since } = governedEvent.governed;
  const state = approval.holds.length > 0 ? 'held' : 'waiting';
  return { ...approval, state, votes: [], decision: null, policy: ruling.policy, at: since };
}

/** Whether there is no vote, no hold and no decision. */
function isBlank(approval: EventApproval | null): boolean {
  return (
    approval === null || (approval.votes.length === 0 && approval.holds.length === 0 && approval.decision === null)
  );
}

/** Returns the approvers that the event still waits for. */
export function missingOf(rules: Rules, stored: EventApproval | null, governedEvent: GovernedEvent): readonly string[] {
  const approval = asItCounts(stored, governedEvent);
  const { ruling } = governedEvent.governed;
  const isDecided = approval !== null && approval.decision !== null && !isOnlySpent(approval.decision, rules.dryRun);
  return isDecided || ruling.then === 'never'
    ? []
    : quorumOver(rules, ruling, governedEvent.known.event, approval?.votes ?? []).waitingFor;
}

function waitingForOf(rules: Rules, approval: EventApproval, governedEvent: GovernedEvent | null): readonly string[] {
  const { state, votes, decision } = approval;
  if (governedEvent === null || (state !== 'waiting' && state !== 'held')) return [];
  // Held, but decided: no vote is missing.
  if (decision !== null && !isOnlySpent(decision, rules.dryRun)) return [];
  return quorumOver(rules, governedEvent.governed.ruling, governedEvent.known.event, votes).waitingFor;
}

export function heldAnswer({ event: { eventId } }: Checked['known'], approval: EventApproval | null): HoldRecorded {
  return { kind: 'held', status: 201, hold: { eventId, holds: holdViews(approval?.holds ?? []) } };
}

/** `submitting`: the ids of events that a StartRequest sent before may still start. */
export function allHeldAnswer(holdOfAll: HoldOfAll | null, submitting: readonly string[]): AllHeld {
  const holds = holdOfAll === null ? [] : [allView(holdOfAll)];
  return { kind: 'held', status: 201, hold: { eventId: ALL_EVENTS, holds, submitting } };
}

function allView({ by, at, reason }: HoldOfAll): HoldView {
  return { approver: by, reason, at: toRfc3339(at.wallMs), all: true };
}

function holdViews(holds: readonly ApprovalHold[]): readonly HoldView[] {
  return holds.map(({ approver, reason, at, via, replaced }) => ({
    ...{ approver, reason, at: toRfc3339(at.wallMs) },
    ...(isOfAll({ via }) && { all: true as const }),
    ...(replaced && { replaced: { times: replaced.times, since: toRfc3339(replaced.sinceMs) } }),
  }));
}

/** Returns the answer to one recorded StartRequest. `approval` is null if none is stored. */
export function resultOf(
  rules: Rules,
  approver: string,
  { kind, request: { eventId: asWritten }, known }: Checked,
  approval: EventApproval | null,
  governedEvent: GovernedEvent | null,
): RequestResult | Refusal {
  const { eventId } = known.event;
  const approvedBy = approval?.votes.map((vote) => vote.approver) ?? [approver];
  if (kind === 'started' || approval?.state === 'confirmed') return { eventId, state: 'started', approvedBy };
  if (approval === null) return { eventId, state: 'moot', approvedBy };
  const { state } = approval;
  if (state === 'failed') {
    return refusal(
      'refused',
      `The metadata service refused to start ${asWritten}, which is still Scheduled; the bridge's log says why.`,
      asWritten,
    );
  }
  if (state !== 'submitted' && !approvedBy.includes(approver)) {
    return refusal(
      'changed',
      `The event ${asWritten} got worse before it could be submitted, so the approval is void. Check it again.`,
      asWritten,
    );
  }
  const waitingFor = waitingForOf(rules, approval, governedEvent);
  if (state === 'held') {
    const heldBy = [...new Set(approval.holds.map((hold) => hold.approver))];
    return { eventId, state, approvedBy, heldBy, ...(waitingFor.length > 0 && { waitingFor }) };
  }
  return { eventId, state, approvedBy, ...(state === 'waiting' && { waitingFor }) };
}
