// Writes of approvals → an ApprovalStore in memory: each transaction whole or not at all.

import type { ApprovalStore, ApprovalTransaction } from '../../src/approvals/store.ts';
import type {
  ApprovalStep,
  EventApproval,
  HoldOfAll,
  MessageState,
  ReceivedMessage,
  RecordPart,
  RecordRange,
  Rest,
} from '../../src/model/approvals.ts';
import type { ApprovalChange } from '../../src/model/events.ts';
import type { SeenEvent } from '../../src/outbox/journal.ts';

type StoredMessage = { readonly message: Pick<ReceivedMessage, 'source' | 'id'>; readonly state: MessageState };

export class MemoryApprovalStore implements ApprovalStore {
  /** Set it to let every transaction fail, as a full disk would. */
  fault: Error | null = null;
  /** The same for what deals with a message. */
  messageFault: ((message: Pick<ReceivedMessage, 'id'>) => Error | null) | null = null;
  /** The same for what writes these approvals. */
  approvalFault: ((approval: EventApproval) => Error | null) | null = null;
  transactions = 0;
  /** `drain 7`, … in the order in which they were stored. */
  readonly settled: string[] = [];
  readonly published: ApprovalChange[] = [];
  readonly seenEvents = new Map<string, SeenEvent>();
  readonly usedIds = new Set<string>();
  /** By occurrence, of which no two keys share a number. */
  readonly #approvals = new Map<number, EventApproval>();
  readonly #steps = new Map<number, ApprovalStep[]>();
  readonly #ended = new Map<number, { readonly key: string; readonly endedMs: number }>();
  readonly #rests: Rest[] = [];
  readonly #messages = new Map<string, StoredMessage>();

  #holdOfAll: HoldOfAll | null = null;

  commit<T>(work: (transaction: ApprovalTransaction) => T): T {
    this.transactions++;
    if (this.fault) throw this.fault;
    const writes: (() => void)[] = [];
    const put = (message: StoredMessage['message'], state: MessageState) =>
      writes.push(() => this.#messages.set(`${message.source} ${message.id}`, { message, state }));
    const result = work({
      // Cloned, as a store on disk keeps it: nothing is shared with whoever wrote it.
      saveApproval: (approval) => {
        const fault = this.approvalFault?.(approval);
        if (fault) throw fault;
        const saved = structuredClone(approval);
        writes.push(() => this.#approvals.set(saved.occurrence, saved));
      },
      addRest: (rest) => {
        const added = structuredClone(rest);
        writes.push(() => this.#rests.push(added));
      },
      addSteps: (occurrence, steps) => {
        const added = structuredClone(steps);
        writes.push(() => this.#steps.set(occurrence, [...(this.#steps.get(occurrence) ?? []), ...added]));
      },
      saveHoldOfAll: (hold) => {
        writes.push(() => {
          this.#holdOfAll = hold;
        });
      },
      publish: (changes) => {
        writes.push(() => this.#publish(changes));
      },
      settle: (sink, settlements) => {
        writes.push(() => this.settled.push(...settlements.map(({ seq }) => `${sink} ${seq}`)));
      },
      parkMessage: (message) => {
        put(structuredClone(message), { kind: 'parked' });
      },
      handleMessage: (message, refusal) => {
        const fault = this.messageFault?.(message);
        if (fault) throw fault;
        put(message, { kind: 'handled', refusal });
      },
    });
    for (const write of writes) write();
    return result;
  }

  /** What was written of one occurrence, with the elapsed time that a store on disk would not keep. */
  stored(key: string, occurrence: number): EventApproval | undefined {
    const approval = this.#approvals.get(occurrence);
    return approval?.key === key ? approval : undefined;
  }

  /** An occurrence has ended. */
  end(key: string, occurrence: number, endedMs: number): void {
    this.#ended.set(occurrence, { key, endedMs });
  }

  readonly approvals = {
    open: (): readonly EventApproval[] =>
      [...this.#approvals.values()].filter(({ occurrence }) => !this.#ended.has(occurrence)).map(asReadAgain),
    of: (occurrence: number): EventApproval | null => {
      const approval = this.#approvals.get(occurrence);
      return approval === undefined ? null : asReadAgain(approval);
    },
    /** Numbers lines from 1 on, and bounds none. */
    record: (occurrence: number, { after, limit }: RecordRange): RecordPart => {
      const all = structuredClone(this.#steps.get(occurrence) ?? []);
      const next = after + limit < all.length ? after + limit : null;
      const submittedMs = all.findLast(({ step }) => step === 'submitted')?.atMs ?? null;
      return { steps: all.slice(after, after + limit), next, submittedMs, unwritten: [] };
    },
  };

  readonly rests = {
    since: (fromMs: number): readonly Rest[] => this.#rests.filter(({ endedMs }) => endedMs >= fromMs),
  };

  readonly holdOfAll = {
    load: (): HoldOfAll | null =>
      this.#holdOfAll && { ...this.#holdOfAll, at: { ...this.#holdOfAll.at, elapsedMs: null } },
  };

  readonly journal = {
    seen: (id: string): SeenEvent | null => this.seenEvents.get(id) ?? null,
    isUsed: (id: string): boolean => this.usedIds.has(id),
  };

  readonly known = {
    lastEndedMs: (key: string): number | null => {
      const ends = [...this.#ended.values()].filter((end) => end.key === key).map(({ endedMs }) => endedMs);
      return ends.length === 0 ? null : Math.max(...ends);
    },
    /** Of those that have approvals or have ended; of others nobody told this store. */
    lastOccurrence: (key: string): { occurrence: number; endedMs: number | null } | null => {
      const isOfKey = ([, of]: readonly [number, { readonly key: string }]) => of.key === key;
      const occurrences = [...this.#approvals, ...this.#ended].filter(isOfKey).map(([occurrence]) => occurrence);
      if (occurrences.length === 0) return null;
      const occurrence = Math.max(...occurrences);
      return { occurrence, endedMs: this.#ended.get(occurrence)?.endedMs ?? null };
    },
  };

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

  /** `approval.failed changed orders`, … in the order in which they were published. */
  get told(): readonly string[] {
    return this.published.map(({ phase, reason, approver }) =>
      [`approval.${phase}`, reason, approver].filter((part) => part !== null).join(' '),
    );
  }

  #publish(changes: readonly ApprovalChange[]): void {
    for (const change of changes) this.usedIds.add(change.id);
    this.published.push(...changes);
  }
}

/** Moments tell the next process nothing of this one's monotonic clock. */
function asReadAgain(approval: EventApproval): EventApproval {
  const { at, votes, holds, decision } = structuredClone(approval);
  const forgotten = <T extends { readonly at: EventApproval['at'] }>(one: T): T => ({
    ...one,
    at: { ...one.at, elapsedMs: null },
  });
  return {
    ...approval,
    ...{
      at: { ...at, elapsedMs: null },
      votes: votes.map(forgotten),
      holds: holds.map(forgotten),
      decision: decision && forgotten(decision),
    },
  };
}
