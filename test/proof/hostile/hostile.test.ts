// Hostile input of every kind → documented answers, no invention, no hang, bounded memory.
// HOSTILE_CASES of each target (2,000 by default), HOSTILE_SEED repeats them, HOSTILE_ONLY selects targets by name.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './hostile.ts';
import { keep } from './kept.ts';

const CASES = Number(process.env['HOSTILE_CASES'] ?? 2000);
const SEED = Number(process.env['HOSTILE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

test('no hostile input makes the bridge throw, hang, invent, or take memory without bound', async (t) => {
  t.diagnostic(`HOSTILE_SEED=${SEED}`);
  const { cases, failures } = await run({
    ...{ seed: SEED, cases: CASES, only: process.env['HOSTILE_ONLY'] ?? '' },
    onTarget: ({ target, seconds, bytes, slowestMs, ratio, cases: count }) =>
      t.diagnostic(
        `${target}: ${(count / seconds).toFixed(0)} cases a second, ${(bytes / count).toFixed(0)} bytes each, slowest ${slowestMs.toFixed(1)} ms, ${ratio.toFixed(0)} times its median`,
      ),
  });
  t.diagnostic(`${cases} cases`);
  // HOSTILE_KEEP=1 adds them to the kept cases.
  if (process.env['HOSTILE_KEEP']) keep(failures);
  assert.deepEqual(failures, []);
});
