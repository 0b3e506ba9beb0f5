// Types of events: polls, documents, known state, changes, entries of the journal.
import type { VmMetadata } from './vm-metadata.ts';

/**
 * A moment. Ages within one process use `elapsedMs`, which clock changes do not affect; a moment read from the store
 * has null there.
 */
export interface Instant {
  /** Milliseconds since 1970-01-01T00:00:00Z, by the machine's clock. */
  readonly wallMs: number;
  /** Milliseconds on this process's monotonic clock. */
  readonly elapsedMs: number | null;
}

export type EventStatus = 'Scheduled' | 'Started';

/**
 * One event of a checked document. Every field is present; a field that the service omits has the value of behaviour
 * 3.3.
 */
export interface ScheduledEvent {
  /** In the service's letter case. */
  readonly eventId: string;
  readonly eventStatus: EventStatus;
  /** `Freeze`, `Reboot`, `Redeploy`, `Preempt`, `Terminate` or a newer type; `""` if absent. */
  readonly eventType: string;
  readonly resourceType: string;
  /** Distinct names in the service's order, without the leading underscore of api-version 2017-03-01. */
  readonly resources: readonly string[];
  /** RFC 3339 UTC in whole seconds, or null if absent or empty. */
  readonly notBefore: string | null;
  readonly description: string;
  readonly eventSource: string;
  /** Expected interruption in seconds; -1 if unknown. */
  readonly durationInSeconds: number;
}

/** The fields of an event that can change, by their names in a CloudEvent's `data`. */
export type EventField = Exclude<keyof ScheduledEvent, 'eventId'>;

/** An event in a document, and the fields that could not be read. Those have the value of an absent field. */
export interface DocumentEvent extends ScheduledEvent {
  readonly unreadable: readonly EventField[];
}

/** A good document of the metadata service (behaviour 4.2), entries with the same EventId merged. */
export interface ScheduledEventsDocument {
  readonly apiVersion: string;
  /** Null for the empty 200 answer, which has none. */
  readonly incarnation: number | null;
  /** The usable entries, in the order of the document. */
  readonly events: readonly DocumentEvent[];
  /** EventIds, in lower case, of entries with an unusable status. If the event is known, it keeps its last state. */
  readonly statusless: readonly string[];
  /** False if an entry has no usable EventId. Such a document ends no event. */
  readonly complete: boolean;
}

export type PollResult =
  | {
      readonly kind: 'document';
      readonly at: Instant;
      readonly durationMs: number;
      readonly document: ScheduledEventsDocument;
      /** The `Date` of the answer, if it has one. */
      readonly date?: string | undefined;
    }
  | {
      readonly kind: 'failure';
      readonly at: Instant;
      readonly durationMs: number;
      readonly error: Error;
      readonly result: string;
    };

/** One lifetime of an event. */
export type Occurrence = Pick<KnownEvent, 'key' | 'occurrence'>;

/** An event from when it is first seen until it ends. */
export interface KnownEvent {
  /** EventId in lower case. */
  readonly key: string;
  /** Grows by one each time an event is first seen, so an event that comes back has another one. */
  readonly occurrence: number;
  /** The content that was seen last. */
  readonly event: ScheduledEvent;
  /** The api-version of the document in which it was last seen. */
  readonly apiVersion: string;
  /** Number of the epoch that listed it last. */
  readonly epoch: number;
  /** True while the last good document listed it with a usable status. */
  readonly listed: boolean;
  /**
   * The last good document that listed it with a usable status; null while `listed`, because that is then the newest
   * one.
   */
  readonly lastListedAt: Instant | null;
  /**
   * The first good document without it, and true if one at most 10 s older listed it as Scheduled in the same epoch.
   */
  readonly missing: { readonly at: Instant; readonly scheduledJustBefore: boolean } | null;
}

/**
 * A run of incarnations that only grow. For `metadata.settle` after its start, a missing event does not count as ended
 * (behaviour 4.4).
 */
export interface Epoch {
  readonly number: number;
  readonly startedAt: Instant;
  /** When the first epoch of its row began: each of the row began within `metadata.settle` after the one before it. */
  readonly rowStartedAt: Instant;
}

