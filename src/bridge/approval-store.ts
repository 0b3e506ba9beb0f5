// The recorder and the outbox → the store that approvals ask for, whose changes become CloudEvents like all others.
import type { ApprovalStore, ApprovalTransaction } from '../approvals/store.ts';
import type { Change } from '../model/events.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Transaction } from '../outbox/transaction.ts';
import type { Recorder } from './committer.ts';

/** What approvals may write inside a transaction that is open. */
export function approvalTransaction(recorder: Recorder, transaction: Transaction): ApprovalTransaction {
  const { saveApproval, addSteps, parkMessage, handleMessage } = transaction;
  return { saveApproval, addSteps, parkMessage, handleMessage, publish: (changes) => recorder.append(transaction, changes) };
}

/** `committed` is called with what is on disk now. */
export function approvalStore(recorder: Recorder, outbox: Outbox, committed: (changes: readonly Change[]) => void): ApprovalStore {
  return {
    transact: (work) => {
      const published: Change[] = [];
      const result = recorder.transact((transaction) => {
        const open = approvalTransaction(recorder, transaction);
        return work({
          ...open,
          publish: (changes) => {
            published.push(...changes);
            open.publish(changes);
          },
        });
      });
      committed(published);
      return result;
    },
    get approvals() {
      return outbox.approvals;
    },
    get messages() {
      return outbox.messages;
    },
    get journal() {
      return outbox.journal;
    },
    get known() {
      return outbox.known;
    },
  };
}
