// What approvals need from the bridge: known events, a fresh document, the POST.
import type { ApprovalOrigin, PostResult } from '../model/approvals.ts';
import type { Instant, KnownEvent, ScheduledEvent } from '../model/events.ts';

export interface ApprovalPorts {
  /** The last committed state, by EventId in lower case. */
  events(): ReadonlyMap<string, KnownEvent>;
  /**
   * When this process read the last good document whose changes are committed; null before the first. Returns the same
   * object until a newer document is committed.
   */
  lastReadAt(): Instant | null;
  /** When this process or, after a restart, an earlier one read the last good document; null if none was ever read. */
  lastGoodAt(): Instant | null;
  /** Whether a newer document was read whose changes could not be committed: what it says of an event is not known. */
  isBehind(): boolean;
  /** Whether the bridge cannot see the metadata service, as `source.blind` reports. */
  isBlind(): boolean;
  /**
   * Reads the document again, with the back-off that the metadata service's status codes require. Resolves when a
   * response to a request that began after this call has been handled: its changes are committed, or failed. Rejects
   * only on abort.
   */
  read(signal: AbortSignal): Promise<void>;
  /**
   * How many POSTs of StartRequests may be sent now, if each needs `reads` reads of the document first; leaves room for
   * polls.
   */
  room(reads: number): { readonly posts: number; readonly inMs: number };
  /** Sends one request with all these ids, in the metadata service's letter case. Rejects only on abort. */
  post(eventIds: readonly string[], signal: AbortSignal): Promise<PostResult>;
  /** Whether a change of this occurrence was queued for a sink, in the open transaction or earlier. */
  wasSent(sink: string, occurrence: number): boolean;
  /** Whether a sink that acts for an approver acts on such an event; null if that is not known yet. */
  actsOn(sink: string, event: ScheduledEvent): boolean | null;
  /**
   * Returns whether the configuration in force lets a source or sink act for this approver.
   * @param event null: for any event
   */
  isAuthorized(origin: Pick<ApprovalOrigin, 'approver' | 'via'>, event: ScheduledEvent | null): boolean;
  /** To be called when the bridge has accepted the StartRequest for a drill. */
  drillApproved(key: string): void;
  /** The VM's own name; null while it is unknown. */
  ownName(): string | null;
  /** The observer in the ids of approval CloudEvents: the VM's name in lower case, or an id kept in the store. */
  observerId(): string;
}

/** The result of a StartRequest, from the response of the metadata service or the state of the event. */
export type SubmissionVerdict = 'submitted' | 'moot' | 'failed';
