// The store's folder → the lock of its one `run`, held until released or the process ends.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BridgeError, codeOf } from '../errors.ts';
import { isBusy, storeError } from './errors.ts';
import { createPrivate } from './private-folder.ts';

/** Never opened but by SQLite: closing any other handle on it would drop this process's lock (POSIX). */
const LOCK_FILE = 'lock.db';
const HOLDER_FILE = 'run.pid';

/** Holds `BEGIN EXCLUSIVE` on a database of its own, which the system frees with the process, kill -9 included. */
export class StoreLock implements Disposable {
  readonly #database: DatabaseSync;
  readonly #holderFile: string;

  /** @throws BridgeError BRIDGE_STORE_LOCKED where another process, or another outbox of this one, holds it. */
  constructor(folder: string) {
    this.#holderFile = join(folder, HOLDER_FILE);
    this.#database = lock(folder, this.#holderFile);
    try {
      // That of a process which was killed; or a link, which goes without what it leads to.
      rmSync(this.#holderFile, { force: true });
      createPrivate(this.#holderFile, `${process.pid}\n`);
    } catch {
      // Only names the holder in a message; on a full disk the lock holds all the same.
    }
  }

  [Symbol.dispose](): void {
    if (!this.#database.isOpen) return;
    rmSync(this.#holderFile, { force: true });
    this.#database.close();
  }
}

/** Who holds the lock of a store: `process 812` or `another process`; null where nobody does, or there is no store. Makes nothing. */
export function lockHolder(folder: string): string | null {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(join(folder, LOCK_FILE), { readOnly: true, timeout: 0 });
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return null;
  } catch (error) {
    return isBusy(error) ? nameOf(join(folder, HOLDER_FILE)) : null;
  } finally {
    database?.close();
  }
}

function lock(folder: string, holderFile: string): DatabaseSync {
  const file = join(folder, LOCK_FILE);
  let database: DatabaseSync | undefined;
  try {
    // SQLite would make it readable for others, and a reader can lock it.
    createMissing(file);
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    throw isBusy(error) ? locked(folder, holderFile, error) : storeError(error, file);
  }
}

function createMissing(file: string): void {
  try {
    createPrivate(file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function locked(folder: string, holderFile: string, cause: unknown): BridgeError {
  return new BridgeError(
    'BRIDGE_STORE_LOCKED',
    `the store ${folder} is in use by ${nameOf(holderFile)}: one "run" for each store. End that one, or give store.path another folder`,
    {
      cause,
    },
  );
}

function nameOf(holderFile: string): string {
  const pid = holderOf(holderFile);
  return pid === null ? 'another process' : `process ${pid}`;
}

function holderOf(holderFile: string): string | null {
  try {
    return /^\d+/.exec(readFileSync(holderFile, 'utf8'))?.[0] ?? null;
  } catch {
    return null;
  }
}
