// The store as approvals use it: parts of the outbox, and transactions that publish CloudEvents.
import type { ApprovalChange } from '../model/events.ts';
import type { Transaction } from '../outbox/open-store.ts';
import type { Outbox } from '../outbox/outbox.ts';

export interface ApprovalTransaction
  extends Pick<
    Transaction,
    'saveApproval' | 'saveHoldOfAll' | 'addSteps' | 'addRest' | 'parkMessage' | 'handleMessage' | 'settle'
  > {
  /** Creates the CloudEvents of these changes and queues them for every sink that selects them. */
  publish(changes: readonly ApprovalChange[]): void;
}

export interface ApprovalStore extends Pick<Outbox, 'approvals' | 'messages' | 'rests' | 'holdOfAll'> {
  /**
   * Runs `work` in one transaction, which is on disk when this returns.
   * @throws BridgeError BRIDGE_STORE_* if nothing can be stored
   */
  commit<T>(work: (transaction: ApprovalTransaction) => T): T;
  /** The CloudEvents that `Seen` may name, and the ids in use. */
  readonly journal: Pick<Outbox['journal'], 'seen' | 'isUsed'>;
  readonly known: Pick<Outbox['known'], 'lastOccurrence' | 'lastEndedMs'>;
}
