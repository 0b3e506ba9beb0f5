// `npx scheduled-events-bridge` in a checkout, as in the README → the built command, at once.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { BUILD_VERSION } from '../../support/build-version.ts';
import { folderOf } from '../../support/folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
const BUILT = join(ROOT, 'dist/main.js');

test('npx runs what is built and builds nothing, on a machine that has never run it', async (t) => {
  const before = statSync(BUILT).mtimeMs;
  const env = { ...process.env, npm_config_cache: folderOf(t), npm_config_offline: 'true' };
  const { stdout } = await promisify(execFile)('npx', ['scheduled-events-bridge', '--version'], { cwd: ROOT, env });
  assert.equal(stdout, `${BUILD_VERSION}\n`);
  assert.equal(statSync(BUILT).mtimeMs, before);
});
