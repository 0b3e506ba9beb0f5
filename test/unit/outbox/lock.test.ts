// The lock of a store → who holds it, also after a kill, and never a second `run`.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isBusy } from '../../../src/outbox/errors.ts';
import { isUnused, lockHolder, StoreLock } from '../../../src/outbox/lock.ts';
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

test('a second lock is rejected with the process that holds the first, and releasing is idempotent', (t) => {
  const folder = folderOf(t);
  const lock = new StoreLock(folder);
  assert.equal(readFileSync(join(folder, 'run.pid'), 'utf8'), `${process.pid}\n`);
  assert.deepEqual([lockHolder(folder), isUnused(folder)], [`process ${process.pid}`, false]);
  assert.throws(() => new StoreLock(folder), {
    code: 'BRIDGE_STORE_LOCKED',
    message: `the store ${folder} is in use by process ${process.pid}: only one "run" can use a store. Stop that process, or set store.path to another folder`,
  });
  assert.equal(lockHolder(folder), `process ${process.pid}`, 'the rejected one took nothing away');
  assert.throws(
    () => new StoreLock(folder),
    ({ cause }: Error) => isBusy(cause),
  );
  lock[Symbol.dispose]();
  assert.deepEqual([lockHolder(folder), isUnused(folder)], [null, true]);
  assert.deepEqual(readdirSync(folder), ['lock.db']);
  const next = new StoreLock(folder);
  lock[Symbol.dispose]();
  assert.equal(lockHolder(folder), `process ${process.pid}`);
  next[Symbol.dispose]();
});

test('a holder without a file that names it is another process', (t) => {
  const folder = folderOf(t);
  using _ = new StoreLock(folder);
  for (const text of ['', 'words', 'pid 7']) {
    writeFileSync(join(folder, 'run.pid'), text);
    assert.equal(lockHolder(folder), 'another process', text);
  }
  rmSync(join(folder, 'run.pid'));
  assert.equal(lockHolder(folder), 'another process');
});

test('the file that a killed process left does not block the next one', (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'run.pid'), '812\n');
  using _ = new StoreLock(folder);
  assert.equal(lockHolder(folder), `process ${process.pid}`);
});

test('a folder without a store is unused, and looking creates no file', (t) => {
  const folder = folderOf(t);
  assert.deepEqual([lockHolder(folder), isUnused(folder)], [null, true]);
  assert.equal(isUnused(join(folder, 'nowhere')), true);
  assert.deepEqual(readdirSync(folder), []);
});

test('a path that is not a folder has an unknown use, and a lock in it is an error of the store', (t) => {
  const file = join(folderOf(t), 'file');
  writeFileSync(file, '');
  assert.equal(isUnused(file), null);
  assert.equal(lockHolder(file), null);
  assert.throws(() => new StoreLock(file), { code: 'BRIDGE_STORE_FAILED', message: /\(ENOTDIR/ });
});

test('looking for the holder leaves no file open', (t) => {
  const folder = folderOf(t);
  new StoreLock(folder)[Symbol.dispose]();
  const open = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
  const before = open();
  for (let look = 0; look < 20; look++) assert.equal(lockHolder(folder), null);
  assert.ok(open() < before + 10);
});
