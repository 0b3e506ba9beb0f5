// A program, a folder and a user → what would keep the program from starting, found without it.
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { codeOf } from '../../src/errors.ts';
import type { Account } from './accounts.ts';
import { beginningOf, interpreterOf } from './interpreter.ts';
import { maySwitchTo, ownRights } from './own-rights.ts';

/** What a program is started with. */
export interface Conditions {
  /** Folders for names. */
  readonly search: readonly string[];
  readonly directory: string | undefined;
  readonly account: Account | null;
  readonly platform: NodeJS.Platform;
}

/** Where the name leads; null where no folder has such a program. @param extensions of Windows, `.EXE` among them */
export async function findProgram(program: string, search: readonly string[], extensions: readonly string[] = []): Promise<string | null> {
  if (isAbsolute(program)) return program;
  for (const folder of search) {
    for (const extension of ['', ...extensions]) {
      const path = join(folder, `${program}${extension}`);
      if ((await mayRun(path, null)) && (await stat(path)).isFile()) return path;
    }
  }
  return null;
}

/** @param program its whole path @returns in words, with what to do; null where nothing is wrong that can be seen */
export async function startFaultOf(program: string, { search, directory, account, platform }: Conditions): Promise<string | null> {
  if (directory !== undefined) {
    const folder = await statOf(directory);
    if (!folder?.isDirectory()) return `there is no folder ${directory}: make it, or correct directory`;
    // It is entered before the user changes.
    if (!(await mayRun(directory, null))) return `the folder ${directory} may not be entered by the bridge: let it, or correct directory`;
  }
  if (account !== null && !maySwitchTo(account, await ownRights(platform)))
    return `the bridge may not run programs as ${account.name}: run the bridge as root, or with CAP_SETUID, CAP_SETGID and CAP_KILL, or leave user out`;
  const file = await statOf(program);
  if (file === null) return 'there is no such file: install it, or correct run';
  if (!file.isFile()) return 'it is no file: correct run';
  const closed = account === null ? null : await closedFolder(program, account);
  if (closed !== null) return `${whoOf(account)} may not enter the folder ${closed} on the way to it: let it, or correct run or user`;
  if (!(await mayRun(program, account))) return `${whoOf(account)} has no right to execute it: chmod it, or correct run or user`;
  if (platform === 'win32') return null;
  return (await formatFault(program, platform)) ?? interpreterFault(program, search);
}

/**
 * What the kernel would not start. The C library then hands it to a shell, as the script that it is not: an empty file would be a success.
 */
export async function formatFault(program: string, platform: NodeJS.Platform): Promise<string | null> {
  if (platform !== 'linux') return null;
  const beginning = await beginningOf(program);
  if (beginning === null || beginning.startsWith('#!') || beginning.startsWith('\x7fELF')) return null;
  return 'it is neither a program of this machine nor a script whose first line is #! with its interpreter: correct it';
}

/** Of a script; `/usr/bin/env NAME` leads to NAME. */
async function interpreterFault(program: string, search: readonly string[]): Promise<string | null> {
  const named = await interpreterOf(program);
  if (named === null) return null;
  const { path: interpreter, name } = named;
  if (interpreter.endsWith('\r'))
    return 'its first line ends as lines of Windows do, so its interpreter is not found: convert its line ends';
  if ((await statOf(interpreter)) === null) return `its interpreter ${interpreter} is not there: install it, or correct the first line`;
  if (!(await mayRun(interpreter, null))) return `its interpreter ${interpreter} may not be executed: correct the first line`;
  const isThere = name === null || (await findProgram(name, search)) !== null;
  return isThere ? null : `its interpreter ${name} is not in PATH: install it, or correct the first line`;
}

/** By the rights that the modes give to the user and its group; what else a system has, as ACLs, only a start can tell. */
async function mayRun(path: string, account: Account | null): Promise<boolean> {
  if (account === null || account.uid === process.geteuid?.()) {
    return access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
  }
  const found = await statOf(path);
  if (found === null) return false;
  const { mode, uid, gid } = found;
  if (account.uid === 0) return found.isDirectory() || (mode & 0o111) !== 0;
  const right = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  return (mode & right) !== 0;
}

/** The first folder above a program that its user may not enter, where a link leads included. */
async function closedFolder(program: string, account: Account): Promise<string | null> {
  const ways = [program, await realpath(program)].map(foldersAbove);
  for (const folder of new Set(ways.flat())) if (!(await mayRun(folder, account))) return folder;
  return null;
}

/** From the top. */
function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...foldersAbove(folder), folder];
}

/** Null where there is nothing, or where nothing can be seen. */
async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'].includes(codeOf(error) ?? '')) return null;
    throw error;
  }
}

function whoOf(account: Account | null): string {
  return account === null ? 'the user of the bridge' : `the user ${account.name}`;
}
