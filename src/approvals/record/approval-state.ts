// An occurrence's approvals → what their state means: open, posted, passed by, counting. Pure.
import type { ApprovalState, EventApproval } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import type { Rules } from '../rules/quorum.ts';

/** In another state, or the same object. `at` is kept where the state stays. */
export function moved(approval: EventApproval, state: ApprovalState, at: Instant): EventApproval {
  return state === approval.state ? approval : { ...approval, state, at };
}

/** Waits for somebody, or for the answer of the metadata service. */
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

/** The approvals' last state when their event starts or goes: `unknown` where a StartRequest may have been accepted and its answer was lost. */
export type PassedBy = 'moot' | 'unknown';

export function isPassedBy(state: ApprovalState): state is PassedBy {
  return state === 'moot' || state === 'unknown';
}

/** Votes of moot approvals, and of a dry run that is over, no longer count: the next yes starts from none. */
export function isAlive(rules: Rules, { state, isDryRun }: EventApproval): boolean {
  return !isPassedBy(state) && (!isDryRun || rules.dryRun);
}
