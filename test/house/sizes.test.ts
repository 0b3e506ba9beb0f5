// What git keeps of this folder → no file so large that it can only have come in by mistake.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const MOST_BYTES = 512 * 1024;

test('no file of the repository is larger than 512 KiB, so that no foreign package is committed by mistake', (t) => {
  const { status, stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) return t.skip('this is no clone, or there is no git');
  const sizes = stdout
    .split('\0')
    .filter((path) => path !== '')
    .map((path) => ({ path, size: statSync(join(ROOT, path), { throwIfNoEntry: false })?.size ?? 0 }));
  assert.ok(sizes.length > 900, 'the files were not found');
  assert.deepEqual(
    sizes.filter(({ size }) => size > MOST_BYTES),
    [],
  );
});
