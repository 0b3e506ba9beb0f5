// The store's folder → closed to other users: modes restricted, reported or rejected.
import {
  chmodSync,
  closeSync,
  fchmodSync,
  lstatSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { BridgeError } from '../../errors.ts';
import { storeError } from '../errors.ts';

const OURS = /^(?:(?:outbox\.db|outbox\.db\.new|lock\.db)(?:-wal|-shm|-journal)?|run\.pid)$/;
const SET_ASIDE = /^set-aside-/;
const [OTHERS_WRITE, GROUP_WRITES, STICKY, NOT_OWNER] = [0o002, 0o020, 0o1000, 0o077];

/** Null on systems without file modes and owners, such as Windows. */
const user = (): number | null => process.geteuid?.() ?? null;

/**
 * Creates a file with mode 0600, whatever the umask. Follows no link.
 * @throws EEXIST if the path exists, also as a link
 */
export function createPrivateFile(path: string, text = ''): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    if (user() !== null) fchmodSync(file, 0o600);
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

/**
 * Checks an existing folder before any file in it is opened.
 * @throws BridgeError BRIDGE_STORE_UNSAFE if it is world-writable, or a store file is a link, not a file or another
 * user's; _FAILED
 */
export function checkFolder(folder: string): void {
  if (user() === null) return;
  const entry = wrapErrors(() => statSync(folder, { throwIfNoEntry: false }), folder);
  if (!entry?.isDirectory()) return;
  if (entry.mode & OTHERS_WRITE) throw unsafe(folder, OPEN_TO_ALL);
  for (const name of wrapErrors(() => readdirSync(folder), folder))
    if (OURS.test(name)) expectOwnFile(join(folder, name), entry);
}

function expectOwnFile(path: string, folder: Stats): void {
  const entry = wrapErrors(() => lstatSync(path, { throwIfNoEntry: false }), path);
  // Deleted in the meantime by the process that used it.
  if (entry === undefined) return;
  if (!entry.isFile())
    throw unsafe(
      path,
      `is ${entry.isSymbolicLink() ? 'a link, which the bridge does not follow' : 'not a file'}: remove it`,
    );
  if (![0, user(), folder.uid].includes(entry.uid))
    throw unsafe(path, `belongs to another user (${entry.uid}): remove it, or change its owner`);
}

/** Restricts the modes of files from an earlier release or another umask. @throws BridgeError BRIDGE_STORE_FAILED */
export function restrictModes(folder: string): void {
  if (user() === null) return;
  for (const name of wrapErrors(() => readdirSync(folder), folder)) {
    const path = join(folder, name);
    const entry = wrapErrors(() => lstatSync(path, { throwIfNoEntry: false }), path);
    const mode =
      OURS.test(name) && entry?.isFile() ? 0o600 : SET_ASIDE.test(name) && entry?.isDirectory() ? 0o700 : null;
    // chmod by path: opening and closing lock.db would drop this process's lock (POSIX).
    if (entry && mode !== null && entry.mode & NOT_OWNER) wrapErrors(() => chmodSync(path, mode), path);
  }
}

/** Returns the warning of `run` and `check` about a folder that others may change, to follow `store.path`, or null. */
export function folderWarning(folder: string): string | null {
  const [entry, parent] = [folder, dirname(folder)].map(readableEntry);
  const self = user();
  if (self === null || !entry?.isDirectory()) return null;
  if (entry.mode & OTHERS_WRITE) return OPEN_TO_ALL;
  if (entry.mode & GROUP_WRITES && ![0, process.getegid?.()].includes(entry.gid))
    return `may be written to by the group ${entry.gid}, so its members could remove or replace the store: ${ADVICE}`;
  if (self !== 0 && ![0, self].includes(entry.uid))
    return `belongs to another user (${entry.uid}), who could replace the store: ${ADVICE}`;
  if (parent && parent.mode & OTHERS_WRITE && !(parent.mode & STICKY))
    return `is in a world-writable folder, so any user could replace the store: remove that right from ${dirname(folder)}`;
  return null;
}

/** Undefined if it is missing, or if this user may not look: then opening the store fails, and says why. */
function readableEntry(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const ADVICE =
  'set its mode to 0700, or set the path to a new folder inside it, which the bridge then creates with that mode';
const OPEN_TO_ALL = `may be written to by everybody on this machine, so any user could remove or change the store: ${ADVICE}`;

function unsafe(path: string, what: string): BridgeError {
  return new BridgeError('BRIDGE_STORE_UNSAFE', `the store ${path} ${what}`);
}

function wrapErrors<T>(work: () => T, path: string): T {
  try {
    return work();
  } catch (error) {
    throw storeError(error, path);
  }
}
