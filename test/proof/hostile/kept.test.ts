// Each hostile input that failed once → it does not fail again; each kind and adapter has a target.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptCases } from './kept.ts';
import { KINDS } from './target.ts';
import { TARGETS } from './targets.ts';
import { tryCase } from './trial.ts';

for (const [index, { target: name, input, why }] of keptCases().entries())
  test(`kept case ${index + 1}, ${name}: ${why}`, async () => {
    const target = TARGETS.find((one) => one.name === name);
    assert.ok(target, `no target ${name}`);
    assert.equal(await tryCase(target, Buffer.from(input, 'base64')), null);
  });

test('each kind of hostile input has a target, and each target a name of its own', () => {
  assert.deepEqual([...new Set(TARGETS.map(({ kind }) => kind))].sort(), [...KINDS].sort());
  assert.equal(new Set(TARGETS.map(({ name }) => name)).size, TARGETS.length);
});

for (const target of TARGETS)
  test(`the samples of ${target.name} pass as they are`, async () => {
    for (const sample of target.material.samples) assert.equal(await tryCase(target, sample), null);
  });
