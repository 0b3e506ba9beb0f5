// StartRequests without a known answer → `unknown`, not `moot`, when their events start or go.
import { AWAITED_ANSWER, type EventApproval, LOST_ANSWER, type RecordPart } from '../../model/approvals.ts';
import type { ApprovalStore } from '../store.ts';
import { isPassedBy, isPosted, type PassedBy } from './approval-state.ts';

/** Of the record, read in parts. */
const LINES_AT_ONCE = 200;
const SETTLED: ReadonlySet<string> = new Set(['submitted', 'confirmed', 'moot', 'unknown']);

/** What nothing settled since then. `awaited`: and no line says what was answered. */
export type RecordedDoubt = 'lost' | 'awaited' | null;

/** Returns what the record of an occurrence says of StartRequests that may have been accepted; null if there are none. */
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

export class Doubts {
  /** By key: it may have been accepted; true: the record says so. */
  readonly #keys = new Map<string, boolean>();
  /** Keys of which the record says that an answer is awaited. */
  readonly #awaited = new Set<string>();
  /** By key and occurrence: resolved by the answer. */
  readonly #onTheWay = new Map<string, PromiseWithResolvers<void>>();

  /** A StartRequest with it leaves now. */
  sent({ key, occurrence }: EventApproval): void {
    this.#onTheWay.set(`${key} ${occurrence}`, Promise.withResolvers());
  }

  /** What was answered is on disk, or no answer will come. */
  answered({ key, occurrence }: EventApproval): void {
    const name = `${key} ${occurrence}`;
    this.#onTheWay.get(name)?.resolve();
    this.#onTheWay.delete(name);
  }

  /** Resolves with the answer to what is on its way; null if nothing is. */
  answerTo({ key, occurrence }: Pick<EventApproval, 'key' | 'occurrence'>): Promise<void> | null {
    return this.#onTheWay.get(`${key} ${occurrence}`)?.promise ?? null;
  }

  /** Whether a StartRequest for it was sent, and its answer is not stored yet. */
  isOnItsWay({ key, occurrence }: Pick<EventApproval, 'key' | 'occurrence'>): boolean {
    return this.#onTheWay.has(`${key} ${occurrence}`);
  }

  /** Its answer was lost, now or by a process before this one. `isRecorded`: the record says so. */
  add({ key }: Pick<EventApproval, 'key'>, isRecorded = false): void {
    this.#keys.set(key, isRecorded || this.#keys.get(key) === true);
  }

  /** A line `answered` with this reason was stored. */
  recorded({ key }: Pick<EventApproval, 'key'>, reason: string | null): void {
    if (reason === AWAITED_ANSWER) this.#awaited.add(key);
    else this.#awaited.delete(key);
    if (reason === LOST_ANSWER && this.#keys.has(key)) this.#keys.set(key, true);
  }

  /** Whether the record says that its answer was lost. */
  isRecordedAsLost({ key }: Pick<EventApproval, 'key'>): boolean {
    return this.#keys.get(key) === true;
  }

  /** Whether the record says that an answer is awaited. */
  isRecordedAsAwaited({ key }: Pick<EventApproval, 'key'>): boolean {
    return this.#awaited.has(key);
  }

  /** Returns the reason of the line that the record needs, so that the next process is in doubt too; null if it needs none. */
  unrecorded(approval: Pick<EventApproval, 'key' | 'occurrence'>): string | null {
    const isRecorded = this.#keys.get(approval.key);
    if (isRecorded !== undefined) return isRecorded ? null : LOST_ANSWER;
    return this.isOnItsWay(approval) && !this.#awaited.has(approval.key) ? AWAITED_ANSWER : null;
  }

  /** Whether a StartRequest for it may have been accepted: it is on its way, or its answer was lost. */
  mayBeAccepted({ key, occurrence }: Pick<EventApproval, 'key' | 'occurrence'>): boolean {
    return this.#keys.has(key) || this.isOnItsWay({ key, occurrence });
  }

  /** What an event that starts or goes now makes of its open approvals. */
  passedBy(approval: Pick<EventApproval, 'key' | 'occurrence'>): PassedBy {
    return this.mayBeAccepted(approval) ? 'unknown' : 'moot';
  }

  /** These are settled: accepted, or reported as `unknown`, with no answer to come; their doubt ends. */
  see(approval: EventApproval): void {
    const { key, state } = approval;
    if (this.isOnItsWay(approval) || !(isPosted(state) || isPassedBy(state))) return;
    this.#keys.delete(key);
    this.#awaited.delete(key);
  }

  /** The event has ended. */
  forget(key: string): void {
    this.#keys.delete(key);
    this.#awaited.delete(key);
  }
}
