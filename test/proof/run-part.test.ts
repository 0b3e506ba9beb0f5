// Parts that throw, find faults or lack a tool → the run goes on, and prints what was wrong.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import { readArguments } from './options.ts';
import { type Counts, NOTHING, type Part } from './part.ts';
import { runPart } from './run-part.ts';

const [RUN] = readArguments(['--seed', '7', '--kills', '3']).runs;

async function ran(part: Partial<Part>, options = {}): Promise<{ counts: Counts; lines: readonly string[] }> {
  const lines: string[] = [];
  const given = { ...(RUN as NonNullable<typeof RUN>), log: (line: string) => void lines.push(line), ...options };
  return { counts: await runPart({ name: 'any', run: async () => NOTHING, ...part }, given), lines };
}

test('a part that throws has one problem, printed with its causes and the command that repeats it', async () => {
  const run = async () => {
    throw new Error('crash after operation 7', { cause: new Error('event 5 is not stored') });
  };
  const { counts, lines } = await ran({ run });
  assert.equal(counts.problems.length, 1);
  assert.match(lines.join('\n'), /any: crash after operation 7\n {2}because of Error: event 5 is not stored/);
  assert.match(lines.at(-1) ?? '', /^any: FAILED\. Repeat it: npm run proof -- --parts any --seed 7 .*--kills 3/);
});

test('an error that no promise of a part has is a problem, and the run goes on', async () => {
  const script = `
    const { runPart } = await import(${JSON.stringify(new URL('./run-part.ts', import.meta.url))});
    const { NOTHING } = await import(${JSON.stringify(new URL('./part.ts', import.meta.url))});
    const run = async () => {
      Promise.reject(new Error('a socket hung up'));
      await new Promise((resolve) => setTimeout(resolve, 1));
      return { ...NOTHING, kills: 3 };
    };
    const { problems, kills } = await runPart({ name: 'any', run }, { seed: 1, only: null, log() {} });
    console.log(kills, problems[0].split('\\n')[0]);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  assert.equal(stdout.trim(), '3 Error: a socket hung up');
});

test('a part with a fault is repeated by the sizes that it reached', async () => {
  const { lines } = await ran({ run: async () => ({ ...NOTHING, lost: 1, repeatedBy: { kills: 44 } }) });
  assert.match(lines.at(-1) ?? '', /Repeat it: .*--kills 44/);
});

test('a part without a fault is told in one line', async () => {
  const { lines } = await ran({ run: async () => ({ ...NOTHING, maintenances: 4 }) });
  assert.deepEqual(lines.length, 1);
  assert.match(lines[0] ?? '', /^any: 4 maintenances, 0 kills, \d+\.\d s$/);
});

test('a part whose tool is missing is not run; the long profile and CI fail without it', async (t) => {
  const before = process.env['REQUIRE_PROOF'];
  t.after(() => {
    if (before !== undefined) process.env['REQUIRE_PROOF'] = before;
  });
  delete process.env['REQUIRE_PROOF'];
  const part = { missing: () => 'strace is missing', run: () => assert.fail('it runs') };
  const short = await ran(part);
  assert.deepEqual([short.counts, short.lines], [NOTHING, ['any: not run, because strace is missing']]);
  const long = await ran(part, { isLong: true });
  assert.deepEqual(long.counts.problems, ['strace is missing']);
  process.env['REQUIRE_PROOF'] = '1';
  const ci = await ran(part);
  assert.deepEqual(ci.counts.problems, ['strace is missing']);
  delete process.env['REQUIRE_PROOF'];
});
