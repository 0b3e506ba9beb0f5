// Files and folders → moved, or their names flushed, also where a folder cannot be opened.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import test from 'node:test';
import { flushNames, flushPath, moveToFolder } from '../../../../src/outbox/disk/flush-names.ts';
import { fileOperations } from '../../../support/file-operations.ts';
import { folderOf } from '../../../support/folder.ts';

const DURABLE = ['link', 'rename', 'fsync'];

test('a file is moved to another folder, with its content and without leaving its old name', (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'aside'));
  writeFileSync(join(folder, 'a'), 'rows');
  moveToFolder(join(folder, 'a'), join(folder, 'aside', 'a'));
  assert.equal(readFileSync(join(folder, 'aside', 'a'), 'utf8'), 'rows');
  assert.equal(existsSync(join(folder, 'a')), false);
});

test('a file that cannot be linked is renamed: here over a file that is there already', (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'aside'));
  writeFileSync(join(folder, 'a'), 'new');
  writeFileSync(join(folder, 'aside', 'a'), 'old');
  moveToFolder(join(folder, 'a'), join(folder, 'aside', 'a'));
  assert.equal(readFileSync(join(folder, 'aside', 'a'), 'utf8'), 'new');
  assert.equal(existsSync(join(folder, 'a')), false);
});

test('a move flushes the folder of the new name, then that of the old one, and so does a rename', async (t) => {
  const folder = folderOf(t);
  const [from, to] = [join(folder, 'a'), join(folder, 'aside', 'a')];
  mkdirSync(join(folder, 'aside'));
  const move = () => {
    writeFileSync(from, 'rows');
    return fileOperations(DURABLE, () => moveToFolder(from, to));
  };
  assert.deepEqual(await move(), ['link', 'fsync', 'fsync']);
  assert.deepEqual(await move(), ['link', 'rename', 'fsync', 'fsync'], 'the name is taken');
});

test('each folder of a path is flushed, the root too, and on Windows none', async (t) => {
  const folder = folderOf(t);
  const flush = () => fileOperations(DURABLE, () => flushPath(join(folder, '.')));
  const parents = resolve(folder).split(sep).length - 1;
  assert.deepEqual(await flush(), Array(parents).fill('fsync'));
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
  t.after(() => Object.defineProperty(process, 'platform', platform));
  Object.defineProperty(process, 'platform', { value: 'win32' });
  assert.deepEqual(await flush(), []);
});

test('a file that is not there is an error', (t) => {
  const folder = folderOf(t);
  assert.throws(() => moveToFolder(join(folder, 'a'), join(folder, 'b')), { code: 'ENOENT' });
});

test('a file system without a flush of folders is no error', { skip: !existsSync('/proc/self') }, () => {
  // Linux: EINVAL.
  assert.doesNotThrow(() => flushNames('/proc/self'));
});

test('names of a folder are flushed up to the root, and a folder that cannot be opened needs none', (t) => {
  const folder = folderOf(t);
  const open = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
  const before = open();
  for (let flush = 0; flush < 20; flush++) flushNames(folder);
  flushPath(folder);
  flushNames(join(folder, 'nowhere'));
  assert.ok(open() < before + 10, 'no folder is left open');
});
