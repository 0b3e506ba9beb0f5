// The command line of the proof → its help, and what is said about wrong arguments.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';

function proofWith(...args: readonly string[]) {
  return spawnSync(process.execPath, ['test/proof/proof.ts', ...args], { encoding: 'utf8' });
}

test('--help names the options and the parts', () => {
  const { status, stdout } = proofWith('--help');
  assert.equal(status, 0);
  assert.match(stdout, /--seed S.*--world W.*Parts: simulation, files, .*defects/s);
});

test('wrong arguments are named without a stack, and nothing runs', () => {
  for (const [args, named] of [
    [['--sed', '1'], "Unknown option '--sed'"],
    [['--kills', 'many'], '--kills takes a whole number, not "many".'],
    [['--parts', 'cost,costs'], 'There is no part costs. The parts are simulation, '],
  ] as const) {
    const { status, stdout, stderr } = proofWith(...args);
    assert.deepEqual([status, stdout, stderr.startsWith(named)], [2, '', true], stderr);
    assert.match(stderr, /npm run proof -- \[--seed S\]/);
    assert.doesNotMatch(stderr, /\n {4}at /);
  }
});
