// Types of approvals: votes, holds, decisions, steps of the record, messages of sources.
import type { Instant, ScheduledEvent } from './events.ts';

/** Who sent an approval, hold or release, as authenticated; never what the body claims. */
export interface ApprovalOrigin {
  /** A name in `approvals.approvers`. */
  readonly approver: string;
  /**
   * How it came: `token`, `certificate` or `jwt` by HTTP, `source:NAME` through a broker, `sink:NAME` from a sink, `all`
   * by a hold of everything.
   */
  readonly via: string;
  /**
   * True if every bridge of the group receives it, so that the leader posts. False: only this bridge, which posts at
   * once (behaviour 8.9).
   */
  readonly isShared: boolean;
}

/** A yes to one event. */
export interface ApprovalVote extends ApprovalOrigin {
  readonly at: Instant;
  /** The event when the yes was recorded. The yes is void once the event got worse than that. */
  readonly event: ScheduledEvent;
  /** True if the request named the CloudEvent that it answers (`Seen`). */
  readonly hasSeen: boolean;
}

/** While an event has one, the bridge posts nothing for it. */
export interface ApprovalHold extends ApprovalOrigin {
  readonly reason: string | null;
  /** When this reason was given. */
  readonly at: Instant;
  /** When the message that set it was sent, in milliseconds since 1970; null for a request, whose time is `at`. */
  readonly sentMs: number | null;
  /** The earlier reasons that this one replaced; null for the first. */
  readonly replaced: { readonly times: number; readonly sinceMs: number } | null;
}

/** While there is one, the bridge posts nothing for any event, known or to come. */
export interface HoldOfAll {
  /** The name of the approver who set it: an admin. */
  readonly by: string;
  /** How it came, as `ApprovalOrigin.via`. */
  readonly via: string;
  /** When this reason was given. */
  readonly at: Instant;
  readonly reason: string | null;
}

/** The EventId that stands for every event in a hold and a release by HTTP. */
export const ALL_EVENTS = '*';

/** What makes a StartRequest right: a full quorum, a rule that approves, or the deadline of one that waits. */
export interface ApprovalDecision {
  /**
   * Null: nothing does. It is what is left of a dry run that is over, whose rules and deadlines decide this occurrence
   * no more; or its deadline has expired, and a budget holds the approval back.
   */
  readonly by: 'quorum' | 'policy' | 'deadline' | null;
  /** Since when without a break. */
  readonly at: Instant;
  /** This bridge posts at once, leader or not. */
  readonly atOnce: boolean;
  /** The deadline that fell due and says to approve, in milliseconds since 1970; null if none did. */
  readonly dueMs: number | null;
  /**
   * The content of the rule that governed, by `ruleId`; null without one, and in decisions that earlier versions
   * stored.
   */
  readonly rule: string | null;
  /**
   * A dry run has decided this occurrence, now or before: no rule and no deadline decides it once more, approvers do.
   */
  readonly isSpent: boolean;
  /** The window in which the rule approves; null if it approves at any time. */
  readonly window: ApprovalWindow | null;
}

/** An event that has ended after it was in use for budgets: its names count for the `rest` of each budget. */
export interface Rest {
  readonly occurrence: number;
  readonly resources: readonly string[];
  /** Its end in milliseconds since 1970. */
  readonly endedMs: number;
}

/** One opening of a window, in milliseconds since 1970: it contains `fromMs`, and not `untilMs`. */
export interface ApprovalWindow {
  /** Its name in `approvals.windows`. */
  readonly window: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Since when the rule approves: the opening, or a later decision. The turns of a group count from it. */
  readonly momentMs: number;
}

/**
 * - `waiting`: for more approvers.
 * - `held`: recorded, and an approver or a sink holds the event.
 * - `submitting`: decided, and about to be posted.
 * - `submitted`: accepted by the metadata service.
 * - `confirmed`: the event was seen `Started` after that.
 * - `moot`: the event started or went away without the approval.
 * - `unknown`: the event started or went away, perhaps by the approval: an answer of the metadata service was lost.
 * - `failed`: refused by the metadata service.
 * - `dry-run`: decided while `approvals.dryRun` was set, so it is never posted.
 */
export const APPROVAL_STATES = [
  'waiting',
  'held',
  'submitting',
  'submitted',
  'confirmed',
  'moot',
  'unknown',
  'failed',
  'dry-run',
] as const;

export type ApprovalState = (typeof APPROVAL_STATES)[number];

/**
 * The state of one approval in the answer to its approver. `started`: it came before the event's start. `moot`: the
 * event started or went away without it. `unknown`: perhaps by it.
 */
