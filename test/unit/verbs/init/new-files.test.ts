// A path that cannot be written → an error that names it, and no file.
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeNew } from '../../../../src/verbs/init/new-files.ts';
import { folderOf } from '../../../support/folder.ts';

test('a file below a file names its error, and the files before it are removed', (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'plain'), '');
  const paths = [join(folder, 'bridge.yaml'), join(folder, 'plain', 'token')];
  const files = paths.map((path) => ({ path, text: 'x', isSecret: true }));
  assert.throws(() => writeNew(files), { code: 'BRIDGE_INIT_WRITE', message: /token cannot be written \(ENOTDIR\)/ });
  assert.deepEqual(readdirSync(folder), ['plain']);
});
