// Types of what operators see and do: pages of the journal, sinks, dead letters, their acts.
import type { DeadLetter, SinkState } from './deliveries.ts';
import type { HeldAll } from './held-all.ts';

/** Which machine a bridge watches, and how it runs. Shown in `/readyz`, `/v1/events` and by `status`. */
export interface MachineView {
  /** The VM's own name, and the CloudEvents' `source`; each null while unknown. */
  readonly vm: { readonly name: string | null; readonly source: string | null };
  readonly version: string;
  /** `approvals.dryRun`. */
  readonly dryRun: boolean;
  /** The hold of everything; null if none stands. */
  readonly heldAll: HeldAll | null;
  /**
   * The clock of the metadata service minus this machine's. Positive: this machine is behind. Null before the first
   * answer.
   */
  readonly clock: { readonly offsetSeconds: number | null };
  /** The certificates of the configuration that expire within 30 days or have expired. */
  readonly certificates: readonly ExpiringCertificate[];
}

export interface ExpiringCertificate {
  readonly usedBy: 'listener' | 'sink' | 'source';
  /** The key of the configuration that names its file. */
  readonly name: string;
  /** Its distinguished name on one line, possibly empty. */
  readonly subject: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** What an operator did over the HTTP interface. */
export interface OperatorAct {
  readonly atMs: number;
  /** The approver's name. */
  readonly operator: string;
  readonly act:
    | 'pause'
    | 'resume'
    | 'retry'
    | 'discard'
    | 'reload'
    | 'drill'
    | 'cancel-drill'
    | 'hold-all'
    | 'release-all';
  /** The sink or the drill, if the act concerns one. */
  readonly subject: string | null;
  readonly detail: object;
}

/** The state of a delivery, as a page of the journal shows it. */
export type DeliveryState = 'queued' | 'delivered' | 'dead' | 'discarded';

/** One row of the journal and its deliveries. */
export interface JournalItem {
  readonly position: number;
  /** The CloudEvent's `time`, in milliseconds. */
  readonly atMs: number;
  /** The structured-mode JSON. */
  readonly bytes: Uint8Array;
  /** In the order of the queue; a retry and a replay each add one for the same sink. */
  readonly deliveries: readonly JournalDelivery[];
}

/** The same without the CloudEvent; `change` is its type without prefix and version. */
export type JournalChange = Omit<JournalItem, 'bytes'> & { readonly change: string };

export interface JournalDelivery {
  /** Identifies the delivery among all that are queued. */
  readonly seq: number;
  readonly sink: string;
  readonly state: DeliveryState;
  /** The failed attempts, and the successful one if it was delivered. */
  readonly attempts: number;
  /** When it reached this state: queued, accepted, given up, discarded. */
  readonly atMs: number;
  /** The last answer of the other side if it failed: an HTTP status or an error code; else null. */
  readonly status: number | string | null;
}

export interface JournalRange {
  /** Rows after this position. */
  readonly after: number;
  /** The earliest time, included; 0 for no limit. */
  readonly sinceMs: number;
  /** The latest time, excluded; Infinity for no limit. */
  readonly untilMs: number;
  /** EventId in lower case; null for all events. */
  readonly eventKey: string | null;
  readonly limit: number;
  /** Of the CloudEvents together; the first one is given whatever its size. */
  readonly maxBytes: number;
}

export interface JournalPage {
  readonly items: readonly JournalItem[];
  /** The `after` of the next page; null after the newest row. */
  readonly next: number | null;
}

export interface DeadLetterRange {
  /** Null: of all sinks. */
  readonly sink: string | null;
  /** Rows behind this one. */
  readonly after: number;
  readonly limit: number;
  /** Of the CloudEvents that are read for it; the first one is, whatever its size. */
  readonly maxBytes: number;
}

export interface DeadLetterPage {
  readonly items: readonly DeadLetter[];
  /** The row to go on behind; null behind the newest. */
  readonly next: number | null;
}

/** Work in progress on a delivery, as the journal shows it. `last`: as in `RunningWork`. */
export interface RunningView {
  /** RFC 3339. */
  readonly since: string;
  readonly attempt: number;
  readonly last: string | null;
}

/** A sink as `GET /v1/sinks` shows it. */
export interface SinkView {
  readonly name: string;
  readonly type: string;
  readonly state: SinkState;
  readonly queued: number;
  /** RFC 3339: when the oldest queued delivery was queued. */
  readonly oldestAt: string | null;
  readonly lastAcceptedAt: string | null;
  readonly lastError: { readonly code: string; readonly message: string; readonly at: string } | null;
  readonly deadLetters: number;
  /** Deliveries that its adapter works on now, the oldest first. */
  readonly running: readonly ({ readonly eventId: string | null } & RunningView)[];
}
