// The configuration of a program → the files that decide what a run does.
import { stat } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import type { AdapterDeps, DecisiveFile } from '../adapter.ts';
import type { CommandOptions } from './command-options.ts';
import { programExtensions, searchPath } from './run-environment.ts';
import { findProgram, type Interpreter, interpreterOf } from './start-faults.ts';

const KEY = 'run';
/** A script may be the interpreter of another one. Linux allows this depth. */
const MOST_INTERPRETERS = 5;

/**
 * Returns the program, its interpreters, files among its arguments, and the folders of PATH in which another program
 * with its name would be found first. Skips files that do not exist. Runs nothing and never rejects.
 */
export async function programFiles(
  { run, env }: CommandOptions,
  { env: own }: Pick<AdapterDeps, 'env'>,
  platform: NodeJS.Platform,
): Promise<readonly DecisiveFile[]> {
  const [name = '', ...args] = run;
  const folders = searchPath(own, platform);
  const program = await found(name, folders, programExtensions(own, platform));
  const handedOn = searchPath({ ...own, ...(typeof env['PATH'] === 'string' ? { PATH: env['PATH'] } : {}) }, platform);
  return [
    ...(program === null ? [] : [{ key: KEY, kind: 'program', path: program }]),
    ...(program === null || isAbsolute(name) ? [] : earlier(folders, program)),
    ...(program === null ? [] : await interpreters(program, handedOn)),
    ...(await filesAmong(args)),
  ];
}

function earlier(folders: readonly string[], program: string): readonly DecisiveFile[] {
  return folders
    .slice(0, folders.indexOf(dirname(program)))
    .map((path) => ({ key: KEY, kind: 'folder of PATH', path }));
}

async function interpreters(program: string, search: readonly string[]): Promise<readonly DecisiveFile[]> {
  const files: DecisiveFile[] = [];
  for (let script: string | null = program; script !== null && files.length < MOST_INTERPRETERS; ) {
    const interpreter: Interpreter | null = await interpreterOf(script);
    if (interpreter === null) break;
    script = interpreter.name === null ? interpreter.path : await found(interpreter.name, search, []);
    if (script !== null) files.push({ key: KEY, kind: 'interpreter', path: script });
  }
  return files;
}

/** A file that disappears during the check counts as missing. */
async function found(name: string, search: readonly string[], extensions: readonly string[]): Promise<string | null> {
  return await findProgram(name, search, extensions).catch(() => null);
}

/** Returns files among the arguments, such as the script of `[/bin/sh, /opt/prepare.sh]`. */
async function filesAmong(args: readonly string[]): Promise<readonly DecisiveFile[]> {
  const files: DecisiveFile[] = [];
  for (const path of args.filter(isAbsolute)) {
    const entry = await stat(path).catch(() => null);
    if (entry?.isFile()) files.push({ key: KEY, kind: 'file', path });
  }
  return files;
}
