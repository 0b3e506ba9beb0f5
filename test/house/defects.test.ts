// The deliberate defects of test/proof/defects → every patch still applies, and there are enough.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { chosen } from '../proof/defects/defects.ts';
import { LEAST_DEFECTS, obstacleTo, ROOT, readHeader, readPatches } from '../proof/defects/patches.ts';

const patches = readPatches();
const withoutGit = spawnSync('git', ['--version']).status === 0 ? false : 'there is no git';

test('each deliberate defect can be applied to the sources: a change that breaks its patch renews it', {
  skip: withoutGit,
}, () => {
  const obstacles = patches.map((patch) => [patch.name, obstacleTo(patch, ROOT)] as const);
  assert.deepEqual(
    obstacles.filter(([, obstacle]) => obstacle !== null),
    [],
  );
});

test('a patch that does not apply is noticed', { skip: withoutGit }, () => {
  const [patch] = patches;
  assert.ok(patch);
  assert.match(obstacleTo(patch, join(ROOT, 'test')) ?? '', /No such file|does not apply/);
});

test(`there are at least ${LEAST_DEFECTS} deliberate defects`, () => {
  assert.ok(patches.length >= LEAST_DEFECTS, `${patches.length} patches`);
});

test('a patch says what is wrong and as what it is found', () => {
  const head = 'Defect: the clock is in the id\nFound as: lost\nSeed: 7\nMaintenances: 300\n\ndiff --git a/x b/x\n';
  const search = { by: 'simulation', fault: 'lost', seed: 7, maintenances: 300 };
  assert.deepEqual(readHeader('x', head), { defect: 'the clock is in the id', search });
  assert.throws(() => readHeader('x', head.replace('lost', 'slow')), /takes one of lost, invented/);
  assert.throws(() => readHeader('x', 'diff --git a/x b/x\n'), /no line "Defect:"/);
});

test('--only chooses defects by parts of their names', () => {
  const names = (only: string | null) => chosen(patches, { only }).map(({ name }) => name);
  assert.deepEqual(names(null).length, patches.length);
  assert.deepEqual(names('hold-refused,restart-doubts'), ['hold-refused-before-turn', 'restart-doubts-too-little']);
  assert.throws(() => names('no such defect'), /is in the name of no defect/);
});
