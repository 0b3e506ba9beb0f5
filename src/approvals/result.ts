// The approvals of an event as they stand → what the approver is answered, and what GET /v1/events shows (contract, section 6). Pure.
import type { ApprovalState, EventApproval, ScheduledEvent } from '../model.ts';
import { type ApprovalResult, type Refusal, refusal } from './answer.ts';
import { isDecidedDryRun, quorumOver } from './ballot.ts';
import type { Checked } from './check.ts';
import type { Rules } from './quorum.ts';

/** One event's approvals, as `GET /v1/events` shows them. */
export interface Summary {
  readonly state: ApprovalState;
  readonly approvedBy: readonly string[];
  readonly policy: string | null;
  /** RFC 3339: when `state` was reached. */
  readonly at: string;
  /** Empty unless `state` is `waiting`. */
  readonly waitingFor: readonly string[];
  readonly holds: readonly [];
}

export function summaryOf(rules: Rules, approval: EventApproval, event: ScheduledEvent): Summary {
  const state = shownState(rules, approval);
  return {
    state,
    approvedBy: approval.votes.map(({ approver }) => approver),
    policy: approval.policy,
    at: new Date(approval.at.wallMs).toISOString(),
    waitingFor: state === 'waiting' ? quorumOver(rules, event, approval.votes).waitingFor : [],
    holds: [],
  };
}

/** The answer for one StartRequest that was recorded; `approval` is null once the occurrence has ended. */
export function resultOf(
  rules: Rules,
  approver: string,
  { kind, request: { eventId: asWritten }, known }: Checked,
  approval: EventApproval | null,
): ApprovalResult | Refusal {
  const { eventId } = known.event;
  const approvedBy = approval?.votes.map((vote) => vote.approver) ?? [approver];
  if (kind === 'started') return { eventId, state: 'started', approvedBy };
  if (approval === null) return { eventId, state: 'moot', approvedBy };
  const state = shownState(rules, approval);
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
      `The event ${asWritten} got worse before it could be submitted, so the approval is void; look at it anew.`,
      asWritten,
    );
  }
  if (state !== 'waiting') return { eventId, state, approvedBy };
  return { eventId, state, approvedBy, waitingFor: quorumOver(rules, known.event, approval.votes).waitingFor };
}

function shownState(rules: Rules, approval: EventApproval): ApprovalState {
  return approval.state === 'dry-run' && !isDecidedDryRun(rules, approval) ? 'waiting' : approval.state;
}
