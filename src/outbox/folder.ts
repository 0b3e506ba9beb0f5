// `store.path` → a folder with a complete store, or an error.
import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BridgeError, codeOf } from '../errors.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { flushNames, flushPath, moveToFolder } from './disk/flush-names.ts';
import { checkFolder, createPrivateFile, restrictModes } from './disk/private-folder.ts';
import { damaged, storeError } from './errors.ts';
import { migrate } from './migrations/schema.ts';

export const DATABASE_FILE = 'outbox.db';

/**
 * Creates a missing folder with mode 0700, whatever the umask, and restricts files that an earlier release left open.
 * @throws BridgeError BRIDGE_STORE_UNSAFE, _FULL or _FAILED
 */
export function makeFolder(folder: string): void {
  try {
    if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(folder, 0o700);
  } catch (error) {
    throw storeError(error, folder);
  }
  checkFolder(folder);
  restrictModes(folder);
}

/**
 * Creates an empty store if it is missing. The file gets its name when it is complete. So an empty file, or a log
 * without its file, counts as damaged, and not as a new store (as in SQLite). @throws BridgeError BRIDGE_STORE_DAMAGED,
 * _FULL or _FAILED
 */
export function makeStore(folder: string, synchronous: DatabaseOptions['synchronous']): void {
  if (hasStore(folder)) return;
  const file = join(folder, DATABASE_FILE);
  const unfinished = `${file}.new`;
  try {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${unfinished}${suffix}`, { force: true });
    // Created before SQLite does it, because log and index inherit its mode, and an existing folder may be open to
    // others.
    createPrivateFile(unfinished);
    const database = new Database(unfinished, { synchronous });
    try {
      migrate(database);
      // At the close, SQLite ignores an error of the disk: the log, which does not get the new name, would have the rows.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      database.close();
    }
    // An earlier process may have created the folder and been killed before this.
    flushPath(folder);
    renameSync(unfinished, file);
    // Before SQLite creates the log: a log without its file would count as damage at the next start.
    flushNames(folder);
  } catch (error) {
    throw storeError(error, file);
  }
}

/**
 * Makes the names of an open store durable. SQLite does so only when it creates its log, but not for a log that a killed
 * process left. @throws BridgeError BRIDGE_STORE_FAILED
 */
export function flushStoreNames(folder: string): void {
  try {
    flushNames(folder);
  } catch (error) {
    throw storeError(error, join(folder, DATABASE_FILE));
  }
}

/**
 * Requires an existing store. A verb never creates one: as another user, it would leave files that the bridge cannot
 * write.
 * @throws BridgeError BRIDGE_STORE_MISSING, _UNSAFE or _DAMAGED
 */
export function requireStore(folder: string): void {
  checkFolder(folder);
  if (hasStore(folder)) return;
  throw new BridgeError(
    'BRIDGE_STORE_MISSING',
    `there is no store in ${folder}. Start "run" with this configuration first, or check store.path`,
  );
}

function hasStore(folder: string): boolean {
  const file = join(folder, DATABASE_FILE);
  const size = sizeOf(file);
  if (size === 0) throw damaged(file, 'it is empty');
  if (size === null && (sizeOf(`${file}-wal`) ?? 0) > 0) throw damaged(file, 'it is missing, but its log exists');
  return size !== null;
}

function sizeOf(file: string): number | null {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.size ?? null;
  } catch (error) {
    throw storeError(error, file);
  }
}

/**
 * Moves `file` and its write-ahead log into `set-aside-<YYYYMMDDTHHMMSSZ>-<vmId>` in the same folder. Returns that
 * folder.
 * @throws BridgeError BRIDGE_STORE_*
 */
export function moveAside(
  folder: string,
  file: string,
  options: { readonly vmId: string | null; readonly reason: string; readonly atMs: number },
): string {
  try {
    const target = makeAside(join(folder, `set-aside-${compact(options.atMs)}-${plain(options.vmId)}`));
    createPrivateFile(join(target, 'reason.txt'), `${options.reason}\n`);
    flushNames(folder);
    // The log first: otherwise SQLite would read it as the log of the empty store that follows.
    for (const name of [`${file}-wal`, file]) {
      if (existsSync(join(folder, name))) moveToFolder(join(folder, name), join(target, name));
    }
    rmSync(join(folder, `${file}-shm`), { force: true });
    return target;
  } catch (error) {
    throw storeError(error, join(folder, file));
  }
}

function makeAside(path: string): string {
  for (let repeat = 1; ; repeat++) {
    const target = repeat === 1 ? path : `${path}-${repeat}`;
    try {
      mkdirSync(target, { mode: 0o700 });
      chmodSync(target, 0o700);
      return target;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

function compact(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** Reduces a vmId, which comes from the metadata service, to letters, digits and dashes for a file name. */
function plain(vmId: string | null): string {
  return vmId === null || vmId === '' ? 'unknown' : vmId.replaceAll(/[^A-Za-z0-9-]/g, '-').slice(0, 64);
}
