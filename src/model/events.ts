// Types of the bridge: polls, changes, known state, deliveries.
import type { VmMetadata } from './vm-metadata.ts';

/** A moment. Ages inside one process are taken from `elapsedMs`, which no clock change moves; a moment read from the store has `null` there. */
export interface Instant {
  /** Milliseconds since 1970-01-01T00:00:00Z, by the machine's clock. */
  readonly wallMs: number;
  /** Milliseconds on this process's monotonic clock. */
  readonly elapsedMs: number | null;
}

export type EventStatus = 'Scheduled' | 'Started';

/** One event as the metadata service lists it, after the door: every field present, absent ones as in the content (behaviour 3.3). */
export interface ScheduledEvent {
  /** In the service's own letter case. */
  readonly eventId: string;
  readonly eventStatus: EventStatus;
  /** `Freeze`, `Reboot`, `Redeploy`, `Preempt`, `Terminate` or whatever the service invents; `""` where absent. */
  readonly eventType: string;
  readonly resourceType: string;
  /** Distinct names in the service's order, without the leading underscore of api-version 2017-03-01. */
  readonly resources: readonly string[];
  /** RFC 3339 UTC in whole seconds, or null where absent or empty. */
  readonly notBefore: string | null;
  readonly description: string;
  readonly eventSource: string;
  /** Expected interruption in seconds; -1 is unknown. */
  readonly durationInSeconds: number;
}

/** The fields of an event that can change, by their names in a CloudEvent's `data`. */
export type EventField = Exclude<keyof ScheduledEvent, 'eventId'>;

/** An entry of a document: the event, and which of its fields could not be read (those hold the value of an absent field). */
export interface DocumentEvent extends ScheduledEvent {
  readonly unreadable: readonly EventField[];
}

/** A good document of the metadata service (behaviour 4.2), entries with the same EventId merged. */
export interface ScheduledEventsDocument {
  readonly apiVersion: string;
  /** `null` for the empty 200 answer, which carries none. */
  readonly incarnation: number | null;
  /** Usable entries, in their place in the document. */
  readonly events: readonly DocumentEvent[];
  /** Lower-cased EventIds of entries whose status is unusable: a known one of them keeps its last state. */
  readonly statusless: readonly string[];
  /** False where an entry without a usable EventId was listed: nothing ends by such a document. */
  readonly complete: boolean;
}

/** What one poll brought. */
export type PollResult =
  | { readonly kind: 'document'; readonly at: Instant; readonly durationMs: number; readonly document: ScheduledEventsDocument }
  | { readonly kind: 'failure'; readonly at: Instant; readonly durationMs: number; readonly error: Error; readonly result: string };

/** An event between its first sight and its end. */
export interface KnownEvent {
  /** EventId in lower case. */
  readonly key: string;
  /** Grows by one with each first sight, so it tells apart the lives of an event that comes back. */
  readonly occurrence: number;
  /** Its last seen content. */
  readonly event: ScheduledEvent;
  /** The api-version of the document in which it was last seen. */
  readonly apiVersion: string;
  /** Number of the epoch that listed it last. */
  readonly epoch: number;
  /** True while the last good document listed it with a usable status. */
  readonly listed: boolean;
  /** The last good document that listed it with a usable status; null while `listed`, where that is the last good one of all. */
  readonly lastListedAt: Instant | null;
  /** The first good document without it, and whether one at most 10 s older listed it as Scheduled in the same epoch. */
  readonly missing: { readonly at: Instant; readonly scheduledJustBefore: boolean } | null;
}

/** A run of incarnations that only grows; after its start a missing event proves nothing for `metadata.settle` (behaviour 4.4). */
export interface Epoch {
  readonly number: number;
  readonly startedAt: Instant;
  /** When the first epoch of its row began: each of the row began within `metadata.settle` after the one before it. */
  readonly rowStartedAt: Instant;
}

/** All that the bridge knows of the service: the last good document, compared. */
export interface KnownState {
  /** The last good incarnation; null before the first. */
  readonly incarnation: number | null;
  readonly apiVersion: string | null;
  readonly lastGoodAt: Instant | null;
  readonly epoch: Epoch | null;
  /** Empty 200 answers in a row, not stored. */
  readonly emptyRow: { readonly count: number; readonly firstAt: Instant } | null;
  /** By key, in the order in which they were first seen. */
  readonly events: ReadonlyMap<string, KnownEvent>;
  readonly nextOccurrence: number;
  /** The document that `events` tell wholly, so that the same object again is nothing new; absent after a start and while an absence is open. Not stored. */
  readonly document?: ScheduledEventsDocument;
}

/** Out of sight of the metadata service, from `source.blind` to `source.restored`; stored. */
export interface Blindness {
  /** Of the last good document or, without one, of the first request: whole seconds UTC, RFC 3339. */
  readonly since: string;
  /** As `since`; null without a good document. */
  readonly lastDocumentAt: string | null;
}

export type Phase = 'scheduled' | 'updated' | 'started' | 'ended';
export type EndOutcome = 'completed' | 'canceled' | 'unknown';

/** A change of one event, with the id that its CloudEvent will bear. */
export interface EventChange {
  readonly kind: 'event';
  readonly phase: Phase;
  /** CloudEvent id, `:rN` included. */
  readonly id: string;
  readonly key: string;
  readonly occurrence: number;
  /** The content after the change; for `ended` the last seen one. */
  readonly event: ScheduledEvent;
  /** Null when first seen. */
  readonly previousStatus: EventStatus | null;
  /** Sorted; empty except on `updated`. */
  readonly changedFields: readonly EventField[];
  /** Null except on `ended`. */
  readonly outcome: EndOutcome | null;
  /** First seen `Started`, though a good document at most 10 s older did not list it. */
  readonly withoutNotice: boolean;
  readonly incarnation: number | null;
  readonly at: Instant;
}

export type ApprovalPhase = 'recorded' | 'submitted' | 'failed';

/** What became of an approval. */
export interface ApprovalChange {
  readonly kind: 'approval';
  readonly phase: ApprovalPhase;
  /** CloudEvent id, `:rN` included. */
  readonly id: string;
  readonly key: string;
  /** In the service's letter case; of an event that it does not list, as the approver wrote it. */
  readonly eventId: string;
  /** The event's occurrence; null, as `event` is, where the metadata service does not list the event. */
  readonly occurrence: number | null;
  readonly event: ScheduledEvent | null;
  /** Null where several approved or a policy decided. */
  readonly approver: string | null;
  readonly policy: string | null;
  /** Why it failed; null otherwise. */
  readonly reason: string | null;
  readonly at: Instant;
}

/** The bridge lost sight of the metadata service, or has it again. */
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

/** Who observes. */
export interface Observer {
  /** The VM's own name as the metadata service gives it; null while unknown. */
  readonly name: string | null;
  /** The name in lower case or, unknown, an id made once and kept in the store. */
  readonly id: string;
  /** What `cloudevents.observer` asks to tell of the VM besides; absent where it asks for nothing or nothing of it is known. */
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
  /** The structured-mode JSON, as it goes out at every attempt. */
  readonly bytes: Uint8Array;
}

/** One that is in the journal. */
export interface JournalledEntry extends JournalEntry {
  /** Its place: later ones have larger numbers, none has been another's. */
  readonly position: number;
}
