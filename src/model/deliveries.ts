// Types of a sink's queue: its deliveries, their results, and the states of its lane.

/** A CloudEvent queued for one sink. */
export interface Delivery {
  /** Position in the queue; later rows have larger ones. */
  readonly seq: number;
  readonly sink: string;
  readonly id: string;
  readonly change: string;
  readonly partitionKey: string;
  readonly timeMs: number;
  readonly bytes: Uint8Array;
  /** When it was queued, by the store's clock. */
  readonly queuedAtMs: number;
  /** Failed attempts so far. */
  readonly attempts: number;
  /** When its event ended; null while it has not. */
  readonly endedAtMs: number | null;
}

/** A delivery that an adapter works on, for types whose deliveries take long. */
export interface RunningWork {
  /** Identifies the delivery. */
  readonly seq: number;
  /** In the service's letter case; null for `source.*`. */
  readonly eventId: string | null;
  /** Wall time. */
  readonly sinceMs: number;
  /** 1, 2, …: counts the attempts of this delivery. */
  readonly attempt: number;
  /**
   * The last line of the program, or what a drain waits for; null if there is none yet. At most 1,000 characters,
   * without secrets and control characters.
   */
  readonly last: string | null;
}

/** The states of a sink's lane, as `/readyz` and metrics show them. */
export const LANE_STATES = [
  'delivering',
  'backing off',
  'probing',
  'held',
  'misconfigured',
  'retired',
  'paused',
] as const;
export type SinkState = (typeof LANE_STATES)[number];

/** The results of an attempt, as metrics count them. */
export const ATTEMPT_OUTCOMES = ['accepted', 'retry', 'misconfigured', 'retired', 'refused', 'expired'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Why a delivery was given up. */
export type DeadLetterReason = 'refused' | 'expired' | 'sink removed';

/**
 * The `status` of an accepted delivery that was not carried out, or not fully, because its event has changed, started
 * or ended since.
 */
export const SUPERSEDED = 'superseded';

/**
 * The result of one attempt; `accepted` and `dead` end the row. `approves`: the id of the CloudEvent that the sink's
 * approver approves by it.
 */
export type Settlement =
  | { readonly seq: number; readonly result: 'accepted'; readonly status?: string; readonly approves?: string }
  | { readonly seq: number; readonly result: 'failed'; readonly status: number | string | null }
  | {
      readonly seq: number;
      readonly result: 'dead';
      readonly reason: DeadLetterReason;
      readonly status: number | string | null;
    };

/** The last positions of journal and queue at some moment. Later rows have higher numbers. */
export interface QueuePosition {
  readonly journal: number;
  readonly delivery: number;
}

/**
 * Why and since when a sink is retired: it gets nothing until its configuration changes or an operator runs `resume`.
 */
export interface Retirement {
  readonly reason: string;
  readonly atMs: number;
}

/** An operator has paused a sink: it gets nothing until it is resumed, and its queue keeps growing. */
export interface Pause {
  /** The operator's name. */
  readonly by: string;
  readonly atMs: number;
}

/** Why a delivery to the sink last failed. */
export interface SinkError {
  readonly code: string;
  readonly message: string;
  readonly atMs: number;
}

/** What the store keeps about a sink. A member is null if that has not happened yet. */
export interface SinkRecord {
  readonly pause: Pause | null;
  readonly lastAcceptedAtMs: number | null;
  readonly lastError: SinkError | null;
}

/** A delivery that was given up, as `dead-letters list` prints it. */
export interface DeadLetter {
  /** CloudEvent id. */
  readonly id: string;
  /** In the service's letter case; null for `source.*`. */
  readonly eventId: string | null;
  /** Null for a step of an approval, and for `source.*`. */
  readonly eventType: string | null;
  /** The machines that the event names; empty if `eventType` is null. */
  readonly resources: readonly string[];
  readonly sink: string;
  /** The whole CloudEvent type. */
  readonly type: string;
  readonly reason: DeadLetterReason;
  /** The last answer of the other side: an HTTP status or an error code; null if there was none. */
  readonly status: number | string | null;
  readonly attempts: number;
  /** RFC 3339, when it was given up. */
  readonly at: string;
}
