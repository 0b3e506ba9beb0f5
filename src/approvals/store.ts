// What approvals ask of the durable store; the outbox provides it.
import type {
  ApprovalStep,
  EventApproval,
  MessageRefusal,
  MessageState,
  ReceivedMessage,
  RecordPart,
  RecordRange,
} from '../model/approvals.ts';
import type { ApprovalChange, ScheduledEvent } from '../model/events.ts';

/** Inside one durable transaction. */
export interface ApprovalTransaction {
  /** Writes the approvals of one occurrence, over what was stored of it. */
  saveApproval(approval: EventApproval): void;
  /** Adds lines to the record of an occurrence; of an approver who has many there already they are counted alone. */
  addSteps(occurrence: number, steps: readonly ApprovalStep[]): void;
  /** Makes the CloudEvents of these changes and queues them for every sink that wants them. */
  publish(changes: readonly ApprovalChange[]): void;
  /** Keeps a message whose event is not known yet. */
  parkMessage(message: ReceivedMessage): void;
  /** Remembers that a message was dealt with for good; it waits no more. */
  handleMessage(message: Pick<ReceivedMessage, 'source' | 'id'>, refusal: MessageRefusal | null, atMs: number): void;
}

/** A CloudEvent of this bridge to which an approval may refer with `Seen`. */
export interface SeenEvent {
  readonly change: string;
  readonly key: string;
  readonly occurrence: number;
  /** The content that it told. */
  readonly event: ScheduledEvent;
}

export interface ApprovalStore {
  /** All of it or nothing, on disk before it returns. @throws BridgeError BRIDGE_STORE_* when nothing can be stored. */
  transact<T>(work: (transaction: ApprovalTransaction) => T): T;
  /** Approvals of the occurrences that have not ended, for a start. */
  openApprovals(): readonly EventApproval[];
  /** The journalled CloudEvent with this id; null where this bridge made none or it tells of no event. */
  seen(id: string): SeenEvent | null;
  /** The last occurrence of this key in the last 400 days, ended or not; null where there was none. */
  lastOccurrence(key: string): { readonly occurrence: number; readonly endedMs: number | null } | null;
  /** The approvals of an occurrence that may have ended; null where there are none. */
  approvalOf(occurrence: number): EventApproval | null;
  /** A part of the record of an occurrence; it may end before `limit` where its lines are long. */
  record(occurrence: number, range: RecordRange): RecordPart;
  /** When an event of this key ended last, in milliseconds since 1970; null where none has. */
  lastEndedMs(key: string): number | null;
  /** Whether a CloudEvent id has been used before. */
  isUsed(id: string): boolean;
  /** What became of messages of sources. */
  readonly messages: {
    /** Null for one that was never received. */
    find(source: string, id: string): MessageState | null;
    /** Those that wait for their event, in the order in which they were received. */
    parked(): readonly ReceivedMessage[];
  };
}
