// ApprovalStore in memory, for tests: what a transaction wrote is there at once or, where it throws, not at all; survives its Approvals.
import type { ApprovalStore, ApprovalTransaction, SeenEvent } from '../../src/approvals/approval-store.ts';
import type { ApprovalChange, EventApproval } from '../../src/model.ts';

export class MemoryApprovalStore implements ApprovalStore {
  /** Set it to let every transaction fail, as a full disk would. */
  fault: Error | null = null;
  transactions = 0;
  readonly published: ApprovalChange[] = [];
  readonly seenEvents = new Map<string, SeenEvent>();
  readonly ended = new Set<string>();
  readonly usedIds = new Set<string>();
  readonly #approvals = new Map<string, EventApproval>();

  transact<T>(work: (transaction: ApprovalTransaction) => T): T {
    this.transactions++;
    if (this.fault) throw this.fault;
    const approvals: EventApproval[] = [];
    const changes: ApprovalChange[] = [];
    const result = work({
      // Through JSON, as a store on disk keeps it: nothing is shared with whoever wrote it.
      saveApproval: (approval) => approvals.push(structuredClone(approval)),
      publish: (published) => changes.push(...published),
    });
    for (const approval of approvals) this.#approvals.set(`${approval.key} ${approval.occurrence}`, approval);
    for (const change of changes) this.usedIds.add(change.id);
    this.published.push(...changes);
    return result;
  }

  openApprovals(): readonly EventApproval[] {
    return [...this.#approvals.values()].filter(({ key }) => !this.ended.has(key));
  }

  /** What is stored of one occurrence. */
  stored(key: string, occurrence: number): EventApproval | undefined {
    return this.#approvals.get(`${key} ${occurrence}`);
  }

  seen(id: string): SeenEvent | null {
    return this.seenEvents.get(id) ?? null;
  }

  hasEnded(key: string): boolean {
    return this.ended.has(key);
  }

  isUsed(id: string): boolean {
    return this.usedIds.has(id);
  }

  /** `approval.failed changed orders`, … in the order in which they were published. */
  get told(): readonly string[] {
    return this.published.map(({ phase, reason, approver }) =>
      [`approval.${phase}`, reason, approver].filter((part) => part !== null).join(' '),
    );
  }
}
