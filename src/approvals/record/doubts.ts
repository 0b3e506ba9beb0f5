// StartRequests without a known answer → `unknown`, not `moot`, when their events start or end.
import { type EventApproval, LOST_ANSWER, type RecordPart } from '../../model/approvals.ts';
import type { ApprovalStore } from '../store.ts';
import { isPassedBy, isPosted, type PassedBy } from './approval-state.ts';

/** The number of lines of the record per read. */
const LINES_AT_ONCE = 200;
const SETTLED: ReadonlySet<string> = new Set(['submitted', 'confirmed', 'moot', 'unknown']);

/** Whether the record of an occurrence tells of a lost answer, and of nothing since then that settled it. */
export function isInDoubt(store: Pick<ApprovalStore, 'approvals'>, occurrence: number): boolean {
  let isLost = false;
  for (let after: number | null = 0; after !== null; ) {
    const part: RecordPart = store.approvals.record(occurrence, { after, limit: LINES_AT_ONCE });
    for (const { step, reason } of part.steps)
      isLost = step === 'answered' ? isLost || reason === LOST_ANSWER : isLost && !SETTLED.has(step);
    after = part.next;
  }
  return isLost;
}

export class Doubts {
  /** By key: it may have been accepted. */
  readonly #keys = new Set<string>();
  /** By key and occurrence; resolved by the answer. */
  readonly #onTheWay = new Map<string, PromiseWithResolvers<void>>();

  /** To be called before a StartRequest with this approval is sent. */
  sent({ key, occurrence }: EventApproval): void {
    this.#onTheWay.set(`${key} ${occurrence}`, Promise.withResolvers());
  }

  /** To be called when the answer is on disk, or no answer will come. */
  answered({ key, occurrence }: EventApproval): void {
    const name = `${key} ${occurrence}`;
    this.#onTheWay.get(name)?.resolve();
    this.#onTheWay.delete(name);
  }

  /** Resolves with the answer to the StartRequest in flight. Returns null if there is none. */
  answerTo({ key, occurrence }: Pick<EventApproval, 'key' | 'occurrence'>): Promise<void> | null {
    return this.#onTheWay.get(`${key} ${occurrence}`)?.promise ?? null;
  }

  /** Whether a StartRequest was sent and its answer is not stored yet. */
  isOnItsWay({ key, occurrence }: Pick<EventApproval, 'key' | 'occurrence'>): boolean {
    return this.#onTheWay.has(`${key} ${occurrence}`);
  }

  /** Its answer was lost, now or by a process before this one. */
  add({ key }: EventApproval): void {
    this.#keys.add(key);
  }

  /** Whether a StartRequest for it may have been accepted: it is on its way, or its answer was lost. */
  mayBeAccepted({ key, occurrence }: Pick<EventApproval, 'key' | 'occurrence'>): boolean {
    return this.#keys.has(key) || this.isOnItsWay({ key, occurrence });
  }

  /** Returns the final state of open approvals if their event starts or ends now. */
  passedBy(approval: Pick<EventApproval, 'key' | 'occurrence'>): PassedBy {
    return this.mayBeAccepted(approval) ? 'unknown' : 'moot';
  }

  /** These are settled: accepted, or reported as `unknown`, with no answer to come; their doubt ends. */
  see(approval: EventApproval): void {
    const { key, state } = approval;
    if ((isPosted(state) || isPassedBy(state)) && !this.isOnItsWay(approval)) this.#keys.delete(key);
  }

  /** The event has ended. */
  forget(key: string): void {
    this.#keys.delete(key);
  }
}
