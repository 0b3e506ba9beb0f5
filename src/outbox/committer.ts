// What happened → one durable transaction, then the same in memory: the last committed state.
import type { Logger } from 'pino';
import { isStoreFault, messageOf } from '../errors.ts';
import type { Blindness, JournalledEntry, KnownState } from '../model/events.ts';
import type { Outbox } from './outbox.ts';
import type { Transaction } from './transaction.ts';

export interface CommitterParts {
  readonly outbox: Outbox;
  readonly logger: Logger;
  /** Called after each commit with what it journalled, which is on disk now. */
  readonly onCommitted: (entries: readonly JournalledEntry[]) => void;
}

/** What the flow commits beside its CloudEvents; what is not named stays. */
export interface NextState {
  readonly state?: KnownState;
  readonly blindness?: Blindness | null;
}

/** The one place that opens transactions for what happens. Holds the last committed state, which nothing but a commit replaces. One for each bridge. */
export class Committer {
  readonly #parts: CommitterParts;
  #state: KnownState;
  #blindness: Blindness | null;
  #fault: string | null = null;
  /** What was logged to fail and not yet to work again. */
  #logged: 'heartbeat' | 'transaction' | null = null;

  constructor(parts: CommitterParts) {
    this.#parts = parts;
    this.#state = parts.outbox.known.load();
    this.#blindness = parts.outbox.known.blindness();
  }

  /** The last committed state. */
  get state(): KnownState {
    return this.#state;
  }

  get blindness(): Blindness | null {
    return this.#blindness;
  }

  /** Why the last commit did not go through; null when it did. */
  get fault(): string | null {
    return this.#fault;
  }

  /** All of it or nothing, on disk before it returns. @throws BridgeError BRIDGE_STORE_*, and what `work` throws */
  commit<T>(work: (transaction: Transaction) => T): T {
    const { result, entries } = this.#transact(work);
    this.#parts.onCommitted(entries);
    return result;
  }

  /**
   * The same for the flow, which must not end: never throws. `work` returns what is to be done once all is on disk and `next` is the state.
   * After a failure the last state stands, so that the next poll compares again.
   */
  advance(next: NextState, work: (transaction: Transaction) => () => void): void {
    try {
      this.step(next, work);
    } catch (error) {
      // A mistake of ours too must not end the flow: it is logged, and the next poll compares again.
      this.#judge(messageOf(error), 'transaction');
    }
  }

  /** The same for what somebody waits for. `atMs`: when events came or went, by default at the last document. @throws as `commit`, and then the last state stands */
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

  /** After a document that was nothing new: only its time is kept, in the store without a flush to disk. */
  keep(state: KnownState): void {
    this.#state = state;
    const wentWell = state.lastGoodAt === null || this.#parts.outbox.heartbeat(state.lastGoodAt);
    this.#judge(wentWell ? null : 'the time of the last document could not be written', 'heartbeat');
  }

  /** After a poll without a good document: nothing of it is stored. */
  keepInMemory(state: KnownState): void {
    this.#state = state;
  }

  #transact<T>(work: (transaction: Transaction) => T): { readonly result: T; readonly entries: readonly JournalledEntry[] } {
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
      this.#judge(null, 'transaction');
      return { result, entries };
    } catch (error) {
      if (isStoreFault(error)) this.#judge(messageOf(error), 'transaction');
      throw error;
    }
  }

  /** Logged once when it begins and once when it ends: a heartbeat needs no room on a full disk, so it says nothing of transactions. */
  #judge(fault: string | null, of: 'heartbeat' | 'transaction'): void {
    const { logger } = this.#parts;
    const wasLogged = this.#logged !== null;
    if (fault !== null) this.#logged = this.#logged === 'transaction' ? 'transaction' : of;
    else if (of === 'transaction' || this.#logged === 'heartbeat') this.#logged = null;
    if (fault !== null && !wasLogged) {
      logger.error(
        { reason: fault },
        'nothing can be stored: what is observed is compared again at each poll, and nothing of it is sent until it is stored',
      );
    }
    if (wasLogged && this.#logged === null) logger.info('what is observed can be stored again');
    // A heartbeat that goes well ends no fault of transactions.
    this.#fault = fault ?? (this.#logged === 'transaction' ? this.#fault : null);
  }
}
