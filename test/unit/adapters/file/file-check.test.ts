// A path, and what is there → whether a line could be appended, told without a trace.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { disk } from '../../../../adapters/file/disk.ts';
import { checkFile } from '../../../../adapters/file/file-check.ts';
import { folderOf } from '../../../support/folder.ts';

test('a file that is there and may be written is nothing to speak of, and stays as it is', async (t) => {
  const folder = folderOf(t);
  const path = join(folder, 'events');
  writeFileSync(path, 'old\n', { mode: 0o640 });
  const { mtimeMs, size } = statSync(path);
  assert.equal(await checkFile(path, true, disk), null);
  assert.deepEqual([statSync(path).mtimeMs, statSync(path).size], [mtimeMs, size]);
  assert.deepEqual(readdirSync(folder), ['events']);
});

test('a file that is not there yet is not made', async (t) => {
  const folder = folderOf(t);
  assert.match(
    (await checkFile(join(folder, 'events'), false, disk)) ?? '',
    /does not exist yet; the first delivery creates it$/,
  );
  symlinkSync(join(folder, 'target'), join(folder, 'link'));
  assert.match((await checkFile(join(folder, 'link'), false, disk)) ?? '', /does not exist yet/);
  assert.deepEqual(readdirSync(folder), ['link']);
});

test('a missing folder fails, behind a link, too', async (t) => {
  const folder = folderOf(t);
  await assert.rejects(checkFile(join(folder, 'none/events'), false, disk), { code: 'ENOENT' });
  symlinkSync(join(folder, 'none/target'), join(folder, 'link'));
  await assert.rejects(checkFile(join(folder, 'link'), false, disk), { code: 'ENOENT' });
});

test('a folder in its place, and a link to itself, fail', async (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'events'));
  await assert.rejects(checkFile(join(folder, 'events'), false, disk), {
    message: 'it is a folder, not a regular file',
  });
  symlinkSync('loop', join(folder, 'loop'));
  await assert.rejects(checkFile(join(folder, 'loop'), false, disk), { code: 'ELOOP' });
});

test('a device is refused', { skip: process.platform === 'win32' && 'Windows has no such devices' }, async () => {
  await assert.rejects(checkFile('/dev/null', false, disk), { message: 'it is a device, not a regular file' });
});

test('a full disk fails', async (t) => {
  const path = join(folderOf(t), 'events');
  const statfs = (async () => ({ blocks: 100, bavail: 0 })) as unknown as typeof disk.statfs;
  await assert.rejects(checkFile(path, false, { ...disk, statfs }), { code: 'ENOSPC' });
});

test('a file that others may change is told', { skip: !process.getegid && 'files have no modes here' }, async (t) => {
  const folder = folderOf(t);
  const path = join(folder, 'events');
  writeFileSync(path, '');
  chmodSync(folder, 0o755);
  chmodSync(path, 0o666);
  assert.match((await checkFile(path, false, disk)) ?? '', /events may be changed by everybody on this machine/);
});

test('a folder in which others could make the file first is told, one like /tmp too', {
  skip: !process.getegid && 'folders have no modes here',
}, async (t) => {
  const folder = folderOf(t);
  const shared = join(folder, 'shared');
  mkdirSync(shared);
  chmodSync(folder, 0o755);
  chmodSync(shared, 0o1777);
  assert.match(
    (await checkFile(join(shared, 'events'), false, disk)) ?? '',
    /everybody on this machine may write to its folder and could create it first/,
  );
});
