// What an approver is told: results for each event, or the one refusal that decided.
import type { ApprovalResultState } from '../../model/approvals.ts';
import { REFUSALS, type RefusalType } from '../../model/problems.ts';

export interface ApprovalResult {
  /** In the service's own letter case. */
  readonly eventId: string;
  readonly state: ApprovalResultState;
  /** In the order in which they said yes. */
  readonly approvedBy: readonly string[];
  /** With `waiting`, and with `held` where the quorum is not full. */
  readonly waitingFor?: readonly string[];
  /** Only with `held`. */
  readonly heldBy?: readonly string[];
}

/** A hold, as the routes show it. */
export interface HoldView {
  readonly approver: string;
  readonly reason: string | null;
  /** RFC 3339: when this reason was given. */
  readonly at: string;
  /** How often its reason was replaced, and since when it stands; absent where it has its first one. */
  readonly replaced?: { readonly times: number; readonly since: string };
}

/** A hold was recorded: all that stand for the event now. */
export interface HoldRecorded {
  readonly kind: 'held';
  readonly status: 201;
  readonly hold: { readonly eventId: string; readonly holds: readonly HoldView[] };
}

export type HoldAnswer = HoldRecorded | Refusal;
export type ReleaseAnswer = { readonly kind: 'released' } | Refusal;

export interface Refusal {
  readonly kind: 'refusal';
  readonly status: number;
  readonly type: RefusalType;
  readonly title: string;
  /** What failed and what to do. */
  readonly detail: string;
  /** Which id decided, as the caller wrote it; absent where the body as a whole is at fault. */
  readonly eventId?: string;
}

/** 202 where any result is `waiting`, `held` or `submitting`, else 200. */
export interface ApprovalResults {
  readonly kind: 'results';
  readonly status: 200 | 202;
  readonly results: readonly ApprovalResult[];
}

export type ApprovalAnswer = ApprovalResults | Refusal;

export function refusal(type: RefusalType, detail: string, eventId?: string): Refusal {
  return { kind: 'refusal', ...REFUSALS[type], type, detail, ...(eventId === undefined ? {} : { eventId }) };
}

export function answerOf(results: readonly ApprovalResult[]): ApprovalResults {
  const isOpen = results.some(({ state }) => state === 'waiting' || state === 'held' || state === 'submitting');
  return { kind: 'results', status: isOpen ? 202 : 200, results };
}
