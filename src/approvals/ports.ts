// What approvals need from the bridge: known events, a fresh document, the POST.
import type { ApprovalOrigin, PostResult } from '../model/approvals.ts';
import type { Instant, KnownEvent, ScheduledEvent } from '../model/events.ts';

export interface ApprovalPorts {
  /** The last committed state, by EventId in lower case. */
  events(): ReadonlyMap<string, KnownEvent>;
  /** When the last good document whose changes are committed was read by this process: the same object until a newer one was; null before the first. */
  lastReadAt(): Instant | null;
  /** When this process or, after a start, one before it read the last good document; null where none ever was. */
  lastGoodAt(): Instant | null;
  /** Whether sight of the metadata service is lost, as `source.blind` tells. */
  isBlind(): boolean;
  /**
   * Reads the document again, in the rhythm that the metadata service's status codes ask for. Resolves when the answer to a request begun
   * after this call has been handled: its changes committed, or failed. Rejects only on abort.
   */
  read(signal: AbortSignal): Promise<void>;
  /** How many requests with StartRequests may leave now, each behind so many reads of the document, so that polls keep their place. */
  room(reads: number): { readonly posts: number; readonly inMs: number };
  /** Sends one request with all these ids, in the service's own letter case. Rejects only on abort. */
  post(eventIds: readonly string[], signal: AbortSignal): Promise<PostResult>;
  /** Whether a sink was sent a change of this occurrence, in the transaction that is open or before. */
  wasSent(sink: string, occurrence: number): boolean;
  /** Whether a sink that speaks for an approver acts on such an event; null where that cannot be told yet. */
  actsOn(sink: string, event: ScheduledEvent): boolean | null;
  /**
   * Returns whether the configuration in force lets a source or sink act for this approver.
   * @param event null: for any event
   */
  isAuthorized(origin: Pick<ApprovalOrigin, 'approver' | 'via'>, event: ScheduledEvent | null): boolean;
  /** The StartRequest for a drill is accepted, by the bridge itself. */
  drillApproved(key: string): void;
  /** The VM's own name; null while it is unknown. */
  ownName(): string | null;
  /** Who speaks in the ids of approval CloudEvents: the VM's name in lower case, or an id kept in the store. */
  observerId(): string;
}

/** What the metadata service, or the event itself, has said of a StartRequest. */
export type SubmissionVerdict = 'submitted' | 'moot' | 'failed';
