// A store's file → an open database with the newest schema and prepared statements.
import { join } from 'node:path';
import { keysByUrgency, UrgentEvents } from '../model/urgency.ts';
import type { Deps } from '../time/clock.ts';
import { ApprovalTable } from './approvals.ts';
import { StoreClock } from './clock/store-clock.ts';
import { Database, type DatabaseOptions } from './database.ts';
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

function createTables(database: Database, deps: OutboxOptions['deps']) {
  const { random, wallMs } = deps;
  const clock = new StoreClock(database, deps);
  const identity = new IdentityTable(database, random);
  const known = new KnownStateTables(database);
  const sinks = new SinkTables(database, wallMs);
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
    operatorActs: new OperatorActs(database),
    deadLetters: new DeadLetters(database, sinks, clock),
    notes: new DeliveryNoteTable(database, wallMs),
    replay: new Replay(database, sinks, clock),
    approvals: new ApprovalTable(database),
    messages: new MessageTables(database),
    drills: new DrillTable(database),
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
  { deps, synchronous = 'FULL', maxPages, maxBytes }: OutboxOptions,
): OpenStore {
  const database = new Database(join(folder, DATABASE_FILE), { synchronous, maxPages, maxBytes });
  try {
    migrate(database);
    const tables = createTables(database, deps);
    const dataVersion = tables.dataVersion.get()?.data_version ?? 0;
    return { database, tables, dataVersion };
  } catch (error) {
    database.close();
    throw error;
  }
}
