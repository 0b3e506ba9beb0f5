// Types of approvals: votes, holds, decisions, steps of the record, messages of sources.
import type { Instant, ScheduledEvent } from './events.ts';

/** Who spoke, as authenticated: never what a body claims. */
export interface ApprovalOrigin {
  /** A name in `approvals.approvers`. */
  readonly approver: string;
  /** How: `token`, `certificate` or `jwt` at the HTTP interface, `source:NAME` through a broker, `sink:NAME` by what a sink has done. */
  readonly via: string;
  /** Every bridge of the group receives it, so its leader posts; false: this bridge alone, so it posts at once (behaviour 8.9). */
  readonly isShared: boolean;
}

/** A yes to one event. */
export interface ApprovalVote extends ApprovalOrigin {
  readonly at: Instant;
  /** What the event looked like when the yes was recorded: it is void once the event got worse than that. */
  readonly event: ScheduledEvent;
  /** It named the CloudEvent that it answers (`Seen`). */
  readonly hasSeen: boolean;
}

/** While one stands, nothing is posted for its event. */
export interface ApprovalHold extends ApprovalOrigin {
  readonly reason: string | null;
  /** When this reason was given. */
  readonly at: Instant;
  /** When the message that set it was sent, in milliseconds since 1970; null where it was asked for at `at`. */
  readonly sentMs: number | null;
  /** The reasons that this one came in the place of; null where it is the first. */
  readonly replaced: { readonly times: number; readonly sinceMs: number } | null;
}

/** What made a StartRequest right: a full quorum, a rule that approves, or the deadline of one that waits. */
export interface ApprovalDecision {
  readonly by: 'quorum' | 'policy' | 'deadline';
  /** Since when without a break. */
  readonly at: Instant;
  /** This bridge posts at once, leader or not. */
  readonly atOnce: boolean;
  /** The deadline that fell due and says to approve, in milliseconds since 1970; null where none did. */
  readonly dueMs: number | null;
  /** A dry run has decided this occurrence, now or before: no rule and no deadline decides it once more, approvers do. */
  readonly isSpent: boolean;
}

/**
 * `waiting` for more approvers; `held`: recorded, and somebody's hold stands; `submitting`: decided, to be posted; `submitted`: accepted by the
 * metadata service; `confirmed`: seen `Started` after that; `moot`: started or gone without it; `unknown`: started or gone, and nobody can know
 * whether by it, as an answer of the metadata service was lost; `failed`: refused by the metadata service; `dry-run`: decided while
 * `approvals.dryRun` was set, so never posted.
 */
export const APPROVAL_STATES = ['waiting', 'held', 'submitting', 'submitted', 'confirmed', 'moot', 'unknown', 'failed', 'dry-run'] as const;

export type ApprovalState = (typeof APPROVAL_STATES)[number];

/**
 * Where one approval stands, as its approver is answered: `started` for one that came before the start, `moot` where the event started or
 * went away without it, `unknown` where perhaps by it.
 */
export const APPROVAL_RESULT_STATES = ['submitted', 'started', 'dry-run', 'moot', 'unknown', 'waiting', 'held', 'submitting'] as const;

export type ApprovalResultState = (typeof APPROVAL_RESULT_STATES)[number];

/** What became of a message of a source, as a metric counts it. A `parked` one counts again when it is settled; a `repeated` one had been received before. */
export const MESSAGE_RESULTS = ['settled', 'refused', 'parked', 'given_back', 'invalid', 'repeated'] as const;

export type MessageResult = (typeof MESSAGE_RESULTS)[number];

/** The longest body of an approval, a hold or a release, by HTTP and as a message. */
export const LARGEST_APPROVAL_BYTES = 64 * 1024;

