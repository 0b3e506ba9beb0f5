// Changes to approvals → on disk, then in memory: those of the occurrences that have not ended.
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

/** What it holds is what is on disk. */
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
    this.answerRecord = new AnswerRecord(deps);
  }

  /** What has to be posted, each time it comes up. */
  get decided$(): Observable<EventApproval> {
    return this.#decided$;
  }

  /** Null without approvals, and once the occurrence has ended. */
  approvalOf(key: string, occurrence: number): EventApproval | null {
    const approval = this.#open.get(key);
    return approval?.occurrence === occurrence ? approval : null;
  }

  /** The event with what governs it; null where it is not Scheduled. */
  matterOf(known: GovernedEvent['known']): GovernedEvent | null {
    return this.governedEvents.matterOf(known);
  }

  /** Those of all events that have not ended. */
  open(): readonly EventApproval[] {
    return [...this.#open.values()];
  }

  /** Everything that is decided comes up again. */
  remind(): void {
    for (const approval of this.#open.values()) if (approval.state === 'submitting') this.#decided$.next(approval);
  }

  /** All of them in one transaction, and none where nothing is new. @throws BridgeError BRIDGE_STORE_*, and then nothing is recorded. */
  commit(parts: readonly Pending[]): void {
    const pending = together(parts);
    if (pending.isNews) this.#store.commit(pending.write);
    pending.apply();
  }

  /** It is on disk. */
  keep(approval: EventApproval): void {
    this.#open.set(approval.key, approval);
    this.doubts.see(approval);
    if (approval.state === 'submitting') this.#decided$.next(approval);
  }

  /** The event has ended. */
  forget(known: GovernedEvent['known']): void {
    this.#open.delete(known.key);
    this.answerRecord.forget(known.key);
    this.doubts.forget(known.key);
    this.governedEvents.forget(known);
  }
}