export const APPROVAL_RESULT_STATES = [
  'submitted',
  'started',
  'dry-run',
  'moot',
  'unknown',
  'waiting',
  'held',
  'submitting',
] as const;

export type ApprovalResultState = (typeof APPROVAL_RESULT_STATES)[number];

/**
 * The result of a message of a source, as a metric counts it. A `parked` message counts again when it is settled; a
 * `repeated` one was received before.
 */
export const MESSAGE_RESULTS = ['settled', 'refused', 'parked', 'given_back', 'invalid', 'repeated'] as const;

export type MessageResult = (typeof MESSAGE_RESULTS)[number];

/** The longest body of an approval, a hold or a release, by HTTP and as a message. */
export const LARGEST_APPROVAL_BYTES = 64 * 1024;

export interface EventApproval {
  readonly key: string;
  readonly occurrence: number;
  readonly state: ApprovalState;
  /** In the order in which they were recorded. */
  readonly votes: readonly ApprovalVote[];
  /** In the order in which they were set: one for each approver, and one for each sink that approves in its name. */
  readonly holds: readonly ApprovalHold[];
  readonly decision: ApprovalDecision | null;
  /** The rule that governs the event: `documentation` or `policy[N]`; null if none matches. */
  readonly policy: string | null;
  /** True if its votes and its decision are of a dry run. */
  readonly isDryRun: boolean;
  /** When `state` was reached. With `submitting`, the turns of a group's ranks count from this time. */
  readonly at: Instant;
}

/**
 * `reason` of a step `answered` if no answer came, or the process ended before it was stored. So the doubt survives a
 * restart.
 */
export const LOST_ANSWER = 'lost';

/**
 * `reason` of a step `answered` if a StartRequest is on its way while its approval stops being `submitting`, or rules
 * are reloaded. The next step `answered` says what came of it. If there is none, the process was killed, and the answer
 * is lost.
 */
export const AWAITED_ANSWER = 'awaited';

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

/** One step in the record of an occurrence. Steps are added, never changed. */
export interface ApprovalStep {
  readonly step: ApprovalStepName;
  readonly atMs: number;
  /** Null for a step without an approver. */
  readonly approver: string | null;
  /** As `ApprovalOrigin.via`; null for a step without an approver. */
  readonly via: string | null;
  /** The rule that governed the event. */
  readonly policy: string | null;
  /** The answer of the metadata service: an HTTP status or an error code; null if it was not asked. */
  readonly status: number | string | null;
  /** An approver's reason for a hold, what decided, or why it failed. */
  readonly reason: string | null;
  /** The number of equal steps that this one stands for; absent for 1. */
  readonly times?: number;
}

/** A part of a record: at most `limit` steps after the step `after`; 0 is the beginning. */
export interface RecordRange {
  readonly after: number;
  readonly limit: number;
}

/** Steps that are counted and not written, so that nobody can fill the disk with them. */
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
  /** When the metadata service last accepted it; null if it did not. */
  readonly submittedMs: number | null;
  readonly unwritten: readonly UnwrittenSteps[];
}

/** A message of a source (behaviour 8.11). */
export interface ReceivedMessage {
  /** The source's name in the configuration. */
  readonly source: string;
  /** The same at each delivery of this message. */
  readonly id: string;
  /** The approver that the source is configured for. */
  readonly approver: string;
  /** Its place at the broker, for logs. */
  readonly place: Readonly<Record<string, string | number>>;
  readonly body: Uint8Array;
  /** When it was sent, in milliseconds since 1970, by the broker's clock. */
  readonly sentMs: number;
  readonly receivedAt: Instant;
}

/** Why a message was refused, as a dead-letter queue stores it. */
export interface MessageRefusal {
  /** The `type` of the refusal. */
  readonly reason: string;
  readonly description: string;
}

/**
 * The state of a message in the store: it waits for its event, or it is settled for good. `refusal` is null if it was
 * not refused.
 */
export type MessageState =
  | { readonly kind: 'parked' }
  | { readonly kind: 'handled'; readonly refusal: MessageRefusal | null };

/** The metadata service's answer to a StartRequest. */
export type PostResult =
  | { readonly kind: 'accepted' }
  /** Not now: post again after `delayMs`. `mayHaveArrived`: no answer came, and the service may have accepted it. */
  | { readonly kind: 'again'; readonly error: Error; readonly delayMs: number; readonly mayHaveArrived: boolean }
  /** Refused: fetch the document again and decide. */
  | { readonly kind: 'refused'; readonly status: number; readonly error: Error };
