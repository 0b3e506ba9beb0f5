// A change to approvals in two steps: written in the caller's transaction, then applied in memory.
import type { ApprovalTransaction } from '../store.ts';

export interface Pending {
  /** False if there is nothing to write. */
  readonly isNews: boolean;
  readonly write: (transaction: ApprovalTransaction) => void;
  readonly apply: () => void;
}

export const NOTHING: Pending = { isNews: false, write: () => {}, apply: () => {} };

/** Combines the changes into one, in order. */
export function together(parts: readonly Pending[]): Pending {
  return {
    isNews: parts.some(({ isNews }) => isNews),
    write: (transaction) => {
      for (const { write } of parts) write(transaction);
    },
    apply: () => {
      for (const { apply } of parts) apply();
    },
  };
}
