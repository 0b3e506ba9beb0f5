// Changes to approvals → stored on disk, then applied to the open approvals in memory.
import type { Logger } from 'pino';
import { type Observable, Subject } from 'rxjs';
import { type ApprovalStep, type EventApproval, type HoldOfAll, LOST_ANSWER } from '../../model/approvals.ts';
import type { Deps } from '../../time/clock.ts';
import type { ApprovalPorts } from '../ports.ts';
import { type GovernedEvent, GovernedEvents } from '../rules/governed.ts';
import type { RulesInForce } from '../rules/rules-in-force.ts';
import type { ApprovalStore } from '../store.ts';
import { stepOf } from './audit-steps.ts';
import { type AuditTrail, NO_CHANGE, type Pending, together } from './audit-trail.ts';
import type { Deadlines } from './deadlines.ts';
import { Doubts } from './doubts.ts';

/** The most lines of the record of one event for answers that were not an acceptance. */
const MOST = 100;

/** The parts that the stages after the ledger share. */
export interface RecordParts {
  readonly rules: RulesInForce;
  readonly ledger: Ledger;
  readonly auditTrail: AuditTrail;
  readonly store: ApprovalStore;
  readonly ports: ApprovalPorts;
  readonly deps: Deps;
  readonly logger: Logger;
}

interface LedgerParts {
  readonly rules: Pick<RulesInForce, 'policy' | 'calendar'>;
  readonly store: Pick<ApprovalStore, 'commit'>;
  readonly deps: Pick<Deps, 'wallMs'>;
  readonly deadlines: Pick<Deadlines, 'set'>;
}

/** The approvals of all occurrences that have not ended, as they are on disk. */
export class Ledger {
  readonly governedEvents: GovernedEvents;
  readonly doubts = new Doubts();
  readonly answerRecord: AnswerRecord;
  /** While it is not null, nothing is posted. As it is on disk. */
  holdOfAll: HoldOfAll | null = null;
  readonly #store: LedgerParts['store'];
  /** By key. */
  readonly #open = new Map<string, EventApproval>();
  readonly #decided$ = new Subject<EventApproval>();
  readonly #committed$ = new Subject<void>();
  #isInOne = false;

  constructor({ rules, store, deps, deadlines }: LedgerParts) {
    this.#store = store;
    this.governedEvents = new GovernedEvents(rules, (key, dueMs) => deadlines.set(key, dueMs));
    this.answerRecord = new AnswerRecord(deps, this.doubts);
  }

  /** Emits approvals that must be posted: when they are decided, and at each `remind`. */
  get decided$(): Observable<EventApproval> {
    return this.#decided$;
  }

  /** Emits after each commit of this ledger, or after all of `inOne`. */
  get committed$(): Observable<void> {
    return this.#committed$;
  }

  /** Returns the approvals of an occurrence, or null if there are none or it has ended. */
  approvalOf(key: string, occurrence: number): EventApproval | null {
    const approval = this.#open.get(key);
    return approval?.occurrence === occurrence ? approval : null;
  }

  governedEventOf(known: GovernedEvent['known']): GovernedEvent | null {
    return this.governedEvents.governedEventOf(known);
  }

  /** Returns the approvals of all events that have not ended. */
  open(): readonly EventApproval[] {
    return [...this.#open.values()];
  }

  /** Emits all decided approvals again. */
  remind(): void {
    for (const approval of this.#open.values()) if (approval.state === 'submitting') this.#decided$.next(approval);
  }

  /**
   * Writes all parts in one transaction, then applies them in memory.
   * @throws BridgeError BRIDGE_STORE_*; nothing is recorded then
   */
  commit(parts: readonly Pending[]): void {
    const pending = together(parts);
    if (pending.isNews) this.#store.commit(pending.write);
    pending.apply();
    if (!this.#isInOne) this.#committed$.next();
  }

  /** Runs several commits, between which nothing else may be decided. @throws what `work` does */
  inOne(work: () => void): void {
    this.#isInOne = true;
    try {
      work();
    } finally {
      this.#isInOne = false;
    }
    this.#committed$.next();
  }

  /** Keeps approvals that are on disk, and emits them if they are decided. */
  keep(approval: EventApproval): void {
    this.#open.set(approval.key, approval);
    this.doubts.see(approval);
    if (approval.state === 'submitting') this.#decided$.next(approval);
  }

  /** Removes an event that has ended. */
  forget(known: GovernedEvent['known']): void {
    this.#open.delete(known.key);
    this.answerRecord.forget(known.key);
    this.doubts.forget(known);
    this.governedEvents.forget(known);
  }
}

interface Written {
  readonly count: number;
  readonly last: number | string | null;
}

/** Answers to StartRequests that were not an acceptance → lines of the record, up to a limit. */
class AnswerRecord {
  readonly #deps: Pick<Deps, 'wallMs'>;
  readonly #doubts: Doubts;
  /** By key. */
  readonly #written = new Map<string, Written>();

  constructor(deps: Pick<Deps, 'wallMs'>, doubts: Doubts) {
    this.#deps = deps;
    this.#doubts = doubts;
  }

  /**
   * News if it differs from the one before (an HTTP status or an error's code), if the record says that this answer is
   * awaited, or if it is the first that was lost: the service may have accepted it, and no answer came.
   */
  line(approval: EventApproval, status: number | string | null, isLost: boolean): Pending {
    const { key } = approval;
    const { count, last } = this.#written.get(key) ?? { count: 0, last: null };
    const isFirstLoss = isLost && !this.#doubts.isRecordedAsLost(approval);
    const isNeeded = isFirstLoss || this.#doubts.isRecordedAsAwaited(approval);
    if (!isNeeded && (count >= MOST || (count > 0 && last === status))) return NO_CHANGE;
    const written = { count: count + 1, last: status };
    return this.#line(approval, { status, reason: isLost ? LOST_ANSWER : null }, () => this.#written.set(key, written));
  }

  /** News if a StartRequest may have been accepted, and nothing in the store would say so after a restart. */
  doubt(approval: EventApproval): Pending {
    const reason = this.#doubts.unrecorded(approval);
    return reason === null ? NO_CHANGE : this.#line(approval, { reason }, () => {});
  }

  #line(
    approval: EventApproval,
    facts: Pick<ApprovalStep, 'reason'> & Partial<ApprovalStep>,
    apply: () => void,
  ): Pending {
    const step = stepOf('answered', this.#deps.wallMs(), approval.policy, facts);
    return {
      isNews: true,
      write: (transaction) => transaction.addSteps(approval.occurrence, [step]),
      apply: () => {
        apply();
        this.#doubts.recorded(approval, facts.reason);
      },
    };
  }

  /** The event has ended. */
  forget(key: string): void {
    this.#written.delete(key);
  }
}
