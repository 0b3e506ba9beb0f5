// The store's folder → the lock of its single `run`, held until released or the process ends.
import { accessSync, constants, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BridgeError, codeOf } from '../errors.ts';
import { createPrivateFile } from './disk/private-folder.ts';
import { isBusy, storeError } from './errors.ts';

/** Only SQLite may open this file: closing any other handle on it would drop this process's lock (POSIX). */
const LOCK_FILE = 'lock.db';
const HOLDER_FILE = 'run.pid';

/** Holds `BEGIN EXCLUSIVE` on a separate database. The system frees it with the process, also after kill -9. */
export class StoreLock implements Disposable {
  readonly #database: DatabaseSync;
  readonly #holderFile: string;

  /** @throws BridgeError BRIDGE_STORE_LOCKED if another process, or another outbox of this process, holds it */
  constructor(folder: string) {
    this.#holderFile = join(folder, HOLDER_FILE);
    this.#database = lock(folder, this.#holderFile);
    try {
      // Left by a killed process; or a link, which is removed without its target.
      rmSync(this.#holderFile, { force: true });
      createPrivateFile(this.#holderFile, `${process.pid}\n`);
    } catch {
      // The file only names the holder in messages; the lock also holds on a full disk.
    }
  }

  [Symbol.dispose](): void {
    if (!this.#database.isOpen) return;
    try {
      rmSync(this.#holderFile, { force: true });
    } catch {
      // On a read-only disk it stays. It must not hide the error for which the store is closed.
    }
    this.#database.close();
  }
}

/**
 * Returns the holder of a store's lock: `process 812` or `another process`. Null if it is free or there is no store.
 * Creates no file.
 */
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

/**
 * Returns whether no `run` uses the store, or there is no store; null if this process may not find out. Creates no
 * file.
 */
export function isUnused(folder: string): boolean | null {
  try {
    accessSync(join(folder, LOCK_FILE), constants.R_OK);
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? true : null;
  }
  return lockHolder(folder) === null;
}

function lock(folder: string, holderFile: string): DatabaseSync {
  const file = join(folder, LOCK_FILE);
  let database: DatabaseSync | undefined;
  try {
    // SQLite would create it readable for others, and a reader can lock it.
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
    createPrivateFile(file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function locked(folder: string, holderFile: string, cause: unknown): BridgeError {
  return new BridgeError(
    'BRIDGE_STORE_LOCKED',
    `the store ${folder} is in use by ${nameOf(holderFile)}: only one "run" can use a store. Stop that process, or set store.path to another folder`,
    { cause },
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
