// What approvals ask of the durable store; the outbox provides it.
import type { ApprovalChange, EventApproval, ScheduledEvent } from '../model.ts';

/** Inside one durable transaction. */
export interface ApprovalTransaction {
  /** Writes the approvals of one occurrence, over what was stored of it. */
  saveApproval(approval: EventApproval): void;
  /** Makes the CloudEvents of these changes and queues them for every sink that wants them. */
  publish(changes: readonly ApprovalChange[]): void;
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
  /** Whether an event of this key was known and has ended. */
  hasEnded(key: string): boolean;
  /** Whether a CloudEvent id has been used before. */
  isUsed(id: string): boolean;
}
