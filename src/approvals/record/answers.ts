// Answers to StartRequests → the new states of the approvals in them.
import type { EventApproval } from '../../model/approvals.ts';
import { now } from '../../time/clock.ts';
import type { SubmissionVerdict } from '../ports.ts';
import { isPassedBy, isUnsettled, moved } from './approval-state.ts';
import { NO_CHANGE, type Pending, together } from './audit-trail.ts';
import type { RecordParts } from './ledger.ts';
import type { Refusals } from './refusals.ts';
import type { Reviews } from './reviews.ts';
import { begun } from './transitions.ts';

interface AnswersParts extends RecordParts {
  readonly reviews: Reviews;
  readonly refusals: Refusals;
}

export class Answers {
  readonly #parts: AnswersParts;

  constructor(parts: AnswersParts) {
    this.#parts = parts;
  }

  /**
   * To be called before a StartRequest with all of these is sent. A call of `refused` or `conclude` follows, unless the
   * process ends.
   */
  sent(posted: readonly EventApproval[]): void {
    for (const each of posted) this.#parts.ledger.doubts.sent(each);
  }

  /**
   * Records a refused or lost StartRequest. If the event has started since, the approval is `moot`, or `unknown` if the
   * answer was lost.
   * @throws BridgeError BRIDGE_STORE_*
   */
  refused(posted: readonly EventApproval[], status: number | string | null, mayHaveArrived: boolean): void {
    const { ledger } = this.#parts;
    for (const each of posted) ledger.doubts.answered(each);
    ledger.commit(
      posted.flatMap((each) => [
        ledger.answerRecord.line(each, status, mayHaveArrived),
        this.#afterRefusal(each, mayHaveArrived),
      ]),
    );
  }

  /** Stores the verdict for all of `posted`, the approvals as they were posted. @throws BridgeError BRIDGE_STORE_* */
  conclude(posted: readonly EventApproval[], verdict: SubmissionVerdict, status: number): void {
    const { ledger } = this.#parts;
    ledger.commit(posted.map((each) => this.#concluded(each, verdict, status)));
    // Only now: requests that arrive before the acceptance is on disk must wait for it.
    for (const each of posted) ledger.doubts.answered(each);
  }

  #afterRefusal(posted: EventApproval, mayHaveArrived: boolean): Pending {
    const { ledger, reviews, ports, deps } = this.#parts;
    const { doubts } = ledger;
    const before = ledger.approvalOf(posted.key, posted.occurrence);
    if (mayHaveArrived && before !== null) doubts.add(before);
    const known = ports.events().get(posted.key);
    if (before === null || known === undefined) return NO_CHANGE;
    const at = now(deps);
    // The event started and went back to Scheduled while the request was in flight.
    if (isPassedBy(before.state)) return reviews.corrected(known, before, doubts.passedBy(before), at);
    return isUnsettled(before) && known.event.eventStatus === 'Started' ? reviews.review(known, before, at) : NO_CHANGE;
  }

  #concluded(posted: EventApproval, verdict: SubmissionVerdict, status: number): Pending {
    const { ledger, auditTrail, refusals, ports, deps } = this.#parts;
    const before = ledger.approvalOf(posted.key, posted.occurrence);
    const known = ports.events().get(posted.key);
    if (before === null || known === undefined || (verdict !== 'submitted' && before.state !== 'submitting'))
      return NO_CHANGE;
    const at = now(deps);
    const state = verdict === 'moot' ? ledger.doubts.passedBy(posted) : verdict;
    const concluded = moved(verdict === 'submitted' ? acceptedIn(posted, before) : before, state, at);
    // A document may show the start before the answer arrives.
    const after = known.event.eventStatus === 'Started' ? begun(concluded, at, 'moot') : concluded;
    const entry = auditTrail.verdict({ known, posted, before, after, status, at });
    const hasFailed = after.state === 'failed';
    const pending = auditTrail.pending([hasFailed ? refusals.withoutRepeat(entry, status) : entry], () => {
      ledger.doubts.answered(posted);
      ledger.keep(after);
      if (hasFailed) refusals.add(after, status);
      else refusals.forget(posted.key);
    });
    // What an earlier answer left in doubt is so still.
    return hasFailed ? together([ledger.answerRecord.doubt(before), pending]) : pending;
  }
}

/**
 * Returns the approvals as they were posted, even if some became void since, plus the votes that arrived since. A dry
 * run never posts.
 */
function acceptedIn({ decision, policy, isDryRun, votes }: EventApproval, before: EventApproval): EventApproval {
  const late = before.votes.filter((vote) => votes.every(({ approver }) => approver !== vote.approver));
  return { ...before, decision, policy, isDryRun, votes: [...votes, ...late] };
}
