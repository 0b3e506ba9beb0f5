// A store's file → an open database with the newest schema, and the writes of one transaction.
import { join } from 'node:path';
import type { ApprovalStep, EventApproval, MessageRefusal, ReceivedMessage, Rest } from '../model/approvals.ts';
import type { Drill } from '../model/drills.ts';
import type { Blindness, JournalEntry, KnownState } from '../model/events.ts';
import { keysByUrgency, UrgentEvents } from '../model/urgency.ts';
import type { Deps } from '../time/clock.ts';
import { ApprovalTable } from './approvals.ts';
import { StoreClock } from './clock/store-clock.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { DeadLetters } from './dead-letters.ts';
import { DeliveryNoteTable } from './delivery-notes.ts';
import { tooLarge } from './errors.ts';
import { DATABASE_FILE, flushStoreNames } from './folder.ts';
import { IdentityTable } from './identity.ts';
import { checkIntegrity } from './integrity.ts';
import { Journal } from './journal.ts';
import { KnownStateTables } from './known-state.ts';
import { MessageTables } from './messages.ts';
import { migrate } from './migrations/schema.ts';
import { DrillTable } from './operators/drill-table.ts';
import { HoldOfAllTable } from './operators/hold-of-all.ts';
import { JournalPages } from './operators/journal-pages.ts';
import { OperatorActs } from './operators/operator-acts.ts';
import { Queue } from './queue.ts';
import { Replay } from './replay.ts';
import { RestTable } from './rests.ts';
import { Retention } from './retention.ts';
import { SinkTables } from './sinks.ts';

export interface OutboxOptions {
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'random'>;
  /** True for `run`: creates a missing folder (mode 0700) and locks the store. False for verbs that run next to it. */
  readonly lock: boolean;
  /** Default: `FULL`. `OFF` is for tests that do not cover power loss. */
  readonly synchronous?: DatabaseOptions['synchronous'];
  /** For tests: simulates a full disk at this number of 4 KiB pages. */
  readonly maxPages?: number;
  /** `store.maxSize`. Default: no limit. */
  readonly maxBytes?: number;
}

function createTables(database: Database, deps: OutboxOptions['deps']) {
  const { random, wallMs } = deps;
  const clock = new StoreClock(database, deps);
  const identity = new IdentityTable(database, random);
  const known = new KnownStateTables(database);
  const sinks = new SinkTables(database, wallMs);
  const operatorActs = new OperatorActs(database);
  const urgent = new UrgentEvents();
  const ownKey = () => identity.current.name?.toLowerCase() ?? identity.current.observerId;
  return {
    ...{ clock, identity, known, sinks },
    queue: new Queue(database, {
      ...{ clock, sinks },
      keysByUrgency: () => [...keysByUrgency(known.stored.values(), wallMs()), ownKey()],
      urgent: () => urgent.among(known.stored, wallMs()),
    }),
    journal: new Journal(database, clock),
    journalPages: new JournalPages(database),
    operatorActs,
    deadLetters: new DeadLetters(database, sinks, clock),
    notes: new DeliveryNoteTable(database, wallMs),
    replay: new Replay(database, sinks, clock),
    approvals: new ApprovalTable(database),
    messages: new MessageTables(database),
    rests: new RestTable(database),
    drills: new DrillTable(database),
    holdOfAll: new HoldOfAllTable(database, operatorActs),
    retention: new Retention(database),
    dataVersion: database.prepare<{ data_version: number }>('PRAGMA data_version'),
  };
}

export type Tables = ReturnType<typeof createTables>;

export interface OpenStore {
  readonly database: Database;
  readonly tables: Tables;
  dataVersion: number;
}

