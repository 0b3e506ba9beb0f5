// The short profile of npm run proof → no fault, and as much work as it promises.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { PARTS } from './parts.ts';

const PROOF = join(import.meta.dirname, 'proof.ts');
const LAST_LINE =
  /^proof seed=1 maintenances=(\d+) kills=(\d+) lost=0 invented=0 altered=0 misordered=0 forbidden=0 twice=0 digest=[0-9a-f]{64}$/;

test('the short profile of every part finds no fault in at least 300 maintenances and 50 kills', async (t) => {
  const { code, stdout } = await promisify(execFile)(process.execPath, [PROOF]).then(
    (done) => ({ code: 0, stdout: done.stdout }),
    (error: { code: number; stdout: string }) => error,
  );
  t.diagnostic(stdout);
  const lines = stdout.trimEnd().split('\n');
  const [, maintenances, kills] = LAST_LINE.exec(lines.at(-1) ?? '') ?? [];
  assert.equal(code, 0, stdout);
  assert.ok(Number(maintenances) >= 300 && Number(kills) >= 50, stdout);
  for (const { name } of PARTS)
    assert.ok(
      lines.some((line) => line.startsWith(`${name}: `)),
      `${name} is neither run nor told as missing`,
    );
});
