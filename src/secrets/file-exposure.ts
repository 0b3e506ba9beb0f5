// A path → whether users other than its owner and root may change or read it.
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Who has access: `everybody on this machine`, `the group 1001`; null if no other user has. */
export interface Exposure {
  readonly writers: string | null;
  readonly readers: string | null;
}

const [OWN_GROUP, OTHERS] = [0o010, 0o001];
const [READ, WRITE, SEARCH] = [4, 2, 1];
const STICKY = 0o1000;
/** The limit of Linux. */
const MOST_LINKS = 40;

interface Rights {
  readonly mode: number;
  readonly gid: number;
}

/** A file or folder, and the folders above it, innermost first. */
interface LocatedEntry {
  readonly entry: Rights;
  readonly folders: readonly Rights[];
}

/**
 * Returns null if the file does not exist, or if files have no modes (Windows). A user with write access to a folder
 * above the file, or above a link to it, can replace the file, unless the folder is sticky.
 */
export function exposureOf(path: string): Exposure | null {
  if (!process.getegid) return null;
  try {
    const real = realpathSync(path);
    const [file, ...links] = [real, ...linksTo(resolve(path))].map(located);
    return file === undefined ? null : judged(file, links, process.getegid());
  } catch {
    return null;
  }
}

/** The group of this process and root's group do not count as other users. */
function judged(file: LocatedEntry, links: readonly LocatedEntry[], ownGid: number): Exposure {
  const isForeign = ({ gid }: Rights) => gid !== 0 && gid !== ownGid;
  const may = ({ mode }: Rights, right: number, whose: number) => (mode & (right * whose)) !== 0;
  const reachable = ({ folders }: LocatedEntry, gid: number | null) =>
    folders.every(
      (folder) => may(folder, SEARCH, OTHERS) || (gid !== null && folder.gid === gid && may(folder, SEARCH, OWN_GROUP)),
    );
  const everybody = (right: number, way: LocatedEntry) => reachable(way, null) && may(way.entry, right, OTHERS);
  const group = (right: number, way: LocatedEntry) =>
    isForeign(way.entry) && reachable(way, way.entry.gid) && may(way.entry, right, OWN_GROUP);
  const who = (right: number, ways: readonly LocatedEntry[]) => {
    if (ways.some((way) => everybody(right, way))) return 'everybody on this machine';
    const shared = ways.find((way) => group(right, way));
    return shared ? `the group ${shared.entry.gid}` : null;
  };
  const replaceable = [file, ...links].flatMap(foldersOf).filter(({ entry }) => (entry.mode & STICKY) === 0);
  return { writers: who(WRITE, [file, ...replaceable]), readers: who(READ, [file]) };
}

/**
 * Returns the folders above an entry. Access to what is in a folder needs the right to search it, so each folder counts
 * as inside itself.
 */
function foldersOf({ folders }: LocatedEntry): LocatedEntry[] {
  return folders.map((entry, index) => ({ entry, folders: folders.slice(index) }));
}

/** Returns the path and each link that it leads to, unresolved. */
function linksTo(path: string): string[] {
  const links = [path];
  for (let next = path; links.length <= MOST_LINKS && lstatSync(next).isSymbolicLink(); links.push(next)) {
    next = resolve(dirname(next), readlinkSync(next));
  }
  return links;
}

function located(path: string): LocatedEntry {
  return { entry: statSync(path), folders: namesAbove(path).map((folder) => statSync(folder)) };
}

function namesAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...namesAbove(folder)];
}
