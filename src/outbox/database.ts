// A file → a SQLite database: write-ahead log, durable commits, prepared statements, our errors.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { BridgeError } from '../errors.ts';
import { storeError } from './errors.ts';

/** Verbs beside a running bridge commit in steps of some milliseconds; who waits longer than this has a stuck neighbour. */
const BUSY_TIMEOUT_MS = 5000;
/** SQLite's default, which every store has. */
const PAGE_BYTES = 4096;
const USAGE =
  'SELECT (c.page_count - f.freelist_count) * s.page_size AS bytes FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size s';

export interface DatabaseOptions {
  /** `OFF` is for tests that are not about power loss. */
  readonly synchronous: 'FULL' | 'OFF';
  /** For tests: the disk is full once the file has so many pages of 4 KiB. */
  readonly maxPages?: number | undefined;
  /** `store.maxSize`: the file is not let grow beyond it. */
  readonly maxBytes?: number | undefined;
}

/** How much of a database is in use: pages that were freed and wait for new rows do not count. */
export interface Usage {
  readonly bytes: number;
  /** Null without `store.maxSize`. */
  readonly maxBytes: number | null;
}

/** How a connection commits, and how long it waits for a lock. */
interface Mode {
  readonly synchronous: 'FULL' | 'NORMAL' | 'OFF';
  readonly busyTimeoutMs: number;
}

/** A statement that was prepared once; `Row` is what it yields. Every method @throws BridgeError BRIDGE_STORE_*. */
export class Statement<Row = never> {
  readonly #statement: StatementSync;
  readonly #database: Pick<Database, 'file' | 'setMode'>;

  constructor(statement: StatementSync, database: Pick<Database, 'file' | 'setMode'>) {
    this.#statement = statement;
    this.#database = database;
  }

  all(...values: SQLInputValue[]): Row[] {
    return this.#try(() => this.#statement.all(...values)) as Row[];
  }

  get(...values: SQLInputValue[]): Row | undefined {
    return this.#try(() => this.#statement.get(...values)) as Row | undefined;
  }

  /** How many rows it wrote. */
  run(...values: SQLInputValue[]): number {
    return this.#try(() => Number(this.#statement.run(...values).changes));
  }

  #try<T>(work: () => T): T {
    try {
      this.#database.setMode();
      return work();
    } catch (error) {
      throw storeError(error, this.#database.file);
    }
  }
}

/** Prepared statements by name. `Rows` has the row type of each; `never` for one without rows. */
export type Statements<Rows> = { readonly [Name in keyof Rows]: Statement<Rows[Name]> };

/** One connection. Closing it is idempotent. */
export class Database implements Disposable {
  readonly file: string;
  readonly #db: DatabaseSync;
  readonly #durable: Mode;
  /** What is to be done now asks for this one. */
  #mode: Mode;
  /** What the connection is set to. */
  #modeSet: Mode;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #maxBytes: number | null;
  readonly #usage: Statement<{ bytes: number }>;

  /** @throws BridgeError BRIDGE_STORE_* where the file cannot be opened or is no database. */
  constructor(file: string, { synchronous, maxPages, maxBytes }: DatabaseOptions) {
    this.file = file;
    this.#maxBytes = maxBytes ?? null;
    this.#durable = this.#mode = this.#modeSet = { synchronous, busyTimeoutMs: BUSY_TIMEOUT_MS };
    this.#db = open(file);
    const mostPages = maxPages ?? (maxBytes === undefined ? undefined : Math.floor(maxBytes / PAGE_BYTES));
    try {
      this.exec(
        `PRAGMA journal_mode = WAL;
         PRAGMA synchronous = ${synchronous};
         PRAGMA wal_autocheckpoint = 1000;
         PRAGMA journal_size_limit = 4194304;
         PRAGMA cache_size = -2000;
         PRAGMA temp_store = MEMORY;
         ${mostPages === undefined ? '' : `PRAGMA max_page_count = ${mostPages}`}`,
      );
      this.#begin = this.prepare('BEGIN IMMEDIATE');
      this.#commit = this.prepare('COMMIT');
      this.#usage = this.prepare(USAGE);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  usage(): Usage {
    return { bytes: this.#usage.get()?.bytes ?? 0, maxBytes: this.#maxBytes };
  }

  exec(sql: string): void {
    try {
      this.setMode();
      this.#db.exec(sql);
    } catch (error) {
      throw storeError(error, this.file);
    }
  }

  prepare<Row = never>(sql: string): Statement<Row> {
    try {
      this.setMode();
      return new Statement<Row>(this.#db.prepare(sql), this);
    } catch (error) {
      throw storeError(error, this.file);
    }
  }

  /** Prepares each text of `sql`. @throws BridgeError BRIDGE_STORE_* */
  prepareAll<Rows>(sql: Readonly<Record<keyof Rows, string>>): Statements<Rows> {
    const texts = Object.entries(sql) as [keyof Rows, string][];
    return Object.fromEntries(texts.map(([name, text]) => [name, this.prepare(text)])) as unknown as Statements<Rows>;
  }

  /** All of `work` or nothing, on disk before it returns. @throws what `work` throws, and BridgeError BRIDGE_STORE_*. */
  transaction<T>(work: () => T): T {
    if (this.#db.isOpen && this.#db.isTransaction)
      throw new BridgeError('BRIDGE_INTERNAL', `a transaction of the store ${this.file} was begun inside another`);
    this.#begin.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      // After a full disk SQLite has already rolled back.
      if (this.#db.isTransaction) this.exec('ROLLBACK');
      throw error;
    }
  }

  /** Runs `work` with commits that outlive the process, but perhaps not a loss of power, and so cost no fsync. Without `wait` a locked store fails at once. */
  relaxed<T>(work: () => T, { wait = true } = {}): T {
    const before = this.#mode;
    this.#mode = {
      synchronous: this.#durable.synchronous === 'FULL' ? 'NORMAL' : this.#durable.synchronous,
      busyTimeoutMs: wait ? BUSY_TIMEOUT_MS : 0,
    };
    try {
      return work();
    } finally {
      this.#mode = before;
    }
  }

  /** Before each statement: SQLite takes longer over a PRAGMA than over a small UPDATE, so the mode stays until what follows needs another. */
  setMode(): void {
    const { synchronous, busyTimeoutMs } = this.#mode;
    if (synchronous !== this.#modeSet.synchronous) this.#db.exec(`PRAGMA synchronous = ${synchronous}`);
    if (busyTimeoutMs !== this.#modeSet.busyTimeoutMs) this.#db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    this.#modeSet = this.#mode;
  }

  /** SQLite moves the write-ahead log into the file where no other process has the store open: to do so beside one would keep it waiting. */
  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function open(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: false });
  } catch (error) {
    throw storeError(error, file);
  }
}
