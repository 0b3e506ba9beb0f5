// The short profile of npm run proof → no fault, and as much work as it promises.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';

const PROOF = join(import.meta.dirname, 'proof.ts');
/** Read from the list, so that this test does not load the product. */
const NAMES = [
  ...readFileSync(join(import.meta.dirname, 'parts.ts'), 'utf8').matchAll(/from '\.\/([\w-]+)\/\1\.ts'/g),
].map(([, name]) => name);
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
  assert.ok(NAMES.length >= 5, 'the list of the parts was not found');
  for (const name of NAMES)
    assert.ok(
      lines.some((line) => line.startsWith(`${name}: `)),
      `${name} is neither run nor told as missing`,
    );
});