/** All that the bridge knows from the metadata service's documents. */
export interface KnownState {
  /** The last good incarnation; null before the first. */
  readonly incarnation: number | null;
  readonly apiVersion: string | null;
  readonly lastGoodAt: Instant | null;
  readonly epoch: Epoch | null;
  /** Empty 200 answers in a row; not stored. */
  readonly emptyRow: { readonly count: number; readonly firstAt: Instant } | null;
  /** By key, in the order in which they were first seen. */
  readonly events: ReadonlyMap<string, KnownEvent>;
  readonly nextOccurrence: number;
  /**
   * The document that `events` reflect completely, so that the same object again brings nothing new. Absent after a
   * start, and while an event is missing. Not stored.
   */
  readonly document?: ScheduledEventsDocument;
}

/** The bridge has no sight of the metadata service, from `source.blind` to `source.restored`. Stored. */
export interface Blindness {
  /** The time of the last good document or, without one, of the first request: whole seconds UTC, RFC 3339. */
  readonly since: string;
  /** As `since`; null without a good document. */
  readonly lastDocumentAt: string | null;
}

export type Phase = 'scheduled' | 'updated' | 'started' | 'ended';
export type EndOutcome = 'completed' | 'canceled' | 'unknown';

/** A change of one event, with the id of its CloudEvent. */
export interface EventChange {
  readonly kind: 'event';
  readonly phase: Phase;
  /** CloudEvent id, `:rN` included. */
  readonly id: string;
  readonly key: string;
  readonly occurrence: number;
  /** The content after the change; for `ended` the content that was seen last. */
  readonly event: ScheduledEvent;
  /** Null when first seen. */
  readonly previousStatus: EventStatus | null;
  /** Sorted; empty except on `updated`. */
  readonly changedFields: readonly EventField[];
  /** Null except on `ended`. */
  readonly outcome: EndOutcome | null;
  /** True if it was first seen `Started`, and a good document at most 10 s older did not list it. */
  readonly withoutNotice: boolean;
  readonly incarnation: number | null;
  readonly at: Instant;
}

export type ApprovalPhase = 'recorded' | 'submitted' | 'failed';

export interface ApprovalChange {
  readonly kind: 'approval';
  readonly phase: ApprovalPhase;
  /** CloudEvent id, `:rN` included. */
  readonly id: string;
  readonly key: string;
  /** In the service's letter case; for an event that it does not list, as the approver wrote it. */
  readonly eventId: string;
  /** The event's occurrence. Null, like `event`, if the metadata service does not list the event. */
  readonly occurrence: number | null;
  readonly event: ScheduledEvent | null;
  /** Null if several approved or a policy decided. */
  readonly approver: string | null;
  readonly policy: string | null;
  /** Why it failed; null otherwise. */
  readonly reason: string | null;
  readonly at: Instant;
}

/** The bridge lost sight of the metadata service, or regained it. */
export interface SightChange {
  readonly kind: 'sight';
  readonly phase: 'blind' | 'restored';
  /** CloudEvent id, `:rN` included. */
  readonly id: string;
  /** Whole seconds UTC, RFC 3339; the same in `blind` and its `restored`. */
  readonly since: string;
  readonly lastDocumentAt: string | null;
  readonly reason: string | null;
  readonly at: Instant;
}

export type Change = EventChange | ApprovalChange | SightChange;

/** The VM whose bridge sees the changes. */
export interface Observer {
  /** The VM's name as the metadata service gives it; null while unknown. */
  readonly name: string | null;
  /** The name in lower case; while it is unknown, an id that is made once and stored. */
  readonly id: string;
  /** The known fields that `cloudevents.observer` lists; absent if there are none. */
  readonly vm?: VmMetadata;
}

/** The documented EventTypes, from the mildest impact to the hardest. Azure may send others. */
export const IMPACTS = ['Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate'] as const;

/** A CloudEvent as the journal keeps it. */
export interface JournalEntry {
  /** CloudEvent id. */
  readonly id: string;
  /** CloudEvent type without prefix and version: `scheduled`, `approval.failed`, `source.blind`. */
  readonly change: string;
  /** EventId in lower case; null for `source.*`. */
  readonly key: string | null;
  readonly occurrence: number | null;
  readonly partitionKey: string;
  /** The CloudEvent's `time`, in milliseconds. */
  readonly timeMs: number;
  /** The structured-mode JSON, which every attempt sends. */
  readonly bytes: Uint8Array;
}

export interface JournalledEntry extends JournalEntry {
  /** Later entries have larger numbers, and no number is used twice. */
  readonly position: number;
}
