// A program, a folder and a user → the fault that would prevent a start, without starting it.
import { constants } from 'node:fs';
import { access, open, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { codeOf } from '../../src/errors.ts';
import { type Account, maySwitchTo, ownRights } from './accounts.ts';

export interface Conditions {
  /** Folders in which names are looked up. */
  readonly search: readonly string[];
  readonly directory: string | undefined;
  readonly account: Account | null;
  readonly platform: NodeJS.Platform;
}

/**
 * Returns the path of a program by its name, or null if no folder has it.
 * @param extensions those of Windows, such as `.EXE`
 */
export async function findProgram(
  program: string,
  search: readonly string[],
  extensions: readonly string[] = [],
): Promise<string | null> {
  if (isAbsolute(program)) return program;
  for (const folder of search) {
    for (const extension of ['', ...extensions]) {
      const path = join(folder, `${program}${extension}`);
      if ((await mayRun(path, null)) && (await stat(path)).isFile()) return path;
    }
  }
  return null;
}

/**
 * @param program its absolute path
 * @returns the fault and what to do, or null if none was found
 */
export async function startFaultOf(
  program: string,
  { search, directory, account, platform }: Conditions,
): Promise<string | null> {
  if (directory !== undefined) {
    const folder = await statOf(directory);
    if (!folder?.isDirectory()) return `the folder ${directory} does not exist: create it, or correct directory`;
    // The process enters the folder before it changes its user.
    if (!(await mayRun(directory, null)))
      return `the bridge may not enter the folder ${directory}: give it the x permission, or correct directory`;
  }
  if (account !== null && !maySwitchTo(account, await ownRights(platform)))
    return `the bridge may not run programs as ${account.name}: run the bridge as root, or with CAP_SETUID, CAP_SETGID and CAP_KILL, or leave user out`;
  const file = await statOf(program);
  if (file === null) return 'the file does not exist: install it, or correct run';
  if (!file.isFile()) return 'it is not a file: correct run';
  const closed = account === null ? null : await closedFolder(program, account);
  if (closed !== null)
    return `${whoOf(account)} may not enter the folder ${closed} that leads to it: give it the x permission, or correct run or user`;
  if (!(await mayRun(program, account)))
    return `${whoOf(account)} may not execute it: give it the x permission with chmod, or correct run or user`;
  if (platform === 'win32') return null;
  return (await executableFault(program, platform)) ?? interpreterFault(program, search);
}

/**
 * Finds a file that the kernel would not start. The C library would run such a file with a shell, so an empty file
 * would be a success.
 */
export async function executableFault(program: string, platform: NodeJS.Platform): Promise<string | null> {
  if (platform !== 'linux') return null;
  const beginning = await beginningOf(program);
  if (beginning === null || beginning.startsWith('#!') || beginning.startsWith('\x7fELF')) return null;
  return 'it is neither a program of this machine nor a script whose first line is #! with its interpreter: correct it';
}

/** Checks the interpreter of a script; for `/usr/bin/env NAME` also NAME. */
async function interpreterFault(program: string, search: readonly string[]): Promise<string | null> {
  const named = await interpreterOf(program);
  if (named === null) return null;
  const { path: interpreter, name } = named;
  if (interpreter.endsWith('\r'))
    return 'its first line has a line end of Windows, so its interpreter is not found: convert its line ends';
  if ((await statOf(interpreter)) === null)
    return `its interpreter ${interpreter} does not exist: install it, or correct the first line`;
  if (!(await mayRun(interpreter, null)))
    return `its interpreter ${interpreter} may not be executed: correct the first line`;
  const isThere = name === null || (await findProgram(name, search)) !== null;
  return isThere ? null : `its interpreter ${name} is not in PATH: install it, or correct the first line`;
}

/** Checks the file modes of the user and its group. Other rights, such as ACLs, show only at a start. */
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

/** Returns the first folder above a program, or above the target of a link, that the user may not enter. */
async function closedFolder(program: string, account: Account): Promise<string | null> {
  const ways = [program, await realpath(program)].map(foldersAbove);
  for (const folder of new Set(ways.flat())) if (!(await mayRun(folder, account))) return folder;
  return null;
}

/** Returns the parent folders from the root down. */
function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...foldersAbove(folder), folder];
}

/** Returns null if the file does not exist or cannot be read. */
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

const SCRIPT_BYTES = 256;

export interface Interpreter {
  /** As written; ends with a carriage return if the file has line ends of Windows. */
  readonly path: string;
  /** The NAME of `/usr/bin/env NAME`, which is looked up in PATH. */
  readonly name: string | null;
}

/** Returns null if the file is not a script or cannot be read. */
export async function interpreterOf(program: string): Promise<Interpreter | null> {
  const [, path = '', argument = ''] =
    /^#![ \t]*([^ \t\n]+)[ \t]*([^ \t\n]*)/.exec((await beginningOf(program)) ?? '') ?? [];
  if (path === '') return null;
  const isName = path.endsWith('/env') && argument !== '' && !argument.startsWith('-') && !argument.includes('=');
  return { path, name: isName ? argument : null };
}

/** Returns null if the file cannot be read; a program need not be readable. */
async function beginningOf(path: string): Promise<string | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SCRIPT_BYTES), 0, SCRIPT_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch {
    return null;
  }
}
