// A file → a SQLite database: write-ahead log, durable commits, prepared statements, BridgeErrors.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { BridgeError } from '../errors.ts';
import { storeError } from './errors.ts';

/**
 * Verbs that run next to a bridge commit in steps of some milliseconds, so a longer wait means that the other process
 * hangs.
 */
const BUSY_TIMEOUT_MS = 5000;
/** SQLite's default, used by every store. */
const PAGE_BYTES = 4096;
const USAGE =
  'SELECT (c.page_count - f.freelist_count) * s.page_size AS bytes FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size s';

export interface DatabaseOptions {
  /** `OFF` is for tests that do not cover power loss. */
  readonly synchronous: 'FULL' | 'OFF';
  /** For tests: simulates a full disk at this number of 4 KiB pages. */
  readonly maxPages?: number | undefined;
  /** `store.maxSize`: the largest size of the file. */
  readonly maxBytes?: number | undefined;
}

/** The used part of a database, without free pages. */
export interface Usage {
  readonly bytes: number;
  /** Null without `store.maxSize`. */
  readonly maxBytes: number | null;
}

/** A row and the bytes that reading it would take. SQLite tells the length of a value without reading it. */
export interface SizedRow {
  readonly seq: number;
  readonly size: number;
}

/** How many of the first rows have at most `maxBytes` together; the first one counts, whatever its size. */
export function countWithin(rows: readonly Pick<SizedRow, 'size'>[], maxBytes: number): number {
  let left = maxBytes;
  const beyond = rows.findIndex(({ size }) => {
    left -= size;
    return left < 0;
  });
  return beyond === -1 ? rows.length : Math.max(1, beyond);
}

/** The durability of commits, and the longest wait for a lock. */
interface Mode {
  readonly synchronous: 'FULL' | 'NORMAL' | 'OFF';
  readonly busyTimeoutMs: number;
}

/** A prepared statement; `Row` is its row type. Every method @throws BridgeError BRIDGE_STORE_* */
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

  /** Returns the number of written rows. */
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

/** Prepared statements by name. `Rows` has the row type of each one that returns rows. */
export type Statements<Name extends string, Rows> = {
  readonly [Each in Name]: Statement<Each extends keyof Rows ? Rows[Each] : never>;
};

/** One connection. Closing it is idempotent. */
export class Database implements Disposable {
  readonly file: string;
  readonly #db: DatabaseSync;
  readonly #durable: Mode;
  /** The mode for the next statement. */
  #mode: Mode;
  /** The current mode of the connection. */
  #modeSet: Mode;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #maxBytes: number | null;
  readonly #usage: Statement<{ bytes: number }>;

  /** @throws BridgeError BRIDGE_STORE_* if the file cannot be opened or is not a database */
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
  prepareAll<Name extends string, Rows>(sql: Readonly<Record<Name, string>>): Statements<Name, Rows> {
    return Object.fromEntries(
      Object.entries<string>(sql).map(([name, text]) => [name, this.prepare(text)]),
    ) as unknown as Statements<Name, Rows>;
  }

  /**
   * Commits all writes of `work`, or none. They are on disk when it returns.
   * @throws the errors of `work`, and BridgeError BRIDGE_STORE_*
   */
  transaction<T>(work: () => T): T {
    if (this.#db.isOpen && this.#db.isTransaction)
      throw new BridgeError('BRIDGE_INTERNAL', `a transaction of the store ${this.file} was started inside another`);
    this.#begin.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      // If the disk is full, SQLite has already rolled back.
      if (this.#db.isTransaction) this.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * Runs `work` with commits that survive the process, but perhaps not a power failure, and so need no fsync. Without
   * `wait` a locked store fails at once.
   */
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

  /**
   * Called before each statement. A PRAGMA takes longer than a small UPDATE, so the mode only changes if the next
   * statement needs another.
   */
  setMode(): void {
    const { synchronous, busyTimeoutMs } = this.#mode;
    if (synchronous !== this.#modeSet.synchronous) this.#db.exec(`PRAGMA synchronous = ${synchronous}`);
    if (busyTimeoutMs !== this.#modeSet.busyTimeoutMs) this.#db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    this.#modeSet = this.#mode;
  }

  /**
   * Closes the connection. SQLite moves the write-ahead log into the file only if no other process has the store open.
   */
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
