// A folder → the durable store: known state, journal, delivery queue, approvals.
import type { Instant } from '../model/events.ts';
import { Heartbeat } from './clock/heartbeat.ts';
import type { Usage } from './database.ts';
import { DATABASE_FILE, makeFolder, makeStore, moveAside, requireStore } from './folder.ts';
import { StoreLock } from './lock.ts';
import {
  type OpenStore,
  type OutboxOptions,
  openStore,
  type Tables,
  type Transaction,
  transact,
} from './open-store.ts';

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

/**
 * The store with its parts. Read a part again after `setAside`, which replaces the file. All methods are synchronous
 * and
 * @throws BridgeError BRIDGE_STORE_* if the disk fails.
 */
export class Outbox implements Disposable {
  readonly #folder: string;
  readonly #options: OutboxOptions;
  readonly #lock: StoreLock | null;
  #open: OpenStore;
  readonly #heartbeat: Heartbeat;

  /** Use `openOutbox`. */
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

  get identity(): Pick<Tables['identity'], 'current' | 'save'> {
    return this.#open.tables.identity;
  }

  /** The last state, and data about events, including ended ones. */
  get known(): Pick<Tables['known'], 'load' | 'blindness' | 'isOwn' | 'lastEndedMs' | 'lastOccurrence'> {
    return this.#open.tables.known;
  }

  /** The created CloudEvents. */
  get journal(): Pick<Tables['journal'], 'isUsed' | 'seen'> {
    return this.#open.tables.journal;
  }

  /** The CloudEvents in order, with their deliveries. */
  get journalPages(): Tables['journalPages'] {
    return this.#open.tables.journalPages;
  }

  get operatorActs(): Tables['operatorActs'] {
    return this.#open.tables.operatorActs;
  }

  /** The queued deliveries of each sink, and the other data of a lane. */
  get queue(): Tables['queue'] {
    return this.#open.tables.queue;
  }

  get sinks(): Tables['sinks'] {
    return this.#open.tables.sinks;
  }

  get deadLetters(): Tables['deadLetters'] {
    return this.#open.tables.deadLetters;
  }

  /** Notes of sinks about single deliveries. */
  get notes(): Tables['notes'] {
    return this.#open.tables.notes;
  }

  /** Queues journalled CloudEvents again. */
  get replay(): Tables['replay'] {
    return this.#open.tables.replay;
  }

  /** The approvals and the audit trail of each occurrence. */
  get approvals(): Pick<Tables['approvals'], 'open' | 'of' | 'record'> {
    return this.#open.tables.approvals;
  }

  /** Messages of approval sources: settled and parked ones. */
  get messages(): Pick<Tables['messages'], 'find' | 'parked'> {
    return this.#open.tables.messages;
  }

  /** Ended events whose names budgets may still count. */
  get rests(): Pick<Tables['rests'], 'since'> {
    return this.#open.tables.rests;
  }

  get drills(): Pick<Tables['drills'], 'find' | 'open'> {
    return this.#open.tables.drills;
  }

  /** The hold of everything. */
  get holdOfAll(): Pick<Tables['holdOfAll'], 'load'> {
    return this.#open.tables.holdOfAll;
  }

  get retention(): Tables['retention'] {
    return this.#open.tables.retention;
  }

  /**
   * Commits all writes of `work`, or none. They are on disk when it returns. Cannot be nested.
   * @throws also the errors of `work`
   */
  transact<T>(work: (transaction: Transaction) => T): T {
    return transact(this.#open, this.#options.deps, work);
  }

  /**
   * Stores the time of the last good document every second poll, without an fsync. A kill -9 loses at most 2 s of it, a
   * power failure some more. Never throws and never waits. Returns false if the last write failed.
   */
  heartbeat(at: Instant): boolean {
    return this.#heartbeat.beat(at);
  }

  /** Stores the store's own time while the bridge reads no documents. Without an fsync. */
  keepTime(): void {
    const { database, tables } = this.#open;
    database.relaxed(() => tables.clock.keep(), { wait: false });
  }

  /** Returns the used size of the database, and its limit. */
  usage(): Usage {
    return this.#open.database.usage();
  }

  /** Returns whether another process has written since the last call. */
  changedOutside(): boolean {
    const { dataVersion: before, database, tables } = this.#open;
    // In the mode of the heartbeat, so that the connection does not switch modes between them.
    const now = database.relaxed(() => tables.dataVersion.get(), { wait: false });
    this.#open.dataVersion = now?.data_version ?? before;
    return this.#open.dataVersion !== before;
  }

  /**
   * Moves the store into a subfolder, with a file for the reason, and starts an empty one. Keeps the lock. Returns the
   * subfolder.
   */
  setAside(reason: string): string {
    // The log is moved before the file. If a kill comes between, the file must have all rows by itself.
    this.#open.database.exec('PRAGMA wal_checkpoint(PASSIVE)');
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

  /** Closes the store. Idempotent. */
  close(): void {
    this.#open.database.close();
    this.#lock?.[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
