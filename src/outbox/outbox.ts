// A folder → the durable store: known state, journal, delivery queue, approvals.
import type { Instant } from '../model/events.ts';
import type { ApprovalTable } from './approvals.ts';
import { Heartbeat } from './clock/heartbeat.ts';
import type { Usage } from './database.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { DeliveryNoteTable } from './delivery-notes.ts';
import { DATABASE_FILE, makeFolder, makeStore, moveAside, requireStore } from './folder.ts';
import type { IdentityTable } from './identity.ts';
import type { Journal } from './journal.ts';
import type { KnownStateTables } from './known-state.ts';
import { StoreLock } from './lock.ts';
import type { MessageTables } from './messages.ts';
import { type OpenStore, type OutboxOptions, openStore } from './open-store.ts';
import type { DrillTable } from './operators/drill-table.ts';
import type { JournalPages } from './operators/journal-pages.ts';
import type { OperatorActs } from './operators/operator-acts.ts';
import type { Queue } from './queue.ts';
import type { Replay } from './replay.ts';
import type { Retention } from './retention.ts';
import type { SinkTables } from './sinks.ts';
import { type Transaction, transact } from './transaction.ts';

/**
 * Opens the store in `folder`.
 * @throws BridgeError BRIDGE_STORE_LOCKED, _MISSING (only without `lock`), _UNSAFE, _DAMAGED, _NEWER, _FULL or _FAILED
 */
export function openOutbox(folder: string, options: OutboxOptions): Outbox {
  if (!options.lock) {
    requireStore(folder);
    return new Outbox(folder, options, null);
  }
  makeFolder(folder);
  const lock = new StoreLock(folder);
  try {
    makeStore(folder, options.synchronous ?? 'FULL');
    return new Outbox(folder, options, lock);
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

/** The store, part by part; a part is of the folder's file as it is now, so it is asked for again after `setAside`. Everything is synchronous; everything @throws BridgeError BRIDGE_STORE_* where the disk does not do its part. */
export class Outbox implements Disposable {
  readonly #folder: string;
  readonly #options: OutboxOptions;
  readonly #lock: StoreLock | null;
  #open: OpenStore;
  readonly #heartbeat: Heartbeat;

  /** Made by `openOutbox`. */
  constructor(folder: string, options: OutboxOptions, lock: StoreLock | null) {
    this.#folder = folder;
    this.#options = options;
    this.#lock = lock;
    this.#open = openStore(folder, options);
    this.#heartbeat = new Heartbeat(options.deps, (lastGoodMs) => {
      const { database, tables } = this.#open;
      const touch = () => {
        tables.known.touch(lastGoodMs);
        tables.clock.keep();
      };
      database.relaxed(() => database.transaction(touch), { wait: false });
    });
  }

  /** Whose events are kept here. */
  get identity(): Pick<IdentityTable, 'current' | 'save'> {
    return this.#open.tables.identity;
  }

  /** The last state, and what is remembered of events, also of those that have ended. */
  get known(): Pick<KnownStateTables, 'load' | 'blindness' | 'isOwn' | 'lastEndedMs' | 'lastOccurrence'> {
    return this.#open.tables.known;
  }

  /** The CloudEvents that were made. */
  get journal(): Pick<Journal, 'isUsed' | 'seen'> {
    return this.#open.tables.journal;
  }

  /** The CloudEvents in order, and what became of them. */
  get journalPages(): JournalPages {
    return this.#open.tables.journalPages;
  }

  /** What operators did. */
  get operatorActs(): OperatorActs {
    return this.#open.tables.operatorActs;
  }

  /** What is to be delivered to each sink; all that a lane asks for. */
  get queue(): Queue {
    return this.#open.tables.queue;
  }

  /** What is remembered of each sink. */
  get sinks(): SinkTables {
    return this.#open.tables.sinks;
  }

  /** Deliveries that were given up. */
  get deadLetters(): DeadLetters {
    return this.#open.tables.deadLetters;
  }

  /** What sinks wrote of single deliveries. */
  get notes(): DeliveryNoteTable {
    return this.#open.tables.notes;
  }

  /** Journalled CloudEvents, once more. */
  get replay(): Replay {
    return this.#open.tables.replay;
  }

  /** Approvals of the occurrences, and the record of each. */
  get approvals(): Pick<ApprovalTable, 'open' | 'of' | 'record'> {
    return this.#open.tables.approvals;
  }

  /** Messages of approval sources: those that are settled, and those that wait for their event. */
  get messages(): Pick<MessageTables, 'find' | 'parked'> {
    return this.#open.tables.messages;
  }

  /** Made-up events of this bridge. */
  get drills(): Pick<DrillTable, 'find' | 'open'> {
    return this.#open.tables.drills;
  }

  /** What may be forgotten. */
  get retention(): Retention {
    return this.#open.tables.retention;
  }

  /** All of it or nothing, on disk before it returns. Not inside another one. @throws also what `work` throws */
  transact<T>(work: (transaction: Transaction) => T): T {
    return transact(this.#open, this.#options.deps, work);
  }

  /**
   * Keeps the time of the last good document, every other second and without an fsync: kill -9 loses 2 s of it at most, a loss of power some more.
   * Never throws and never waits; false where the last try failed.
   */
  heartbeat(at: Instant): boolean {
    return this.#heartbeat.beat(at);
  }

  /** For a bridge that sees no documents: its time goes on. Without an fsync. */
  keepTime(): void {
    const { database, tables } = this.#open;
    database.relaxed(() => tables.clock.keep(), { wait: false });
  }

  /** How much of the database is in use, and how much may be. */
  usage(): Usage {
    return this.#open.database.usage();
  }

  /** Whether another process wrote since this was last asked. */
  changedOutside(): boolean {
    const { dataVersion: before, database, tables } = this.#open;
    // In the heartbeat's mode, so that neither sets the connection back for the other.
    const now = database.relaxed(() => tables.dataVersion.get(), { wait: false });
    this.#open.dataVersion = now?.data_version ?? before;
    return this.#open.dataVersion !== before;
  }

  /** Moves what is stored into a folder of its own, with the reason beside it, and starts empty. Keeps the lock. Returns that folder. */
  setAside(reason: string): string {
    this.#open.database.close();
    try {
      return moveAside(this.#folder, DATABASE_FILE, {
        vmId: this.#open.tables.identity.current.vmId,
        reason,
        atMs: this.#options.deps.wallMs(),
      });
    } finally {
      makeStore(this.#folder, this.#options.synchronous ?? 'FULL');
      this.#open = openStore(this.#folder, this.#options);
    }
  }

  /** Idempotent. */
  close(): void {
    this.#open.database.close();
    this.#lock?.[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
