// Answers to StartRequests that were no yes → lines of the record, so many and no more.
import { type ApprovalStep, type EventApproval, LOST_ANSWER } from '../../model/approvals.ts';
import type { Deps } from '../../time/clock.ts';
import { stepOf } from './audit-steps.ts';
import type { Doubts } from './doubts.ts';
import { NOTHING, type Pending } from './pending.ts';

/** Lines of the record of one event. */
const MOST = 100;

interface Written {
  readonly count: number;
  readonly last: number | string | null;
}

export class AnswerRecord {
  readonly #deps: Pick<Deps, 'wallMs'>;
  readonly #doubts: Doubts;
  /** By key. */
  readonly #written = new Map<string, Written>();

  constructor(deps: Pick<Deps, 'wallMs'>, doubts: Doubts) {
    this.#deps = deps;
    this.#doubts = doubts;
  }

  /**
   * News if it differs from the one before (an HTTP status or an error's code), if the record says that this answer is awaited, or if it is the
   * first that was lost: the service may have accepted it, and no answer came.
   */
  line(approval: EventApproval, status: number | string | null, isLost: boolean): Pending {
    const { key } = approval;
    const { count, last } = this.#written.get(key) ?? { count: 0, last: null };
    const isFirstLoss = isLost && !this.#doubts.isRecordedAsLost(approval);
    const isNeeded = isFirstLoss || this.#doubts.isRecordedAsAwaited(approval);
    if (!isNeeded && (count >= MOST || (count > 0 && last === status))) return NOTHING;
    const written = { count: count + 1, last: status };
    return this.#line(approval, { status, reason: isLost ? LOST_ANSWER : null }, () => this.#written.set(key, written));
  }

  /** News if a StartRequest may have been accepted, and nothing in the store would say so after a restart. */
  doubt(approval: EventApproval): Pending {
    const reason = this.#doubts.unrecorded(approval);
    return reason === null ? NOTHING : this.#line(approval, { reason }, () => {});
  }

  #line(approval: EventApproval, said: Pick<ApprovalStep, 'reason'> & Partial<ApprovalStep>, apply: () => void): Pending {
    const step = stepOf('answered', this.#deps.wallMs(), approval.policy, said);
    return {
      isNews: true,
      write: (transaction) => transaction.addSteps(approval.occurrence, [step]),
      apply: () => {
        apply();
        this.#doubts.recorded(approval, said.reason);
      },
    };
  }

  /** The event has ended. */
  forget(key: string): void {
    this.#written.delete(key);
  }
}
