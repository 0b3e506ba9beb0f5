// A holder's file that cannot be removed → the lock is released all the same.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StoreLock } from '../../../src/outbox/lock.ts';
import { folderOf } from '../../support/folder.ts';

test('a lock is released if the file that names its holder cannot be removed', (t) => {
  const folder = folderOf(t);
  // As on a read-only disk, rmSync fails.
  mkdirSync(join(folder, 'run.pid'));
  const lock = new StoreLock(folder);
  assert.throws(() => new StoreLock(folder), { code: 'BRIDGE_STORE_LOCKED' });
  lock[Symbol.dispose]();
  new StoreLock(folder)[Symbol.dispose]();
});