/** The approvals of one occurrence of an event. */
export interface EventApproval {
  readonly key: string;
  readonly occurrence: number;
  readonly state: ApprovalState;
  /** In the order in which they were recorded. */
  readonly votes: readonly ApprovalVote[];
  /** In the order in which they were set, one for each approver and for each sink that speaks for it. */
  readonly holds: readonly ApprovalHold[];
  readonly decision: ApprovalDecision | null;
  /** The rule that governs the event: `documentation`, `policy[N]`; null where none matches. */
  readonly policy: string | null;
  /** Its votes and its decision are of a dry run. */
  readonly isDryRun: boolean;
  /** When `state` was reached: with `submitting`, a group's ranks count from here. */
  readonly at: Instant;
}

/** `reason` of a line `answered`: no answer came, or the process ended before it could be stored. It is how a doubt outlives its process. */
export const LOST_ANSWER = 'lost';

export const APPROVAL_STEPS = [
  'recorded',
  'held',
  'released',
  'void',
  'decided',
  'dropped',
  'left',
  'answered',
  'submitted',
  'confirmed',
  'failed',
  'moot',
  'unknown',
] as const;

export type ApprovalStepName = (typeof APPROVAL_STEPS)[number];

/** One line of the record of an occurrence; lines are added, never changed. */
export interface ApprovalStep {
  readonly step: ApprovalStepName;
  readonly atMs: number;
  /** Null for a step without an approver. */
  readonly approver: string | null;
  /** As `ApprovalOrigin.via`; null for a step without an approver. */
  readonly via: string | null;
  /** The rule that governed. */
  readonly policy: string | null;
  /** What the metadata service answered: an HTTP status or an error code; null where it was not asked. */
  readonly status: number | string | null;
  /** An approver's reason for a hold, what decided, why it failed. */
  readonly reason: string | null;
  /** How many of its kind this one line stands for; absent: itself alone. */
  readonly times?: number;
}

/** Which part of a record: at most `limit` lines behind the one that `after` names, 0 for the beginning. */
export interface RecordRange {
  readonly after: number;
  readonly limit: number;
}

/** What happened and has no line in the record any more: who does much of it fills no disk. */
export interface UnwrittenSteps {
  /** Null for a step without an approver. */
  readonly approver: string | null;
  readonly steps: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A part of an occurrence's record, and its summary. */
export interface RecordPart {
  /** In the order in which they were written. */
  readonly steps: readonly ApprovalStep[];
  /** The `after` of the next part; null at the end. */
  readonly next: number | null;
  /** When it was accepted last; null where it was not. */
  readonly submittedMs: number | null;
  readonly unwritten: readonly UnwrittenSteps[];
}

/** An approval as a source brought it (behaviour 8.11). */
export interface ReceivedMessage {
  /** The source's name in the configuration. */
  readonly source: string;
  /** The same each time this message is received. */
  readonly id: string;
  /** Who speaks through the source. */
  readonly approver: string;
  /** Where it stands at the broker, for logs. */
  readonly place: Readonly<Record<string, string | number>>;
  readonly body: Uint8Array;
  /** When it was sent, in milliseconds since 1970, as the broker says. */
  readonly sentMs: number;
  readonly receivedAt: Instant;
}

/** Why a message was refused, in the words that a dead-letter queue takes. */
export interface MessageRefusal {
  /** The `type` of the refusal. */
  readonly reason: string;
  readonly description: string;
}

/** What the store knows of a message: it waits for its event, or it is settled for good, and refused where `refusal` is not null. */
export type MessageState = { readonly kind: 'parked' } | { readonly kind: 'handled'; readonly refusal: MessageRefusal | null };

/** What the metadata service said to a StartRequest. */
export type PostResult =
  | { readonly kind: 'accepted' }
  /** Not now: post again in the rhythm of polling. `mayHaveArrived`: it gave no answer, and may have accepted it. */
  | { readonly kind: 'again'; readonly error: Error; readonly delayMs: number; readonly mayHaveArrived: boolean }
  /** Refused: read the document again and decide. */
  | { readonly kind: 'refused'; readonly status: number; readonly error: Error };
