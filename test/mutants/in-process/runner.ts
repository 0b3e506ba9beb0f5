// Test files and a mutant → StrykerJS' result of their tests, which all run in one process.
import { readFileSync, writeFileSync } from 'node:fs';
import type { CoverageData, MutantCoverage, StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, tokens } from '@stryker-mutator/api/plugin';
import {
  type DryRunResult,
  DryRunStatus,
  determineHitLimitReached,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  type TestRunnerCapabilities,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { registerGenerations, testsOf } from './generations.ts';
import { failureOf } from './run-test.ts';
import { activate, deactivate, strykerState } from './stryker-state.ts';

/** In the sandbox, which is the working directory of each process of a run. */
const REACHED_BY = 'mutants-reached-by.json';
/** Each copy of a module stays in memory. A process above this is replaced. */
const MEMORY_BYTES = 1_000_000_000;

export interface InProcessOptions {
  readonly inProcess: { readonly testFiles: readonly string[] };
}

interface FileTest {
  readonly id: string;
  readonly failure: () => Promise<string | null>;
}

export class InProcessRunner implements TestRunner {
  static readonly inject = tokens(commonTokens.options);

  readonly #files: readonly string[];
  readonly #loaded = new Map<string, readonly FileTest[]>();
  #isTrusted = true;

  constructor(options: StrykerOptions) {
    this.#files = (options as StrykerOptions & InProcessOptions).inProcess.testFiles;
    registerGenerations(process.cwd());
  }

  capabilities(): TestRunnerCapabilities {
    return { reloadEnvironment: true };
  }

  /** Each file is loaded alone, so that it is known which files run a mutant while they load. */
  async dryRun(): Promise<DryRunResult> {
    const state = strykerState();
    const coverage: MutantCoverage = { static: {}, perTest: {} };
    state.mutantCoverage = coverage;
    const whileLoading: CoverageData = {};
    const reachedBy: Record<string, string[]> = {};
    const tests: TestResult[] = [];
    for (const file of this.#files) {
      coverage.static = {};
      const fileTests = await this.#testsOf(file);
      for (const test of fileTests) {
        state.currentTestId = test.id;
        tests.push(await resultOf(test));
      }
      delete state.currentTestId;
      Object.assign(whileLoading, coverage.static);
      for (const mutant of reachedIn(coverage, fileTests)) reachedBy[mutant] = [...(reachedBy[mutant] ?? []), file];
    }
    coverage.static = whileLoading;
    writeFileSync(REACHED_BY, JSON.stringify(reachedBy));
    return { status: DryRunStatus.Complete, tests, mutantCoverage: coverage };
  }

  /** @throws Error if this process can no longer be trusted: StrykerJS repeats the run in a new one */
  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    if (!this.#isTrusted || process.memoryUsage.rss() > MEMORY_BYTES) throw new Error('needs a new process');
    const reachedBy: Record<string, readonly string[]> = JSON.parse(readFileSync(REACHED_BY, 'utf8'));
    const tests: TestResult[] = [];
    for (const file of reachedBy[options.activeMutant.id] ?? []) {
      const hits = await this.#firstFailure(file, options, tests);
      const limit = determineHitLimitReached(hits, options.hitLimit);
      if (limit) return toMutantRunResult(limit);
      if (tests.at(-1)?.status === TestStatus.Failed) break;
    }
    return toMutantRunResult({ status: DryRunStatus.Complete, tests });
  }

  /** Appends to `results` up to the first failure. Returns how often the mutant's code ran. */
  async #firstFailure(file: string, options: MutantRunOptions, results: TestResult[]): Promise<number | undefined> {
    const isStatic = options.mutantActivation === 'static';
    if (!isStatic) await this.#testsOf(file);
    activate(options.activeMutant.id, options.hitLimit);
    const tests = isStatic ? await loadWithMutant(file) : await this.#testsOf(file);
    if (typeof tests === 'string') results.push({ ...failed(file, tests), timeSpentMs: 0 });
    else {
      for (const test of tests.filter(({ id }) => isStatic || options.testFilter?.includes(id))) {
        const result = await resultOf(test);
        results.push(result);
        if (result.status === TestStatus.Failed) break;
      }
    }
    const hits = deactivate();
    const last = results.at(-1);
    if (last?.status === TestStatus.Failed && !isStatic) this.#isTrusted = await this.#passes(file, last.id);
    return hits;
  }

  /** False if the mutant has left something behind. */
  async #passes(file: string, id: string): Promise<boolean> {
    const tests = await this.#testsOf(file);
    return (await tests.find((test) => test.id === id)?.failure()) === null;
  }

  async #testsOf(file: string): Promise<readonly FileTest[]> {
    const loaded = this.#loaded.get(file);
    if (loaded) return loaded;
    const tests = await load(file);
    this.#loaded.set(file, tests);
    return tests;
  }
}

async function load(file: string): Promise<readonly FileTest[]> {
  const tests = await testsOf(file);
  return tests.map((test, index) => ({ id: `${file}#${index} ${test.name}`, failure: () => failureOf(test) }));
}

/** A mutant in the code of a module itself can make its import fail. */
async function loadWithMutant(file: string): Promise<readonly FileTest[] | string> {
  try {
    return await load(file);
  } catch (error) {
    return String(error);
  }
}

async function resultOf({ id, failure }: FileTest): Promise<TestResult> {
  const sinceMs = performance.now();
  const message = await failure();
  const timeSpentMs = performance.now() - sinceMs;
  return message === null
    ? { id, name: id, timeSpentMs, status: TestStatus.Success }
    : { ...failed(id, message), timeSpentMs };
}

function failed(id: string, failureMessage: string) {
  return { id, name: id, status: TestStatus.Failed as const, failureMessage };
}

/** The mutants that a file reaches while it loads, or in one of its tests. */
function reachedIn({ static: loading, perTest }: MutantCoverage, tests: readonly FileTest[]): ReadonlySet<string> {
  return new Set([loading, ...tests.map(({ id }) => perTest[id] ?? {})].flatMap((each) => Object.keys(each)));
}
