// A path → whether users besides its owner and root may change or read it.
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Who: `everybody on this machine`, `the group 1001`; null where nobody else may. */
export interface Exposure {
  readonly writers: string | null;
  readonly readers: string | null;
}

const [OWN_GROUP, OTHERS] = [0o010, 0o001];
const [READ, WRITE, SEARCH] = [4, 2, 1];
const STICKY = 0o1000;
/** As many as Linux follows. */
const MOST_LINKS = 40;

interface Rights {
  readonly mode: number;
  readonly gid: number;
}

/** An entry, and the folders above it from the innermost on. */
interface Way {
  readonly entry: Rights;
  readonly folders: readonly Rights[];
}

/**
 * Null if there is no such file, or if files have no modes, as on Windows. Whoever may write to a folder on the way to the file, or to a link that
 * leads there, may put another file in its place, unless the folder is sticky.
 */
export function exposureOf(path: string): Exposure | null {
  if (!process.getegid) return null;
  try {
    const real = realpathSync(path);
    const [file, ...links] = [real, ...linksTo(resolve(path))].map(wayTo);
    return file === undefined ? null : judged(file, links, process.getegid());
  } catch {
    return null;
  }
}

/** A group that is this process's own, or root's, is not taken for others. */
function judged(file: Way, links: readonly Way[], ownGid: number): Exposure {
  const isForeign = ({ gid }: Rights) => gid !== 0 && gid !== ownGid;
  const may = ({ mode }: Rights, right: number, whose: number) => (mode & (right * whose)) !== 0;
  const reachable = ({ folders }: Way, gid: number | null) =>
    folders.every((folder) => may(folder, SEARCH, OTHERS) || (gid !== null && folder.gid === gid && may(folder, SEARCH, OWN_GROUP)));
  const everybody = (right: number, way: Way) => reachable(way, null) && may(way.entry, right, OTHERS);
  const group = (right: number, way: Way) => isForeign(way.entry) && reachable(way, way.entry.gid) && may(way.entry, right, OWN_GROUP);
  const who = (right: number, ways: readonly Way[]) => {
    if (ways.some((way) => everybody(right, way))) return 'everybody on this machine';
    const shared = ways.find((way) => group(right, way));
    return shared ? `the group ${shared.entry.gid}` : null;
  };
  const replaceable = [file, ...links].flatMap(foldersOf).filter(({ entry }) => (entry.mode & STICKY) === 0);
  return { writers: who(WRITE, [file, ...replaceable]), readers: who(READ, [file]) };
}

/** What is in a folder takes the right to search it, too: each counts as inside itself. */
function foldersOf({ folders }: Way): Way[] {
  return folders.map((entry, index) => ({ entry, folders: folders.slice(index) }));
}

/** The path itself and each link that it leads to in turn; both as they are written. */
function linksTo(path: string): string[] {
  const links = [path];
  for (let next = path; links.length <= MOST_LINKS && lstatSync(next).isSymbolicLink(); links.push(next)) {
    next = resolve(dirname(next), readlinkSync(next));
  }
  return links;
}

function wayTo(path: string): Way {
  return { entry: statSync(path), folders: namesAbove(path).map((folder) => statSync(folder)) };
}

function namesAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...namesAbove(folder)];
}
