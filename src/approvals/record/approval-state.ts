// The state of an occurrence's approvals → whether they are open, posted or closed, or count. Pure.
import type { ApprovalState, EventApproval } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import type { Rules } from '../rules/quorum.ts';

/** Returns the approvals in `state`; the same object, with the same `at`, if they already are. */
export function moved(approval: EventApproval, state: ApprovalState, at: Instant): EventApproval {
  return state === approval.state ? approval : { ...approval, state, at };
}

/** Whether the approvals wait for an approver, the end of a hold, or the metadata service. */
export function isOpen({ state }: EventApproval): boolean {
  return state === 'waiting' || state === 'held' || state === 'submitting';
}

/** Open, or stopped by a refusal or a dry run: a StartRequest from before may have been accepted all the same. */
export function isUnsettled(approval: EventApproval): boolean {
  return isOpen(approval) || approval.state === 'failed' || approval.state === 'dry-run';
}

/** Accepted by the metadata service, or on its way there. */
export function isPosted(state: ApprovalState): boolean {
  return state === 'submitted' || state === 'confirmed';
}

/**
 * The final state if the event starts or ends first: `unknown` if a StartRequest may have been accepted and its answer
 * was lost.
 */
export type PassedBy = 'moot' | 'unknown';

export function isPassedBy(state: ApprovalState): state is PassedBy {
  return state === 'moot' || state === 'unknown';
}

/**
 * Whether the votes still count. Those of moot or unknown approvals, and of a dry run that is over, do not: the next
 * vote is the first.
 */
export function isAlive(rules: Rules, { state, isDryRun }: EventApproval): boolean {
  return !isPassedBy(state) && (!isDryRun || rules.dryRun);
}
