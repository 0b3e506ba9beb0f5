// A bridge that keeps something at each poll → the soak finds it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { playedMonth } from './month.ts';
import { SHORT } from './soak.ts';
import { verdictOf } from './verdict.ts';

test('a process that keeps 16 KiB of each poll fails the soak, by memory alone', async (t) => {
  const { bounds, ...plan } = { ...SHORT, polls: 3000, warmUp: 1000 };
  const { samples, faults, maintenances } = await playedMonth(t, { ...plan, way: 'plain', seed: 1, leakBytes: 16_384 });
  const { failures } = verdictOf(samples, bounds, maintenances);
  const names = failures.map((line) => line.slice(0, line.indexOf(':')));
  for (const name of ['RSS', 'RSS without files', 'outside the heap'])
    assert.ok(names.includes(name), failures.join('\n'));
  assert.ok(!names.includes('descriptors') && !names.includes('timers'), failures.join('\n'));
  assert.deepEqual(
    Object.values(faults).filter((count) => count > 0),
    [],
  );
});
