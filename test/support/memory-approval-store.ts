// ApprovalStore in memory, for tests: what a transaction wrote is there at once or, where it throws, not at all; survives its Approvals.
import type { ApprovalStore, ApprovalTransaction, SeenEvent } from '../../src/approvals/approval-store.ts';
import type { ApprovalChange, EventApproval, MessageState, ReceivedMessage } from '../../src/model.ts';

export class MemoryApprovalStore implements ApprovalStore {
  /** Set it to let every transaction fail, as a full disk would. */
  fault: Error | null = null;
  /** The same for what deals with a message. */
  messageFault: ((message: Pick<ReceivedMessage, 'id'>) => Error | null) | null = null;
  transactions = 0;
  readonly published: ApprovalChange[] = [];
  readonly seenEvents = new Map<string, SeenEvent>();
  readonly usedIds = new Set<string>();
  readonly #approvals = new Map<string, EventApproval>();
  readonly #endedMs = new Map<string, number>();
  /** `key occurrence` of those that have ended. */
  readonly #over = new Set<string>();
  readonly #messages = new Map<string, { readonly message: Pick<ReceivedMessage, 'source' | 'id'>; readonly state: MessageState }>();

  transact<T>(work: (transaction: ApprovalTransaction) => T): T {
    this.transactions++;
    if (this.fault) throw this.fault;
    const approvals: EventApproval[] = [];
    const changes: ApprovalChange[] = [];
    const messages: { message: Pick<ReceivedMessage, 'source' | 'id'>; state: MessageState }[] = [];
    const result = work({
      // Through JSON, as a store on disk keeps it: nothing is shared with whoever wrote it.
      saveApproval: (approval) => approvals.push(structuredClone(approval)),
      publish: (published) => changes.push(...published),
      parkMessage: (message) => messages.push({ message: structuredClone(message), state: { kind: 'parked' } }),
      handleMessage: (message, refusal) => {
        const fault = this.messageFault?.(message);
        if (fault) throw fault;
        messages.push({ message, state: { kind: 'handled', refusal } });
      },
    });
    for (const { message, state } of messages) this.#messages.set(`${message.source} ${message.id}`, { message, state });
    for (const approval of approvals) this.#approvals.set(`${approval.key} ${approval.occurrence}`, approval);
    for (const change of changes) this.usedIds.add(change.id);
    this.published.push(...changes);
    return result;
  }

  openApprovals(): readonly EventApproval[] {
    return [...this.#approvals.values()].filter(({ key, occurrence }) => !this.#over.has(`${key} ${occurrence}`));
  }

  /** What is stored of one occurrence. */
  stored(key: string, occurrence: number): EventApproval | undefined {
    return this.#approvals.get(`${key} ${occurrence}`);
  }

  seen(id: string): SeenEvent | null {
    return this.seenEvents.get(id) ?? null;
  }

  /** An occurrence has ended. */
  end(key: string, occurrence: number, atMs: number): void {
    this.#endedMs.set(key, atMs);
    this.#over.add(`${key} ${occurrence}`);
  }

  lastEndedMs(key: string): number | null {
    return this.#endedMs.get(key) ?? null;
  }

  readonly messages = {
    find: (source: string, id: string): MessageState | null => this.#messages.get(`${source} ${id}`)?.state ?? null,
    /** As a new process reads them. */
    parked: (): readonly ReceivedMessage[] =>
      [...this.#messages.values()].flatMap(({ message, state }) => {
        if (state.kind !== 'parked') return [];
        const { receivedAt, ...rest } = message as ReceivedMessage;
        return [{ ...rest, receivedAt: { ...receivedAt, elapsedMs: null } }];
      }),
  };

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
