// Options → the worlds of a run: those of `first-NUMBER` are those of a run with `--minutes`.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FAULTS, pairsOf } from './faults.ts';
import { mostWorlds, worldsOf } from './plan.ts';
import type { WorldPlan } from './played.ts';

const LONG = { seed: 7, isLong: true, kills: 30, only: null, minutes: null };

test('the long list has each fault alone, two worlds of kills, and each pair once', () => {
  const names = [...worldsOf(LONG)].map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  assert.equal(names.length, FAULTS.length + 2 + pairsOf(FAULTS).length);
});

test('with minutes the list goes on with other kills, and first-NUMBER has the same worlds', () => {
  const isPlayed = FAULTS.length + 2 + pairsOf(FAULTS).length + 3;
  const namesOf = (plans: ReturnType<typeof worldsOf>) =>
    Array.from({ length: isPlayed }, () => (plans.next().value as WorldPlan).name);
  const timed = namesOf(worldsOf({ ...LONG, minutes: 5 }));
  const only = `first-${isPlayed}`;
  assert.deepEqual(namesOf(worldsOf({ ...LONG, only })), timed);
  assert.deepEqual(timed.slice(-3), ['kills-2', 'kills-3', 'kills-4']);
  assert.equal(mostWorlds({ only }), isPlayed);
});
