// A module with hand-made mutants, and its tests → what the runner reports to StrykerJS.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { StrykerOptions } from '@stryker-mutator/api/core';
import { DryRunStatus, type MutantRunOptions, MutantRunStatus } from '@stryker-mutator/api/test-runner';
import { InProcessRunner } from './runner.ts';

/** As StrykerJS writes it: `reach` counts the mutant for the running test, or for the import. */
const MODULE = `
const state = globalThis.__stryker__;
function reach(mutant) {
  const { static: loading, perTest } = state.mutantCoverage;
  if (!state.currentTestId) loading[mutant] = 1;
  else (perTest[state.currentTestId] ??= {})[mutant] = 1;
  return state.activeMutant === mutant;
}
const unit = reach('module') ? 'h' : 'ms';
let calls = 0;
export const wait = (ms) => (reach('call') ? ms + 1 : ms) + unit;
export const spare = () => reach('unchecked');
export const end = () => (reach('endless') ? new Promise(() => {}) : null);
export const count = () => (calls += reach('leftover') ? 1 : 0);
`;
const TESTS = `
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { count, end, spare, wait } from './wait.mjs';
describe('a wait', () => {
  test('is in ms', () => assert.equal(wait(5), '5ms'));
  test('is skipped', { skip: true }, () => assert.fail());
});
test('ends', async () => { await end(); spare(); });
test('leaves nothing', (t) => { t.after(() => assert.equal(count(), 0)); });
`;

const root = mkdtempSync(join(tmpdir(), 'bridge-in-process-'));
after(() => rmSync(root, { recursive: true }));
writeFileSync(join(root, 'wait.mjs'), MODULE);
writeFileSync(join(root, 'wait.test.mjs'), TESTS);
process.chdir(root);

async function runner() {
  const options: unknown = { inProcess: { testFiles: ['wait.test.mjs'] } };
  const made = new InProcessRunner(options as StrykerOptions);
  const dry = await made.dryRun();
  assert(dry.status === DryRunStatus.Complete);
  const { perTest = {}, static: whileLoading = {} } = dry.mutantCoverage ?? {};
  const run = async (mutant: string) => {
    const testFilter = Object.keys(perTest).filter((id) => mutant in (perTest[id] ?? {}));
    const mutantActivation = mutant in whileLoading ? 'static' : 'runtime';
    const activeMutant = { id: mutant };
    return made.mutantRun({ activeMutant, testFilter, mutantActivation } as unknown as MutantRunOptions);
  };
  return { dry, run };
}

test('without a mutant, each test that is not skipped passes, under the names of its suites', async () => {
  const { dry } = await runner();
  assert.deepEqual(
    dry.tests.map(({ name, status }) => [name, status]),
    ['a wait > is in ms', 'ends', 'leaves nothing'].map((name, index) => [`wait.test.mjs#${index} ${name}`, 0]),
  );
});

test('a mutant is killed if a test fails with it, while the tests run or while the module loads, and survives otherwise', async () => {
  const { run } = await runner();
  assert.equal((await run('call')).status, MutantRunStatus.Killed);
  assert.equal((await run('module')).status, MutantRunStatus.Killed);
  assert.equal((await run('unchecked')).status, MutantRunStatus.Survived);
  assert.equal((await run('call')).status, MutantRunStatus.Killed, 'the next run has fresh modules');
});

test('a test that nothing can end any more fails, and the next mutant runs in the same process', async () => {
  const { run } = await runner();
  assert.equal((await run('endless')).status, MutantRunStatus.Killed);
  assert.equal((await run('unchecked')).status, MutantRunStatus.Survived);
});

test('after a mutant that leaves something behind, the process is replaced before the next one', async () => {
  const { run } = await runner();
  assert.equal((await run('leftover')).status, MutantRunStatus.Killed);
  await assert.rejects(run('unchecked'), /needs a new process/);
});
