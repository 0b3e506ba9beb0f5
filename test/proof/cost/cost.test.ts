// Every caller and far side at its worst → the shipped bridge lives, polls and answers approvers.
// COST_PROFILE=long has a scene for each far side and all verbs; COST_SEED repeats what was sent.
// COST_SECONDS says how long each scene lasts; COST_ONLY selects scenes by name.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { run } from './cost.ts';

const SECONDS = Number(process.env['COST_SECONDS'] ?? 4);
const SEED = Number(process.env['COST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

test('no route, verb, source or far side at its worst costs the shipped bridge its life, its polls or its approvers', async (t) => {
  if (!existsSync('/proc/self/status')) return t.skip('memory is read from /proc');
  t.diagnostic(`COST_SEED=${SEED}`);
  const only = process.env['COST_ONLY'] ?? '';
  const profile = process.env['COST_PROFILE'] === 'long' ? 'long' : 'short';
  const { failures, open } = await run({
    ...{ seed: SEED, seconds: SECONDS, profile, only },
    onCost: ({ name, figures }) => t.diagnostic(`${name}: ${figures}`),
  });
  for (const failure of open) t.diagnostic(`open: ${failure}`);
  assert.deepEqual(failures, []);
});