/** Opens the database and migrates it. @throws BridgeError BRIDGE_STORE_DAMAGED, _NEWER, _FULL or _FAILED */
export function openStore(
  folder: string,
  { deps, lock, synchronous = 'FULL', maxPages, maxBytes }: OutboxOptions,
): OpenStore {
  const database = new Database(join(folder, DATABASE_FILE), { synchronous, maxPages, maxBytes });
  try {
    migrate(database);
    const tables = createTables(database, deps);
    if (lock) {
      checkIntegrity(database);
      tables.approvals.expectIntact();
      flushStoreNames(folder);
    }
    const dataVersion = tables.dataVersion.get()?.data_version ?? 0;
    return { database, tables, dataVersion };
  } catch (error) {
    database.close();
    throw error;
  }
}

export interface Transaction {
  /**
   * Writes the differences from the state on disk.
   * @param atMs the time at which events came or went; default: `lastGoodAt`
   */
  saveState(next: KnownState, atMs?: number): void;
  saveDrill(drill: Drill): void;
  saveBlindness(blindness: Blindness | null): void;
  /** Records that this occurrence named this VM. */
  markOwn(occurrence: number): void;
  /**
   * Journals a CloudEvent and queues it for these sinks. Returns its position in the journal.
   * @throws BridgeError BRIDGE_INTERNAL if its id was used before
   */
  append(entry: JournalEntry, sinks: readonly string[], queuedAtMs: number): number;
  /** Replaces the approvals of one occurrence. */
  saveApproval(approval: EventApproval): void;
  /** Appends lines to the audit trail of an occurrence. For an approver with too many lines, they are only counted. */
  addSteps(occurrence: number, steps: readonly ApprovalStep[]): void;
  /** Adds an ended event whose names budgets still count. */
  addRest(rest: Rest): void;
  /** Sets, replaces or, with null, removes the hold of everything, and records which approver did it. */
  saveHoldOfAll(...change: Parameters<HoldOfAllTable['save']>): void;
  /** Parks a message for an unknown event. */
  parkMessage(message: ReceivedMessage): void;
  /** Records that a message is settled, and unparks it. */
  handleMessage(message: Pick<ReceivedMessage, 'source' | 'id'>, refusal: MessageRefusal | null, atMs: number): void;
  /** Writes the outcomes of deliveries of a sink. */
  settle(...outcomes: Parameters<Queue['settleWithin']>): void;
}

/** The part of `store.maxSize` reserved for writes that free space: outcomes and pruning. */
const RESERVE = 1 / 64;

/** @throws BridgeError BRIDGE_STORE_FULL if the rest of `store.maxSize` is used */
function expectRoom(database: Database): void {
  const { bytes, maxBytes } = database.usage();
  if (maxBytes !== null && bytes > maxBytes * (1 - RESERVE)) throw tooLarge(database.file, maxBytes);
}

/**
 * Commits all writes of `work`, or none, within `store.maxSize`. They are on disk when it returns.
 * @throws also the errors of `work`
 */
export function transact<T>(
  store: OpenStore,
  { wallMs }: Pick<Deps, 'wallMs'>,
  work: (transaction: Transaction) => T,
): T {
  const { known, journal, approvals, messages, rests, queue, drills, holdOfAll } = store.tables;
  let events = known.stored;
  const transaction: Transaction = {
    saveState: (next, atMs = next.lastGoodAt?.wallMs ?? wallMs()) => {
      known.save(next, events, atMs);
      events = next.events;
    },
    saveDrill: (drill) => drills.save(drill),
    saveBlindness: (blindness) => known.saveBlindness(blindness),
    markOwn: (occurrence) => known.markOwn(occurrence),
    append: (entry, sinks, queuedAtMs) => journal.append(entry, sinks, queuedAtMs),
    saveApproval: (approval) => approvals.save(approval),
    addSteps: (occurrence, steps) => approvals.addSteps(occurrence, steps),
    addRest: (rest) => rests.add(rest),
    saveHoldOfAll: (...change) => holdOfAll.save(...change),
    parkMessage: (message) => messages.park(message),
    handleMessage: (message, refusal, atMs) => messages.handle(message, refusal, atMs),
    settle: (...outcomes) => queue.settleWithin(...outcomes),
  };
  const result = store.database.transaction(() => {
    const done = work(transaction);
    expectRoom(store.database);
    return done;
  });
  known.stored = events;
  return result;
}
