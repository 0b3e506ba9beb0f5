// A folder → its store, whose name is on disk before anything counts on it.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { flushStoreNames, makeFolder, makeStore, moveAside } from '../../../src/outbox/folder.ts';
import { MIGRATIONS } from '../../../src/outbox/migrations/schema.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { fileOperations } from '../../support/file-operations.ts';
import { temporaryFolder, testStore } from '../../virtual/outbox-fixture.ts';

const DURABLE = ['link', 'rename', 'fsync'];

test('a new store gets its name when it is complete and its folder is on disk; the name is flushed, too', async (t) => {
  const folder = join(temporaryFolder(t), 'store');
  makeFolder(folder);
  const path = Array(folder.split(sep).length - 1).fill('fsync');
  assert.deepEqual(await fileOperations(DURABLE, () => makeStore(folder, 'OFF')), [...path, 'rename', 'fsync']);
  assert.deepEqual(readdirSync(folder), ['outbox.db']);
  using reader = new DatabaseSync(join(folder, 'outbox.db'), { readOnly: true });
  assert.deepEqual({ ...reader.prepare('PRAGMA user_version').get() }, { user_version: MIGRATIONS.length });
  assert.deepEqual(await fileOperations(DURABLE, () => makeStore(folder, 'OFF')), [], 'it is there');
  assert.deepEqual(await fileOperations(DURABLE, () => flushStoreNames(folder)), ['fsync']);
});

test('a start flushes the name of a store that is there, and a verb does not', async (t) => {
  const { folder, time, outbox } = testStore(t);
  outbox.close();
  const open = (lock: boolean) => fileOperations(DURABLE, () => openOutbox(folder, { deps: time, lock }).close());
  assert.deepEqual([await open(true), await open(false)], [['fsync'], []]);
});

test('a store is set aside with its log, once the new folder is on disk', async (t) => {
  const folder = temporaryFolder(t);
  for (const suffix of ['', '-wal', '-shm']) writeFileSync(join(folder, `outbox.db${suffix}`), suffix);
  const options = { vmId: 'vm', reason: 'moved', atMs: 0 };
  let aside = '';
  const operations = await fileOperations(DURABLE, () => {
    aside = moveAside(folder, 'outbox.db', options);
  });
  const move = ['link', 'fsync', 'fsync'];
  assert.deepEqual(operations, ['fsync', ...move, ...move]);
  assert.deepEqual(
    [readdirSync(folder), readdirSync(aside).sort()],
    [['set-aside-19700101T000000Z-vm'], ['outbox.db', 'outbox.db-wal', 'reason.txt']],
  );
});

test('a folder or a file that cannot be made is an error of the store that names it', (t) => {
  const folder = temporaryFolder(t);
  const failed = (path: string, what: string) => ({
    code: 'BRIDGE_STORE_FAILED',
    message: new RegExp(`^the store ${path} cannot be read or written \\(.*${what}`),
  });
  writeFileSync(join(folder, 'file'), '');
  const inFile = join(folder, 'file', 'store');
  assert.throws(() => makeFolder(inFile), failed(inFile, 'ENOTDIR: not a directory, mkdir'));
  // Not left by an earlier process, which would have left a file.
  mkdirSync(join(folder, 'outbox.db.new'));
  assert.throws(() => makeStore(folder, 'OFF'), failed(join(folder, 'outbox.db'), 'outbox\\.db\\.new'));
});
