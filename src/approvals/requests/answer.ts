// What an approver is told: results for each event, or the one refusal that decided. Types, and the refusals in their words.

/** Where one approval stands: `started` for one that came before the start, `moot` where the event started or went away without it, `unknown` where perhaps by it. */
export type ResultState = 'submitted' | 'started' | 'dry-run' | 'waiting' | 'held' | 'submitting' | 'moot' | 'unknown';

export interface ApprovalResult {
  /** In the service's own letter case. */
  readonly eventId: string;
  readonly state: ResultState;
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

/** By `type`; docs/approve/approvals.md lists them for callers. */
export const REFUSALS = {
  'bad-request': { status: 400, title: 'The request cannot be understood' },
  unknown: { status: 404, title: 'No such event' },
  'seen-unknown': { status: 404, title: 'Seen names no CloudEvent of this event' },
  'not-held': { status: 404, title: 'No such hold' },
  ended: { status: 410, title: 'The event has ended' },
  old: { status: 409, title: 'The approval is older than the event' },
  started: { status: 409, title: 'The event has started already' },
  submitted: { status: 409, title: 'The approval has been submitted already' },
  changed: { status: 409, title: 'The event has changed' },
  scope: { status: 403, title: 'Outside the scope of this approver' },
  forbidden: { status: 403, title: 'This approver may not approve this event' },
  refused: { status: 502, title: 'The metadata service refused the approval' },
} as const;

/** The `type` of a refusal (behaviour 6.6). */
export type RefusalType = keyof typeof REFUSALS;

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
