// npm run proof in processes of its own → one seed gives one digest, on one core or on two.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';

const PROOF = join(import.meta.dirname, '../proof.ts');

async function lastLineOf(...argv: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROOF, '--parts', 'simulation', ...argv]);
  return stdout.trimEnd().split('\n').at(-1) ?? '';
}

test('two runs of one seed see the same, whatever the number of processes, and another seed does not', async () => {
  const [one, two, other] = await Promise.all([
    lastLineOf('--seed', '7', '--maintenances', '60', '--jobs', '1'),
    lastLineOf('--seed', '7', '--maintenances', '60', '--jobs', '2'),
    lastLineOf('--seed', '8', '--maintenances', '60', '--jobs', '1'),
  ]);
  assert.equal(one, two);
  assert.match(one, /lost=0 invented=0 altered=0 misordered=0 forbidden=0 twice=0 digest=[0-9a-f]{64}$/);
  assert.match(other, /lost=0 invented=0 altered=0 misordered=0 forbidden=0 twice=0 digest=[0-9a-f]{64}$/);
  assert.notEqual(one.split('digest=')[1], other.split('digest=')[1]);
});
