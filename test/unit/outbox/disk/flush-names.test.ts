// Files and folders → moved, or their names flushed, also where a folder cannot be opened.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { flushNames, flushPath, moveToFolder } from '../../../../src/outbox/disk/flush-names.ts';
import { folderOf } from '../../../support/folder.ts';

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
