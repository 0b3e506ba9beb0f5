// Answers to StartRequests that were no yes → lines of the record, so many and no more.
import { type EventApproval, LOST_ANSWER } from '../../model/approvals.ts';
import type { Deps } from '../../time/clock.ts';
import { stepOf } from './audit-steps.ts';
import { NOTHING, type Pending } from './pending.ts';

/** Lines of the record of one event. */
const MOST = 100;

interface Written {
  readonly count: number;
  readonly last: number | string | null;
  /** A line says that an answer was lost, which the next process has to know. */
  readonly hasLost: boolean;
}

export class AnswerRecord {
  readonly #deps: Pick<Deps, 'wallMs'>;
  /** By key. */
  readonly #written = new Map<string, Written>();

  constructor(deps: Pick<Deps, 'wallMs'>) {
    this.#deps = deps;
  }

  /** News if it differs from the one before (an HTTP status or an error's code), or is the first that was lost: it may have accepted it, and no answer came. */
  line({ key, occurrence, policy }: EventApproval, status: number | string | null, isLost: boolean): Pending {
    const { count, last, hasLost } = this.#written.get(key) ?? { count: 0, last: null, hasLost: false };
    const isFirstLoss = isLost && !hasLost;
    if (!isFirstLoss && (count >= MOST || (count > 0 && last === status))) return NOTHING;
    const step = stepOf('answered', this.#deps.wallMs(), policy, { status, reason: isLost ? LOST_ANSWER : null });
    return {
      isNews: true,
      write: (transaction) => transaction.addSteps(occurrence, [step]),
      apply: () => this.#written.set(key, { count: count + 1, last: status, hasLost: hasLost || isLost }),
    };
  }

  /** The event has ended. */
  forget(key: string): void {
    this.#written.delete(key);
  }
}
