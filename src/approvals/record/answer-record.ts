// Answers to StartRequests that were no yes → lines of the record, so many and no more.
import { type EventApproval, LOST_ANSWER } from '../../model/approvals.ts';
import type { Deps } from '../../time/clock.ts';
import type { ApprovalStore } from '../store.ts';
import { stepOf } from './audit-steps.ts';

/** Lines of the record of one event. */
const MOST = 100;

interface Written {
  readonly count: number;
  readonly last: number | string | null;
}

export interface AnswerRecordParts {
  readonly store: Pick<ApprovalStore, 'commit'>;
  readonly deps: Pick<Deps, 'wallMs'>;
}

export class AnswerRecord {
  readonly #parts: AnswerRecordParts;
  /** By key. */
  readonly #written = new Map<string, Written>();

  constructor(parts: AnswerRecordParts) {
    this.#parts = parts;
  }

  /** Where it differs from the one before: an HTTP status or an error's code. `isLost`: it may have accepted it, and no answer came. @throws BridgeError BRIDGE_STORE_* */
  record({ key, occurrence, policy }: EventApproval, status: number | string | null, isLost: boolean): void {
    const { count, last } = this.#written.get(key) ?? { count: 0, last: null };
    if (count === MOST || (count > 0 && last === status)) return;
    const step = stepOf('answered', this.#parts.deps.wallMs(), policy, { status, reason: isLost ? LOST_ANSWER : null });
    this.#parts.store.commit((transaction) => transaction.addSteps(occurrence, [step]));
    this.#written.set(key, { count: count + 1, last: status });
  }

  /** The event has ended. */
  forget(key: string): void {
    this.#written.delete(key);
  }
}
