// StartRequests without a known answer → `unknown`, not `moot`, when their events start or end.
import { AWAITED_ANSWER, type EventApproval, LOST_ANSWER, type RecordPart } from '../../model/approvals.ts';
import type { ApprovalStore } from '../store.ts';
import { isPassedBy, isPosted, type PassedBy } from './approval-state.ts';

/** The number of lines of the record per read. */
const LINES_AT_ONCE = 200;
const SETTLED: ReadonlySet<string> = new Set(['submitted', 'confirmed', 'moot', 'unknown']);

/** What nothing settled since then. `awaited`: and no line says what was answered. */
type RecordedDoubt = 'lost' | 'awaited' | null;

/**
 * Returns what the record of an occurrence says of StartRequests that may have been accepted; null if there are none.
 */
export function recordedDoubt(store: Pick<ApprovalStore, 'approvals'>, occurrence: number): RecordedDoubt {
  let isLost = false;
  let isAwaited = false;
  for (let after: number | null = 0; after !== null; ) {
    const part: RecordPart = store.approvals.record(occurrence, { after, limit: LINES_AT_ONCE });
    for (const { step, reason } of part.steps) {
      isAwaited = step === 'answered' ? reason === AWAITED_ANSWER : isAwaited && !SETTLED.has(step);
      isLost = step === 'answered' ? isLost || reason === LOST_ANSWER : isLost && !SETTLED.has(step);
    }
    after = part.next;
  }
  if (isLost) return 'lost';
  return isAwaited ? 'awaited' : null;
}

type Occurrence = Pick<EventApproval, 'key' | 'occurrence'>;

export class Doubts {
  /** By key and occurrence: it may have been accepted; true: the record says so. */
  readonly #lost = new Map<string, boolean>();
  /** By key and occurrence: the record says that an answer is awaited. */
  readonly #awaited = new Set<string>();
  /** By key and occurrence: resolved by the answer. */
  readonly #onTheWay = new Map<string, PromiseWithResolvers<void>>();

  /** To be called before a StartRequest with this approval is sent. */
  sent(approval: Occurrence): void {
    this.#onTheWay.set(nameOf(approval), Promise.withResolvers());
  }

  /** To be called when the answer is on disk, or no answer will come. */
  answered(approval: Occurrence): void {
    const name = nameOf(approval);
    this.#onTheWay.get(name)?.resolve();
    this.#onTheWay.delete(name);
  }

  /** Resolves with the answer to the StartRequest in flight. Returns null if there is none. */
  answerTo(approval: Occurrence): Promise<void> | null {
    return this.#onTheWay.get(nameOf(approval))?.promise ?? null;
  }

  /** Whether a StartRequest was sent and its answer is not stored yet. */
  isOnItsWay(approval: Occurrence): boolean {
    return this.#onTheWay.has(nameOf(approval));
  }

  /** Its answer was lost, now or by a process before this one. `isRecorded`: the record says so. */
  add(approval: Occurrence, isRecorded = false): void {
    this.#lost.set(nameOf(approval), isRecorded || this.isRecordedAsLost(approval));
  }

  /** A line `answered` with this reason was stored. */
  recorded(approval: Occurrence, reason: string | null): void {
    const name = nameOf(approval);
    if (reason === AWAITED_ANSWER) this.#awaited.add(name);
    else this.#awaited.delete(name);
    if (reason === LOST_ANSWER && this.#lost.has(name)) this.#lost.set(name, true);
  }

  /** Whether the record says that its answer was lost. */
  isRecordedAsLost(approval: Occurrence): boolean {
    return this.#lost.get(nameOf(approval)) === true;
  }

  /** Whether the record says that an answer is awaited. */
  isRecordedAsAwaited(approval: Occurrence): boolean {
    return this.#awaited.has(nameOf(approval));
  }

  /**
   * Returns the reason of the line that the record needs, so that the next process is in doubt too; null if it needs
   * none.
   */
  unrecorded(approval: Occurrence): string | null {
    if (this.#lost.has(nameOf(approval))) return this.isRecordedAsLost(approval) ? null : LOST_ANSWER;
    return this.isOnItsWay(approval) && !this.isRecordedAsAwaited(approval) ? AWAITED_ANSWER : null;
  }

  /** Whether a StartRequest for it may have been accepted: it is on its way, or its answer was lost. */
  mayBeAccepted(approval: Occurrence): boolean {
    return this.#lost.has(nameOf(approval)) || this.isOnItsWay(approval);
  }

  /** Returns the final state of open approvals if their event starts or ends now. */
  passedBy(approval: Occurrence): PassedBy {
    return this.mayBeAccepted(approval) ? 'unknown' : 'moot';
  }

  /** These are settled: accepted, or reported as `unknown`, with no answer to come; their doubt ends. */
  see(approval: EventApproval): void {
    const isSettled = isPosted(approval.state) || isPassedBy(approval.state);
    if (isSettled && !this.isOnItsWay(approval)) this.forget(approval);
  }

  /** The event has ended. */
  forget(approval: Occurrence): void {
    this.#lost.delete(nameOf(approval));
    this.#awaited.delete(nameOf(approval));
  }
}

function nameOf({ key, occurrence }: Occurrence): string {
  return `${key} ${occurrence}`;
}
