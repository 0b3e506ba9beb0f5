// Files of a folder and its tests → each mutant that StrykerJS made, and what became of it.
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import type { Mutant } from './judge.ts';
import type { FolderToScore, MutantsOptions } from './options.ts';

/** Out of git, as all of node_modules. */
const RESULTS = 'node_modules/.cache/mutants';
/** A mutant that hangs is stopped after this and 1.5 times what its tests take. Long: a busy machine is no proof. */
const TIMEOUT_MS = 60_000;
/** With `--quick`, which is a first look. */
const QUICK_TIMEOUT_MS = 10_000;

/** @throws Error if a test fails without a mutant */
export async function mutantsOf(
  { name, files, tests }: FolderToScore,
  { concurrency, isIncremental, isQuick }: Omit<MutantsOptions, 'folders'>,
): Promise<readonly Mutant[]> {
  const testFiles = [...fastestFirst(globSync([...tests]))];
  const results = await new Stryker({
    mutate: [...files],
    ...(isQuick ? inOneProcess(testFiles) : inProcessesOfTheirOwn(testFiles)),
    coverageAnalysis: 'perTest',
    // StrykerJS would read tsconfig.json with the API that TypeScript 7 no longer has.
    tsconfigFile: 'none.json',
    ignorePatterns: ['/dist', '/deploy', '/scheduled-events-bridge-data'],
    // Neither in node_modules, where Node runs no TypeScript, nor in the project, whose biome.json may have no copy.
    tempDirName: mkdtempSync(join(tmpdir(), 'bridge-mutants-')),
    cleanTempDir: 'always',
    concurrency,
    incremental: isIncremental,
    incrementalFile: `${RESULTS}/${name}${isQuick ? '-quick' : ''}.json`,
    reporters: ['progress-append-only'],
    allowConsoleColors: false,
  }).runMutationTest();
  return results.map(({ fileName, location, mutatorName, replacement, status }) => {
    const file = relative('.', fileName);
    return { file, ...mutated(file, location), mutator: mutatorName, replacement: oneLine(replacement ?? ''), status };
  });
}

/** Each test file in a process of its own, as in `npm test`. */
function inProcessesOfTheirOwn(testFiles: readonly string[]) {
  return {
    testRunner: 'tap',
    plugins: ['@stryker-mutator/tap-runner'],
    tap: { testFiles, nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'] },
    timeoutMS: TIMEOUT_MS,
  };
}

function inOneProcess(testFiles: readonly string[]) {
  return {
    testRunner: 'in-process',
    plugins: [join(import.meta.dirname, 'in-process/plugin.ts')],
    inProcess: { testFiles },
    timeoutMS: QUICK_TIMEOUT_MS,
  };
}

/**
 * The tests of a mutant run one after another until one fails, so the fastest come first. Each is run once.
 * @throws Error if one fails
 */
function fastestFirst(tests: readonly string[]): readonly string[] {
  const timed = tests.map((path) => {
    const sinceMs = performance.now();
    execFileSync('node', [path], { stdio: ['ignore', 'ignore', 'inherit'] });
    return { path, ms: performance.now() - sinceMs };
  });
  return timed.sort((a, b) => a.ms - b.ms).map(({ path }) => path);
}

interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

function mutated(
  file: string,
  { start, end }: { readonly start: Position; readonly end: Position },
): Pick<Mutant, 'lineNumber' | 'line' | 'original'> {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  const ended = [...lines.slice(0, -1), (lines.at(-1) ?? '').slice(0, end.column - 1)];
  return {
    lineNumber: start.line,
    line: (lines[0] ?? '').trim(),
    original: oneLine(ended.join('\n').slice(start.column - 1)),
  };
}

function oneLine(code: string): string {
  return code.replaceAll(/\s+/g, ' ').trim();
}
