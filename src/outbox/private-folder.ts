// The store's folder → closed to other users: mended, reported or refused.
import { chmodSync, closeSync, fchmodSync, lstatSync, openSync, readdirSync, type Stats, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BridgeError } from '../errors.ts';
import { storeError } from './errors.ts';

const OURS = /^(?:(?:outbox\.db|outbox\.db\.new|lock\.db)(?:-wal|-shm|-journal)?|run\.pid)$/;
const SET_ASIDE = /^set-aside-/;
const [OTHERS_WRITE, GROUP_WRITES, STICKY, NOT_OWNER] = [0o002, 0o020, 0o1000, 0o077];

/** Null where files have no modes and owners, as on Windows. */
const user = (): number | null => process.geteuid?.() ?? null;

/** A new file, mode 0600 whatever the umask. @throws EEXIST where something is there already, a link too: none is followed */
export function createPrivate(path: string, text = ''): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    if (user() !== null) fchmodSync(file, 0o600);
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

/**
 * Before anything in it is opened, where it is there: everybody may write to it, or a file of the store is a link, no file, or another user's.
 * @throws BridgeError BRIDGE_STORE_UNSAFE, _FAILED
 */
export function expectSafe(folder: string): void {
  if (user() === null) return;
  const entry = looked(() => statSync(folder, { throwIfNoEntry: false }), folder);
  if (!entry?.isDirectory()) return;
  if (entry.mode & OTHERS_WRITE) throw unsafe(folder, OPEN_TO_ALL);
  for (const name of looked(() => readdirSync(folder), folder)) if (OURS.test(name)) expectOwnFile(join(folder, name), entry);
}

function expectOwnFile(path: string, folder: Stats): void {
  const entry = looked(() => lstatSync(path, { throwIfNoEntry: false }), path);
  // Gone meanwhile, with the process that had it.
  if (entry === undefined) return;
  if (!entry.isFile()) throw unsafe(path, `is ${entry.isSymbolicLink() ? 'a link, and none is followed' : 'no file'}: remove it`);
  if (![0, user(), folder.uid].includes(entry.uid))
    throw unsafe(path, `belongs to another user (${entry.uid}): remove it, or give it to this one`);
}

/** Takes from others what an earlier release or an odd umask left them. @throws BridgeError BRIDGE_STORE_FAILED */
export function tighten(folder: string): void {
  if (user() === null) return;
  for (const name of looked(() => readdirSync(folder), folder)) {
    const path = join(folder, name);
    const entry = looked(() => lstatSync(path, { throwIfNoEntry: false }), path);
    const mode = OURS.test(name) && entry?.isFile() ? 0o600 : SET_ASIDE.test(name) && entry?.isDirectory() ? 0o700 : null;
    // By its path: opening lock.db and closing it again would drop this process's lock (POSIX).
    if (entry && mode !== null && entry.mode & NOT_OWNER) looked(() => chmodSync(path, mode), path);
  }
}

/** The warning of `run` and `check` about a folder that others may change, to follow `store.path`; null where there is none. */
export function folderWarning(folder: string): string | null {
  const [entry, parent] = [folder, dirname(folder)].map((path) => statSync(path, { throwIfNoEntry: false }));
  const self = user();
  if (self === null || !entry?.isDirectory()) return null;
  if (entry.mode & OTHERS_WRITE) return OPEN_TO_ALL;
  if (entry.mode & GROUP_WRITES && ![0, process.getegid?.()].includes(entry.gid))
    return `may be written to by the group ${entry.gid}, whose members could take the store away or put another one in its place: ${ADVICE}`;
  if (self !== 0 && ![0, self].includes(entry.uid))
    return `belongs to another user (${entry.uid}), who could put another store in its place: ${ADVICE}`;
  if (parent && parent.mode & OTHERS_WRITE && !(parent.mode & STICKY))
    return `lies in a folder that everybody may write to, who could put another one in its place: take that right from ${dirname(folder)}`;
  return null;
}

const ADVICE = 'make it 0700, or name a folder inside it, which the bridge then makes for itself alone';
const OPEN_TO_ALL = `may be written to by everybody on this machine, so that anybody could take or change what is stored: ${ADVICE}`;

function unsafe(path: string, what: string): BridgeError {
  return new BridgeError('BRIDGE_STORE_UNSAFE', `the store ${path} ${what}`);
}

function looked<T>(look: () => T, path: string): T {
  try {
    return look();
  } catch (error) {
    throw storeError(error, path);
  }
}
