// A path → whether users besides its owner and root may change or read it.
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Who: `everybody on this machine`, `the group 1001`; null where nobody else may. */
export interface Exposure {
  readonly writers: string | null;
  readonly readers: string | null;
}

const [OWN_GROUP, OTHERS] = [0o010, 0o001];
const [READ, WRITE, SEARCH] = [4, 2, 1];
const STICKY = 0o1000;

interface Rights {
  readonly mode: number;
  readonly gid: number;
}

/** Null where there is no such file, or files have no modes, as on Windows. Who may write to its folder may put another file in its place. */
export function exposureOf(path: string): Exposure | null {
  if (!process.getegid) return null;
  try {
    const real = realpathSync(path);
    return judged(
      statSync(real),
      foldersOf(real).map((folder) => statSync(folder)),
      process.getegid(),
    );
  } catch {
    return null;
  }
}

/** `folders` from the innermost on. A group that is this process's own, or root's, is not taken for others. */
function judged(file: Rights, folders: readonly Rights[], ownGid: number): Exposure {
  const isForeign = ({ gid }: Rights) => gid !== 0 && gid !== ownGid;
  const may = ({ mode }: Rights, right: number, whose: number) => (mode & (right * whose)) !== 0;
  const reachable = (gid: number | null) =>
    folders.every((folder) => may(folder, SEARCH, OTHERS) || (gid !== null && folder.gid === gid && may(folder, SEARCH, OWN_GROUP)));
  const everybody = (right: number, entry: Rights) => reachable(null) && may(entry, right, OTHERS);
  const group = (right: number, entry: Rights) => isForeign(entry) && reachable(entry.gid) && may(entry, right, OWN_GROUP);
  const who = (right: number, entries: readonly Rights[]) => {
    if (entries.some((entry) => everybody(right, entry))) return 'everybody on this machine';
    const shared = entries.find((entry) => group(right, entry));
    return shared ? `the group ${shared.gid}` : null;
  };
  const [folder] = folders;
  const replaceable = folder && (folder.mode & STICKY) === 0 ? [folder] : [];
  return { writers: who(WRITE, [file, ...replaceable]), readers: who(READ, [file]) };
}

function foldersOf(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersOf(folder)];
}
