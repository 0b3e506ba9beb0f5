// The arguments of `npm run mutants` → the files to mutate, by folder, and how to run.
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { parseArgs } from 'node:util';
import { SCORED, type ScoredFolder } from './folders.ts';

export interface FolderToScore extends ScoredFolder {
  /** Paths from the root. */
  readonly files: readonly string[];
}

export interface MutantsOptions {
  readonly folders: readonly FolderToScore[];
  /** Processes at a time. */
  readonly concurrency: number;
  /** True: mutants whose file and tests are unchanged since the last run keep their result. */
  readonly isIncremental: boolean;
  /** True: all tests run in one process. This takes a small part of the time, but is not the score. */
  readonly isQuick: boolean;
}

export const USAGE =
  'npm run mutants -- [--base BRANCH | --all | --files GLOB] [--concurrency N] [--incremental] [--quick]';

/** @throws Error for an unknown argument, or a concurrency that is not a whole number from 1 on */
export function readOptions(argv: readonly string[]): MutantsOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      all: { type: 'boolean', default: false },
      base: { type: 'string', default: 'main' },
      files: { type: 'string' },
      concurrency: { type: 'string', default: '2' },
      incremental: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
    },
  });
  if (!/^[1-9]\d?$/.test(values.concurrency)) throw new Error(`--concurrency takes a whole number.\n${USAGE}`);
  const { all, base, files } = values;
  const paths = files !== undefined ? globSync(files) : all ? globSync('src/**/*.ts') : changedSince(base);
  return {
    folders: byFolder(paths),
    concurrency: Number(values.concurrency),
    isIncremental: values.incremental,
    isQuick: values.quick,
  };
}

/** Only folders with files to mutate. */
export function byFolder(paths: readonly string[]): readonly FolderToScore[] {
  return SCORED.map((folder) => ({
    ...folder,
    files: paths.filter((path) => matchesGlob(path, `src/${folder.name}/**/*.ts`)).sort(),
  })).filter(({ files }) => files.length > 0);
}

/** Files that this branch or the working tree changed, or added, since it left `base`. */
function changedSince(base: string): readonly string[] {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim().split('\n');
  const [fork = base] = git('merge-base', base, 'HEAD');
  return [...git('diff', '--name-only', '--diff-filter=d', fork), ...git('ls-files', '--others', '--exclude-standard')];
}
