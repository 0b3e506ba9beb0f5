// The approvals of one occurrence + a yes, or the event's new content → its approvals then, and the votes that became void. Pure.
import type { ApprovalState, ApprovalVote, EventApproval, Instant, KnownEvent, ScheduledEvent } from '../model.ts';
import { barOf, type Quorum, quorumOf, type Rules } from './quorum.ts';
import { worse } from './worse.ts';

/** The quorum over `votes` for the event as it is. */
export function quorumOver(rules: Rules, event: ScheduledEvent, votes: readonly ApprovalVote[]): Quorum {
  return quorumOf(
    rules,
    event,
    votes.map(({ approver }) => approver),
  );
}

/** Whether a dry run has decided: the quorum was full when the last yes came, and stays so as a posted one would. */
export function isDecidedDryRun(rules: Rules, { state, votes }: EventApproval): boolean {
  const last = votes.at(-1);
  return state === 'dry-run' && last !== undefined && (!rules.dryRun || quorumOver(rules, last.event, votes).isFull);
}

/** Records one more yes, or takes up a refused approval again; gives back the same object where there is nothing to record. */
export function withVote(rules: Rules, approval: EventApproval | null, known: KnownEvent, approver: string, at: Instant): EventApproval {
  const standing = approval !== null && isAlive(rules, approval) ? approval : emptyBallot(known, at);
  const isNew = standing.votes.every((vote) => vote.approver !== approver);
  if (!isNew && standing.state !== 'failed') return standing;
  const votes = isNew ? [...standing.votes, { approver, at, event: known.event }] : standing.votes;
  const isPosted = standing.state === 'submitted' || standing.state === 'submitting';
  return moved(standing, votes, isPosted ? standing.state : stateOf(rules, known.event, votes), at);
}

/** What moot approvals, and those of a dry run that is over, said counts no more: the next yes begins anew. */
function isAlive(rules: Rules, { state }: EventApproval): boolean {
  return state !== 'moot' && (state !== 'dry-run' || rules.dryRun);
}

export interface Review {
  /** The same object where nothing changed. */
  readonly approval: EventApproval;
  /** Void now, and nobody has been told so. */
  readonly voided: readonly ApprovalVote[];
}

/** Judges the approvals by the event's content now and by the rules now: what is not yet submitted may become void, moot or decided. */
export function review(rules: Rules, approval: EventApproval, event: ScheduledEvent, at: Instant): Review {
  const { state } = approval;
  if (state === 'submitted' || state === 'moot' || !isAlive(rules, approval) || isDecidedDryRun(rules, approval))
    return { approval, voided: [] };
  if (event.eventStatus === 'Started')
    return { approval: state === 'failed' ? approval : moved(approval, approval.votes, 'moot', at), voided: [] };
  const votes = approval.votes.filter((vote) => !worse(vote.event, event) && barOf(rules, vote.approver, event) === null);
  const voided = approval.votes.filter((vote) => !votes.includes(vote));
  if (state === 'failed') {
    // Whoever approved was told of the failure already.
    return { approval: moved(approval, votes, votes.length > 0 ? 'failed' : 'waiting', at), voided: [] };
  }
  return { approval: moved(approval, votes, stateOf(rules, event, votes), at), voided };
}

/** The event ended: what was not submitted never will be. */
export function closed(approval: EventApproval, at: Instant): EventApproval {
  const isOpen = approval.state === 'waiting' || approval.state === 'submitting';
  return isOpen ? moved(approval, approval.votes, 'moot', at) : approval;
}

/** In another state, or the same object. `at` is kept where the state stays. */
export function moved(approval: EventApproval, votes: readonly ApprovalVote[], state: ApprovalState, at: Instant): EventApproval {
  if (state === approval.state) return votes.length === approval.votes.length ? approval : { ...approval, votes };
  return { ...approval, votes, state, at };
}

function stateOf(rules: Rules, event: ScheduledEvent, votes: readonly ApprovalVote[]): ApprovalState {
  if (rules.dryRun) return 'dry-run';
  return quorumOver(rules, event, votes).isFull ? 'submitting' : 'waiting';
}

function emptyBallot({ key, occurrence }: KnownEvent, at: Instant): EventApproval {
  return { key, occurrence, state: 'waiting', votes: [], policy: null, at };
}
