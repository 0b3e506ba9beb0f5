// Changes to approvals → stored on disk, then applied to the open approvals in memory.
import { type Observable, Subject } from 'rxjs';
import type { EventApproval } from '../../model/approvals.ts';
import type { Deps } from '../../time/clock.ts';
import { type GovernedEvent, GovernedEvents } from '../rules/governed-events.ts';
import type { Policy } from '../rules/policy.ts';
import type { ApprovalStore } from '../store.ts';
import { AnswerRecord } from './answer-record.ts';
import type { Deadlines } from './deadlines.ts';
import { Doubts } from './doubts.ts';
import { type Pending, together } from './pending.ts';

export interface LedgerParts {
  readonly policy: Policy;
  readonly store: Pick<ApprovalStore, 'commit'>;
  readonly deps: Pick<Deps, 'wallMs'>;
  readonly deadlines: Pick<Deadlines, 'set'>;
}

/** The approvals of all occurrences that have not ended, as they are on disk. */
export class Ledger {
  readonly governedEvents: GovernedEvents;
  readonly doubts = new Doubts();
  readonly answerRecord: AnswerRecord;
  readonly #store: LedgerParts['store'];
  /** By key. */
  readonly #open = new Map<string, EventApproval>();
  readonly #decided$ = new Subject<EventApproval>();

  constructor({ policy, store, deps, deadlines }: LedgerParts) {
    this.#store = store;
    this.governedEvents = new GovernedEvents(policy, (key, dueMs) => deadlines.set(key, dueMs));
    this.answerRecord = new AnswerRecord(deps, this.doubts);
  }

  /** Emits approvals that must be posted: when they are decided, and at each `remind`. */
  get decided$(): Observable<EventApproval> {
    return this.#decided$;
  }

  /** Returns the approvals of an occurrence, or null if there are none or it has ended. */
  approvalOf(key: string, occurrence: number): EventApproval | null {
    const approval = this.#open.get(key);
    return approval?.occurrence === occurrence ? approval : null;
  }

  /** Returns the event with the decision that governs it, or null if the event is not Scheduled. */
  matterOf(known: GovernedEvent['known']): GovernedEvent | null {
    return this.governedEvents.matterOf(known);
  }

  /** Returns the approvals of all events that have not ended. */
  open(): readonly EventApproval[] {
    return [...this.#open.values()];
  }

  /** Emits all decided approvals again. */
  remind(): void {
    for (const approval of this.#open.values()) if (approval.state === 'submitting') this.#decided$.next(approval);
  }

  /** Writes all parts in one transaction, then applies them in memory. @throws BridgeError BRIDGE_STORE_*; nothing is recorded then */
  commit(parts: readonly Pending[]): void {
    const pending = together(parts);
    if (pending.isNews) this.#store.commit(pending.write);
    pending.apply();
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
