// A folder → the durable store: known state, journal, one delivery row for each sink, approvals. One transaction for each thing that happens.
import type { Blindness, Delivery, Instant, KnownState, Retirement, Settlement } from '../model/events.ts';
import type { ApprovalTable } from './approvals.ts';
import type { Usage } from './database.ts';
import type { DeadLetterChoice, DeadLetterWithEvent } from './dead-letters.ts';
import { DATABASE_FILE, makeFolder, makeStore, requireStore } from './folder.ts';
import { Heartbeat } from './heartbeat.ts';
import type { Identity } from './identity.ts';
import type { SeenEvent } from './journal.ts';
import type { KnownStateTables } from './known-state.ts';
import { StoreLock } from './lock.ts';
import type { MessageTables } from './messages.ts';
import { type OpenStore, type OutboxOptions, openStore } from './open-store.ts';
import type { Backlog } from './queue.ts';
import type { ReplayRange } from './replay.ts';
import type { PruneOptions } from './retention.ts';
import { moveAside } from './set-aside.ts';
import type { ConfiguredSink, SinkDifferences } from './sinks.ts';
import { type Transaction, transact } from './transaction.ts';
import { keysByUrgency } from './urgency.ts';

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

/** The store. Everything is synchronous; everything @throws BridgeError BRIDGE_STORE_* where the disk does not do its part. */
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
      this.#open.database.relaxed(() => this.#open.tables.known.touch(lastGoodMs), { wait: false });
    });
  }

  identity(): Identity {
    return this.#open.identity;
  }

  /** Durable. What is not named stays. */
  saveIdentity(known: Partial<Omit<Identity, 'observerId'>>): void {
    const identity = { ...this.#open.identity, ...known };
    this.#open.tables.identity.save(identity);
    this.#open.identity = identity;
  }

  /** The state as it stands on disk, moments without elapsed time; before the first document the empty one. */
  state(): KnownState {
    return this.#open.tables.known.load();
  }

  /** Whether a document was ever stored. */
  hasState(): boolean {
    return this.state().lastGoodAt !== null;
  }

  blindness(): Blindness | null {
    return this.#open.tables.known.blindness();
  }

  /** All of it or nothing, on disk before it returns. Not inside another one. @throws also what `work` throws */
  transact<T>(work: (transaction: Transaction) => T): T {
    return transact(this.#open, this.#options.deps, work);
  }

  /**
   * Keeps the time of the last good document, at most once a second and without an fsync: kill -9 loses nothing, a loss of power some seconds.
   * Never throws and never waits; false where the last try failed.
   */
  heartbeat(at: Instant): boolean {
    return this.#heartbeat.beat(at);
  }

  /** What is remembered of events, also of those that have ended. */
  get occurrences(): Pick<KnownStateTables, 'isOwn' | 'lastEndedMs' | 'lastOccurrence'> {
    return this.#open.tables.known;
  }

  /** Whether a CloudEvent id has been used in the last 400 days, or earlier for an event that has not ended. */
  isUsed(id: string): boolean {
    return this.#open.tables.journal.isUsed(id);
  }

  /** The journalled CloudEvent with this id; null where there is none or it tells of no event. */
  seen(id: string): SeenEvent | null {
    return this.#open.tables.journal.seen(id);
  }

  /** Approvals of the occurrences, and the record of each. */
  get approvals(): Pick<ApprovalTable, 'open' | 'of' | 'record'> {
    return this.#open.tables.approvals;
  }

  /** Messages of approval sources: what became of each, and those that wait for their event. */
  get messages(): Pick<MessageTables, 'find' | 'parked'> {
    return this.#open.tables.messages;
  }

  /** Rows still to be delivered to `sink`, in queue order, of partition keys not named in `except`; at most `limit`. */
  queued(sink: string, except: readonly string[], limit: number): readonly Delivery[] {
    return this.#open.tables.queue.queued(sink, except, limit);
  }

  /** As `queued`, but rows of events that are known now come first, by urgency, then what the bridge says of itself; each key's in queue order. */
  queuedByUrgency(sink: string, except: readonly string[], limit: number): readonly Delivery[] {
    const { identity, storedEvents, tables } = this.#open;
    const observer = identity.name?.toLowerCase() ?? identity.observerId;
    const first = [...keysByUrgency(storedEvents.values(), this.#options.deps.wallMs()), observer];
    return tables.queue.queuedFirstOf(sink, first, except, limit);
  }

  /** Rows queued at or before `queuedBeforeMs`, in queue order; at most `limit`. */
  queuedBefore(sink: string, queuedBeforeMs: number, limit: number): readonly Delivery[] {
    return this.#open.tables.queue.queuedBefore(sink, queuedBeforeMs, limit);
  }

  /** One transaction. Durable where a row was dead-lettered; an acceptance may be lost with the machine's power, which costs a repeat. */
  settle(sink: string, settlements: readonly Settlement[], atMs: number): void {
    this.#open.tables.queue.settle(sink, settlements, atMs);
  }

  backlog(sink: string): Backlog {
    return this.#open.tables.queue.backlog(sink);
  }

  /** Whether a sink was sent a change of this occurrence. */
  wasSent(sink: string, occurrence: number): boolean {
    return this.#open.tables.sinks.wasSent(sink, occurrence);
  }

  /** The receiver's consent as its adapter wrote it; null where there is none, or the sink's configuration changed since. */
  consent(sink: string): string | null {
    return this.#open.tables.sinks.consent(sink);
  }

  /** Durable. */
  saveConsent(sink: string, consent: string | null): void {
    this.#open.tables.sinks.saveConsent(sink, consent);
  }

  /** What `saveRequests` was given last; null before. */
  requests(sink: string): string | null {
    return this.#open.tables.sinks.requests(sink);
  }

  /** Outlives the process, but perhaps not a loss of power. */
  saveRequests(sink: string, requests: string): void {
    this.#open.tables.sinks.saveRequests(sink, requests);
  }

  /** Null where the sink is not retired. */
  retirement(sink: string): Retirement | null {
    return this.#open.tables.sinks.retirement(sink);
  }

  /** Durable. @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN before `syncSinks` named it */
  retire(sink: string, retirement: Retirement): void {
    this.#open.tables.sinks.retire(sink, retirement);
  }

  /** Durable. Lets a retired sink deliver again. Returns what is lifted; null where it is not retired. @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN */
  resume(sink: string): Retirement | null {
    return this.#open.tables.sinks.resume(sink);
  }

  /** Takes the configured sinks for the sinks of this store: new ones start from now on, rows of those no longer there are dead-lettered, changed ones start again. */
  syncSinks(configured: readonly ConfiguredSink[]): SinkDifferences {
    return this.#open.tables.sinks.sync(configured, this.#options.deps.wallMs());
  }

  /** Dead letters, read step by step. */
  deadLetters(choice: DeadLetterChoice = {}): Iterable<DeadLetterWithEvent> {
    return this.#open.tables.deadLetters.list(choice);
  }

  /** Queues them again, behind their key. Returns how many. @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN */
  retryDeadLetters(choice: DeadLetterChoice = {}): number {
    return this.#open.tables.deadLetters.retry(choice, this.#options.deps.wallMs());
  }

  /** Removes them for good. Returns how many. */
  discardDeadLetters(choice: DeadLetterChoice): number {
    return this.#open.tables.deadLetters.discard(choice);
  }

  /** Queues journalled CloudEvents once more for one sink, same bytes and ids. Returns how many. @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN */
  replay(range: ReplayRange): number {
    return this.#open.tables.replay.replay(range, this.#options.deps.wallMs());
  }

  /** How much of the database is in use, and how much may be. */
  usage(): Usage {
    return this.#open.database.usage();
  }

  /** One short step; call it again, a little later, until it returns 0. Never deletes what is undelivered, dead-lettered or of an event that has not ended. */
  prune(options: PruneOptions): number {
    return this.#open.tables.retention.prune(options);
  }

  /** Whether another process wrote since this was last asked. */
  changedOutside(): boolean {
    const before = this.#open.dataVersion;
    this.#open.dataVersion = this.#open.tables.dataVersion.get()?.data_version ?? before;
    return this.#open.dataVersion !== before;
  }

  /** Moves what is stored into a folder of its own, with the reason beside it, and starts empty. Keeps the lock. Returns that folder. */
  setAside(reason: string): string {
    this.#open.database.close();
    try {
      return moveAside(this.#folder, DATABASE_FILE, { vmId: this.#open.identity.vmId, reason, atMs: this.#options.deps.wallMs() });
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
