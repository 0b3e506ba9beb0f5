// Types of what is queued for a sink: its deliveries, what became of them, and its lane's states.

/** A CloudEvent queued for one sink. */
export interface Delivery {
  /** Place in the queue; later rows have larger ones. */
  readonly seq: number;
  readonly sink: string;
  readonly id: string;
  readonly change: string;
  readonly partitionKey: string;
  readonly timeMs: number;
  readonly bytes: Uint8Array;
  /** When it was queued, in the store's own time. */
  readonly queuedAtMs: number;
  /** Failed attempts so far. */
  readonly attempts: number;
  /** When the event that it tells of ended; null while it has not. */
  readonly endedAtMs: number | null;
}

/** How a sink's lane is, as `/readyz` and metrics show it. */
export const LANE_STATES = ['delivering', 'backing off', 'probing', 'held', 'misconfigured', 'retired', 'paused'] as const;
export type LaneState = (typeof LANE_STATES)[number];

/** What became of an attempt, as metrics count it. */
export const ATTEMPT_OUTCOMES = ['accepted', 'retry', 'misconfigured', 'retired', 'refused', 'expired'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Why a delivery was given up. */
export type DeadLetterReason = 'refused' | 'expired' | 'sink removed';

/** The `status` of an accepted delivery whose event has changed, started or ended since, so that it was not done, or not to its end. */
export const SUPERSEDED = 'superseded';

/** What became of one attempt; `accepted` and `dead` end the row. `approves`: the id of its CloudEvent, to which it is a yes of the sink's approver. */
export type Settlement =
  | { readonly seq: number; readonly result: 'accepted'; readonly status?: string; readonly approves?: string }
  | { readonly seq: number; readonly result: 'failed'; readonly status: number | string | null }
  | { readonly seq: number; readonly result: 'dead'; readonly reason: DeadLetterReason; readonly status: number | string | null };

/** A sink that takes nothing until its configuration changes or the verb `resume` lifts it. */
export interface Retirement {
  readonly reason: string;
  readonly atMs: number;
}

/** An operator lets nothing go out to a sink until it is resumed; its queue goes on growing. */
export interface Pause {
  /** The operator's name. */
  readonly by: string;
  readonly atMs: number;
}

/** Why a delivery failed last. */
export interface SinkError {
  readonly code: string;
  readonly message: string;
  readonly atMs: number;
}

/** What the store keeps of how deliveries to a sink went; nulls where nothing of it has happened yet. */
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
  readonly sink: string;
  /** CloudEvent type, whole. */
  readonly type: string;
  readonly reason: DeadLetterReason;
  /** What the other side said last: an HTTP status or an error code; null where it said nothing. */
  readonly status: number | string | null;
  readonly attempts: number;
  /** RFC 3339, when it was given up. */
  readonly at: string;
}
