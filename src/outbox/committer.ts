// Changes → one durable transaction, then the same in memory: the last committed state.
import type { Logger } from 'pino';
import { isStoreFault, messageOf } from '../errors.ts';
import type { Blindness, JournalledEntry, KnownState } from '../model/events.ts';
import type { Transaction } from './open-store.ts';
import type { Outbox } from './outbox.ts';

export interface CommitterParts {
  readonly outbox: Outbox;
  readonly logger: Logger;
  /** Called after each commit with its journal entries, which are on disk. */
  readonly onCommitted: (entries: readonly JournalledEntry[]) => void;
}

/** The state that the flow commits with its CloudEvents. Absent members stay unchanged. */
interface NextState {
  readonly state?: KnownState;
  readonly blindness?: Blindness | null;
}

/**
 * Opens all transactions of the flow and of approvals. Has the last committed state, which only a commit replaces. One
 * for each bridge.
 */
export class Committer {
  readonly #parts: CommitterParts;
  #state: KnownState;
  #blindness: Blindness | null;
  #isBehind = false;
  #fault: string | null = null;
  /** The kind of write that was logged as failing and has not recovered. */
  #logged: 'heartbeat' | 'transaction' | null = null;

  constructor(parts: CommitterParts) {
    this.#parts = parts;
    this.#state = parts.outbox.known.load();
    this.#blindness = parts.outbox.known.blindness();
  }

  get state(): KnownState {
    return this.#state;
  }

  get blindness(): Blindness | null {
    return this.#blindness;
  }

  /** Whether a document was read whose changes could not be committed yet. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Why the last commit failed; null if it succeeded. */
  get fault(): string | null {
    return this.#fault;
  }

  /**
   * Commits all writes of `work`, or none. They are on disk when it returns.
   * @throws BridgeError BRIDGE_STORE_*, and the errors of `work`
   */
  commit<T>(work: (transaction: Transaction) => T): T {
    const { result, entries } = this.#transact(work);
    this.#parts.onCommitted(entries);
    return result;
  }

  /**
   * Commits for the flow, which must not end: never throws. `work` returns a function to run after the commit. After a
   * failure the last state stays, so that the next poll compares again.
   */
  advance(next: NextState, work: (transaction: Transaction) => () => void): void {
    try {
      this.step(next, work);
      if (next.state) this.#isBehind = false;
    } catch (error) {
      if (next.state) this.#isBehind = true;
      // An internal error must not end the flow either: it is logged, and the next poll compares again.
      this.#logFault(messageOf(error), 'transaction');
    }
  }

  /**
   * Commits for a waiting caller.
   * @param atMs the time at which events came or went; default: the last document's
   * @throws as `commit`; the last state then stays
   */
  step(next: NextState, work: (transaction: Transaction) => () => void, atMs?: number): void {
    const { result: settle, entries } = this.#transact((transaction) => {
      if (next.state) transaction.saveState(next.state, atMs);
      if (next.blindness !== undefined) transaction.saveBlindness(next.blindness);
      return work(transaction);
    });
    if (next.state) this.#state = next.state;
    if (next.blindness !== undefined) this.#blindness = next.blindness;
    settle();
    this.#parts.onCommitted(entries);
  }

  /** After a document without changes: stores only its time, without a flush to disk. */
  keep(state: KnownState): void {
    this.#state = state;
    this.#isBehind = false;
    const isStored = state.lastGoodAt === null || this.#parts.outbox.heartbeat(state.lastGoodAt);
    this.#logFault(isStored ? null : 'the time of the last document could not be stored', 'heartbeat');
  }

  /** After a poll without a good document: stores nothing. */
  keepInMemory(state: KnownState): void {
    this.#state = state;
  }

  #transact<T>(work: (transaction: Transaction) => T): {
    readonly result: T;
    readonly entries: readonly JournalledEntry[];
  } {
    const entries: JournalledEntry[] = [];
    try {
      const result = this.#parts.outbox.transact((transaction) =>
        work({
          ...transaction,
          append: (entry, sinks, queuedAtMs) => {
            const position = transaction.append(entry, sinks, queuedAtMs);
            entries.push({ ...entry, position });
            return position;
          },
        }),
      );
      this.#logFault(null, 'transaction');
      return { result, entries };
    } catch (error) {
      if (isStoreFault(error)) this.#logFault(messageOf(error), 'transaction');
      throw error;
    }
  }

  /**
   * Logs the begin and the end of a fault once. A heartbeat needs no space on a full disk, so its success does not end
   * a fault of transactions.
   */
  #logFault(fault: string | null, of: 'heartbeat' | 'transaction'): void {
    const { logger } = this.#parts;
    const wasLogged = this.#logged !== null;
    if (fault !== null) this.#logged = this.#logged === 'transaction' ? 'transaction' : of;
    else if (of === 'transaction' || this.#logged === 'heartbeat') this.#logged = null;
    if (fault !== null && !wasLogged) {
      logger.error(
        { reason: fault },
        'nothing can be stored: the bridge compares again at each poll, and sends no change before it is stored',
      );
    }
    if (wasLogged && this.#logged === null) logger.info('changes can be stored again');
    // A successful heartbeat does not end a fault of transactions.
    this.#fault = fault ?? (this.#logged === 'transaction' ? this.#fault : null);
  }
}
