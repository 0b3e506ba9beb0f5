// Types of what operators see and do: the journal's pages, sinks, dead letters, their acts.
import type { DeadLetter, LaneState } from './deliveries.ts';

/** What an operator did by the HTTP interface. */
export interface OperatorAct {
  readonly atMs: number;
  /** The approver's name. */
  readonly operator: string;
  readonly act: 'pause' | 'resume' | 'retry' | 'discard' | 'reload' | 'drill' | 'cancel-drill';
  /** The sink or the drill, where it is about one. */
  readonly subject: string | null;
  readonly detail: object;
}

/** How a delivery stands, as the journal's page shows it. */
export type DeliveryState = 'queued' | 'delivered' | 'dead' | 'discarded';

/** One row of the journal and what became of its deliveries. */
export interface JournalItem {
  readonly position: number;
  /** The CloudEvent's `time`, in milliseconds. */
  readonly atMs: number;
  /** The structured-mode JSON. */
  readonly bytes: Uint8Array;
  /** In queue order; a sink that got it again by a retry or a replay is there once for each. */
  readonly deliveries: readonly JournalDelivery[];
}

export interface JournalDelivery {
  readonly sink: string;
  readonly state: DeliveryState;
  /** Those that failed and, where it was delivered, the one that went well. */
  readonly attempts: number;
  /** When it came to this state: queued, accepted, given up, discarded. */
  readonly atMs: number;
  /** What the other side said last where it failed: an HTTP status or an error code; else null. */
  readonly status: number | string | null;
}

export interface JournalRange {
  /** Rows behind this position. */
  readonly after: number;
  /** Included; 0 for the first. */
  readonly sinceMs: number;
  /** Left out; Infinity for the last. */
  readonly untilMs: number;
  /** EventId in lower case; null: of all. */
  readonly eventKey: string | null;
  readonly limit: number;
}

export interface JournalPage {
  readonly items: readonly JournalItem[];
  /** Where to go on; null behind the newest. */
  readonly next: number | null;
}

export interface DeadLetterPage {
  /** Null: of all sinks. */
  readonly sink: string | null;
  /** Rows behind this one. */
  readonly after: number;
  readonly limit: number;
}

/** A dead letter and its row, by which pages go on. */
export interface PagedDeadLetter {
  readonly row: number;
  readonly letter: DeadLetter;
}

/** A sink as `GET /v1/sinks` shows it. */
export interface SinkView {
  readonly name: string;
  readonly type: string;
  readonly state: LaneState;
  readonly queued: number;
  /** RFC 3339, of the oldest that waits. */
  readonly oldestAt: string | null;
  readonly lastAcceptedAt: string | null;
  readonly lastError: { readonly code: string; readonly message: string; readonly at: string } | null;
  readonly deadLetters: number;
}
