// Results of a request → the answer: one result for each event, or the refusal that decided. Pure.
import type { ApprovalResultState } from '../../model/approvals.ts';
import { REFUSALS, type RefusalType } from '../../model/problems.ts';

export interface RequestResult {
  /** In the letter case of the metadata service. */
  readonly eventId: string;
  readonly state: ApprovalResultState;
  /** In the order in which they approved. */
  readonly approvedBy: readonly string[];
  /** With `waiting`, and with `held` if the quorum is not full. */
  readonly waitingFor?: readonly string[];
  /** Only with `held`. */
  readonly heldBy?: readonly string[];
}

/** A hold, as the HTTP interface returns it. */
export interface HoldView {
  readonly approver: string;
  readonly reason: string | null;
  /** RFC 3339: when this reason was given. */
  readonly at: string;
  /** The hold of everything has set it, and only its release ends it; absent for any other hold. */
  readonly all?: true;
  /** How often the reason was replaced, and when the hold was set; absent with the first reason. */
  readonly replaced?: { readonly times: number; readonly since: string };
}

/** The answer to a recorded hold: all current holds of the event. */
export interface HoldRecorded {
  readonly kind: 'held';
  readonly status: 201;
  readonly hold: { readonly eventId: string; readonly holds: readonly HoldView[] };
}

/** The answer to a hold of everything. */
export interface AllHeld {
  readonly kind: 'held';
  readonly status: 201;
  readonly hold: HoldRecorded['hold'] & {
    /** Events with a StartRequest that was sent before, and that the metadata service may have accepted. */
    readonly submitting: readonly string[];
  };
}

export type HoldAnswer = HoldRecorded | Refusal;
export type AllHeldAnswer = AllHeld | Refusal;
export type ReleaseAnswer = { readonly kind: 'released' } | Refusal;

export interface Refusal {
  readonly kind: 'refusal';
  readonly status: number;
  readonly type: RefusalType;
  readonly title: string;
  /** States what failed and what to do. */
  readonly detail: string;
  /** The id that was refused, as the caller wrote it; absent if the body as a whole is invalid. */
  readonly eventId?: string;
}

/** The status is 202 if any result is `waiting`, `held` or `submitting`, otherwise 200. */
interface ApprovalResults {
  readonly kind: 'results';
  readonly status: 200 | 202;
  readonly results: readonly RequestResult[];
}

export type ApprovalAnswer = ApprovalResults | Refusal;

export function refusal(type: RefusalType, detail: string, eventId?: string): Refusal {
  return { kind: 'refusal', ...REFUSALS[type], type, detail, ...(eventId === undefined ? {} : { eventId }) };
}

export function answerOf(results: readonly RequestResult[]): ApprovalResults {
  const isOpen = results.some(({ state }) => state === 'waiting' || state === 'held' || state === 'submitting');
  return { kind: 'results', status: isOpen ? 202 : 200, results };
}
