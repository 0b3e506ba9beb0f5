// A store's file → an open database with the newest schema and prepared statements.
import { join } from 'node:path';
import { keysByUrgency, UrgentEvents } from '../model/urgency.ts';
import type { Deps } from '../time/clock.ts';
import { ApprovalTable } from './approvals.ts';
import { StoreClock } from './clock/store-clock.ts';
import { Database, type DatabaseOptions, type Statement } from './database.ts';
import { DeadLetters } from './dead-letters.ts';
import { DeliveryNoteTable } from './delivery-notes.ts';
import { DATABASE_FILE } from './folder.ts';
import { IdentityTable } from './identity.ts';
import { Journal } from './journal.ts';
import { KnownStateTables } from './known-state.ts';
import { MessageTables } from './messages.ts';
import { migrate } from './migrations/schema.ts';
import { DrillTable } from './operators/drill-table.ts';
import { JournalPages } from './operators/journal-pages.ts';
import { OperatorActs } from './operators/operator-acts.ts';
import { Queue } from './queue.ts';
import { Replay } from './replay.ts';
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

class Tables {
  readonly clock: StoreClock;
  readonly identity: IdentityTable;
  readonly known: KnownStateTables;
  readonly journal: Journal;
  readonly journalPages: JournalPages;
  readonly operatorActs: OperatorActs;
  readonly queue: Queue;
  readonly sinks: SinkTables;
  readonly deadLetters: DeadLetters;
  readonly notes: DeliveryNoteTable;
  readonly replay: Replay;
  readonly approvals: ApprovalTable;
  readonly messages: MessageTables;
  readonly drills: DrillTable;
  readonly retention: Retention;
  readonly dataVersion: Statement<{ data_version: number }>;
  readonly #urgent = new UrgentEvents();

  constructor(database: Database, deps: OutboxOptions['deps']) {
    const { random, wallMs } = deps;
    this.clock = new StoreClock(database, deps);
    this.identity = new IdentityTable(database, random);
    this.known = new KnownStateTables(database);
    this.journal = new Journal(database, this.clock);
    this.journalPages = new JournalPages(database);
    this.operatorActs = new OperatorActs(database);
    this.sinks = new SinkTables(database, wallMs);
    const urgency = { keysByUrgency: () => this.#keysByUrgency(wallMs()), urgent: () => this.#urgent.among(this.known.stored, wallMs()) };
    this.queue = new Queue(database, { clock: this.clock, sinks: this.sinks, ...urgency });
    this.deadLetters = new DeadLetters(database, this.sinks, this.clock);
    this.notes = new DeliveryNoteTable(database, wallMs);
    this.replay = new Replay(database, this.sinks, this.clock);
    this.approvals = new ApprovalTable(database);
    this.messages = new MessageTables(database);
    this.drills = new DrillTable(database);
    this.retention = new Retention(database);
    this.dataVersion = database.prepare('PRAGMA data_version');
  }

  /** Returns the partition keys of the known events, then the bridge's own key. */
  #keysByUrgency(wallMs: number): readonly string[] {
    const { name, observerId } = this.identity.current;
    return [...keysByUrgency(this.known.stored.values(), wallMs), name?.toLowerCase() ?? observerId];
  }
}

export interface OpenStore {
  readonly database: Database;
  readonly tables: Tables;
  dataVersion: number;
}

/** Opens the database and migrates it. @throws BridgeError BRIDGE_STORE_DAMAGED, _NEWER, _FULL or _FAILED */
export function openStore(folder: string, { deps, synchronous = 'FULL', maxPages, maxBytes }: OutboxOptions): OpenStore {
  const database = new Database(join(folder, DATABASE_FILE), { synchronous, maxPages, maxBytes });
  try {
    migrate(database);
    const tables = new Tables(database, deps);
    const dataVersion = tables.dataVersion.get()?.data_version ?? 0;
    return { database, tables, dataVersion };
  } catch (error) {
    database.close();
    throw error;
  }
}
