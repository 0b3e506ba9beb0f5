// The short profile of npm run proof → no fault, and as much work as it promises.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';

const PROOF = join(import.meta.dirname, 'proof.ts');
const LAST_LINE =
  /^proof seed=1 maintenances=(\d+) kills=(\d+) lost=0 invented=0 altered=0 misordered=0 forbidden=0 twice=0 digest=[0-9a-f]{64}$/;

test('the short profile finds no fault in at least 300 maintenances and 50 kills', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROOF]).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }));
  const [, maintenances, kills] = LAST_LINE.exec(stdout.trimEnd().split('\n').at(-1) ?? '') ?? [];
  assert.ok(maintenances !== undefined, stdout);
  assert.ok(Number(maintenances) >= 300 && Number(kills) >= 50, stdout);
  t.diagnostic(stdout);
});
