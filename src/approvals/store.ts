// What approvals need from the store: the outbox's parts, and transactions that make CloudEvents.
import type { ApprovalChange } from '../model/events.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Transaction } from '../outbox/transaction.ts';

/** Inside one durable transaction. */
export interface ApprovalTransaction extends Pick<Transaction, 'saveApproval' | 'addSteps' | 'parkMessage' | 'handleMessage' | 'settle'> {
  /** Makes the CloudEvents of these changes and queues them for every sink that wants them. */
  publish(changes: readonly ApprovalChange[]): void;
}

export interface ApprovalStore extends Pick<Outbox, 'approvals' | 'messages'> {
  /** All of it or nothing, on disk before it returns. @throws BridgeError BRIDGE_STORE_* when nothing can be stored. */
  commit<T>(work: (transaction: ApprovalTransaction) => T): T;
  /** To which CloudEvents `Seen` may refer, and which ids are used. */
  readonly journal: Pick<Outbox['journal'], 'seen' | 'isUsed'>;
  readonly known: Pick<Outbox['known'], 'lastOccurrence' | 'lastEndedMs'>;
}
