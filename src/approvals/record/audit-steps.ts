// An occurrence's approvals before and after → the new lines of its record (behaviour 8.18). Pure.
import type {
  ApprovalDecision,
  ApprovalHold,
  ApprovalOrigin,
  ApprovalStep,
  ApprovalStepName,
  ApprovalVote,
  EventApproval,
} from '../../model/approvals.ts';
import { isSameOwner } from '../../model/hold-owner.ts';

/** Facts that the approvals do not contain. */
export interface StepContext {
  readonly atMs: number;
  /** The origin of the release of holds. */
  readonly by?: ApprovalOrigin;
  /** The answer of the metadata service. */
  readonly status?: number | string | null;
}

/**
 * The first reasons of a hold get one line each. Later ones share a line with the newest reason, which is written when
 * the hold ends.
 */
const MOST_REASONS = 10;

const OF_STATE: Partial<Record<EventApproval['state'], ApprovalStepName>> = {
  submitted: 'submitted',
  confirmed: 'confirmed',
  moot: 'moot',
  unknown: 'unknown',
  failed: 'failed',
};

/** Returns one line, without an approver unless `more` names one. */
export function stepOf(
  step: ApprovalStepName,
  atMs: number,
  policy: string | null,
  more: Partial<ApprovalStep>,
): ApprovalStep {
  return { step, atMs, approver: null, via: null, policy, status: null, reason: null, ...more };
}

/** Returns the lines in order: votes and holds, then decisions, then the new state. */
export function stepsBetween(
  before: EventApproval | null,
  after: EventApproval,
  context: StepContext,
): readonly ApprovalStep[] {
  const line = (
    step: ApprovalStepName,
    who: { approver: string; via: string } | null,
    more: Partial<ApprovalStep> = {},
  ): ApprovalStep =>
    stepOf(step, context.atMs, after.policy, { ...(who && { approver: who.approver, via: who.via }), ...more });
  const [votesBefore, holdsBefore] = [before?.votes ?? [], before?.holds ?? []];
  const steps = [
    ...without(votesBefore, after.votes).map((vote) => line('void', vote)),
    ...takenAlong(before, after).map((vote) => line('void', vote, { reason: 'dry-run' })),
    ...after.votes.filter((vote) => !isIn(vote, votesBefore)).map((vote) => line('recorded', vote)),
    ...after.holds
      .filter((hold) => !holdsBefore.includes(hold) && !isFolded(hold))
      .map((hold) => line('held', hold, { reason: hold.reason })),
    ...holdsBefore
      .filter((hold) => !after.holds.some((each) => isSameOwner(each, hold)))
      .flatMap((hold) => [
        ...lastReason(hold, after.policy),
        line('released', context.by ?? null, { reason: hold.approver }),
      ]),
  ];
  const [earlierBy, by] = [before?.decision?.by ?? null, after.decision?.by ?? null];
  const isOfAnotherRule = isReplaced(before?.decision ?? null, after.decision);
  if (earlierBy !== null && (by === null || isOfAnotherRule)) steps.push(line('dropped', null, { reason: earlierBy }));
  if (by !== null && (by !== earlierBy || isOfAnotherRule)) steps.push(line('decided', null, { reason: by }));
  const name = before?.state === after.state ? undefined : OF_STATE[after.state];
  if (name === 'moot') steps.push(...after.holds.flatMap((hold) => lastReason(hold, after.policy)));
  const status = context.status ?? null;
  const isSeenFirst = name === 'confirmed' && before?.state !== 'submitted';
  if (isSeenFirst) steps.push(line('submitted', null, { status }));
  // If the state goes back from confirmed to submitted, nothing was submitted again.
  if (name !== undefined && before?.state !== 'confirmed')
    steps.push(line(name, null, { status: isSeenFirst ? null : status }));
  return steps;
}

/** Whether another rule decides now. Decisions that were stored by earlier versions do not name their rule. */
function isReplaced(earlier: ApprovalDecision | null, decision: ApprovalDecision | null): boolean {
  if (earlier?.by !== 'policy' || decision?.by !== 'policy') return false;
  return earlier.rule !== null && earlier.rule !== decision.rule;
}

function isFolded({ replaced }: ApprovalHold): boolean {
  return (replaced?.times ?? 0) >= MOST_REASONS;
}

/** Returns the line that the later reasons of a hold share, with the time of the newest. */
function lastReason(hold: ApprovalHold, policy: string | null): readonly ApprovalStep[] {
  if (!isFolded(hold)) return [];
  const { approver, via, reason, at, replaced } = hold;
  const times = (replaced?.times ?? 0) - MOST_REASONS + 1;
  return [stepOf('held', at.wallMs, policy, { approver, via, reason, ...(times > 1 && { times }) })];
}

/**
 * Returns the votes that a dry run takes over, which are never posted. Votes of a refused approval were reported
 * already.
 */
function takenAlong(before: EventApproval | null, after: EventApproval): readonly ApprovalVote[] {
  if (before === null || before.isDryRun || !after.isDryRun || before.state === 'failed') return [];
  return before.votes.filter((vote) => isIn(vote, after.votes));
}

/** Compares times, because a repeated vote, for example after a dry run, has a new time. */
function isIn({ at }: ApprovalVote, votes: readonly ApprovalVote[]): boolean {
  return votes.some((vote) => vote.at === at);
}

/** Returns the entries of `some` without an entry of the same approver in `others`. */
function without<T extends { readonly approver: string }>(some: readonly T[], others: readonly T[]): readonly T[] {
  return some.filter(({ approver }) => others.every((other) => other.approver !== approver));
}
