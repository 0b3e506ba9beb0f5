// A file and its older ones → the same, one number on; gaps filled, what others put there kept.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { disk } from '../../../../adapters/file/disk.ts';
import { rotateFile } from '../../../../adapters/file/rotation.ts';
import { faultyDisk } from '../../../adapters/file/faulty-disk.ts';
import { folderOf } from '../../../support/folder.ts';

/** Each file holds its first name. @returns what there is after a rotation of `log`: by name, the first name */
async function rotated(t: TestContext, names: readonly string[], keep: number): Promise<Record<string, string>> {
  const folder = folderOf(t);
  for (const name of names) writeFileSync(join(folder, name), name);
  await rotateFile(join(folder, 'log'), keep, disk);
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

test('each file gets the next number, and the oldest is deleted if all numbers are taken', async (t) => {
  assert.deepEqual(await rotated(t, ['log'], 3), { 'log.1': 'log' });
  assert.deepEqual(await rotated(t, ['log', 'log.1'], 3), { 'log.1': 'log', 'log.2': 'log.1' });
  assert.deepEqual(await rotated(t, ['log', 'log.1', 'log.2', 'log.3'], 3), {
    'log.1': 'log',
    'log.2': 'log.1',
    'log.3': 'log.2',
  });
});

test('a number that is free takes what would have been deleted: a rotation that a crash cut off is gone on with', async (t) => {
  assert.deepEqual(await rotated(t, ['log', 'log.1', 'log.3'], 3), {
    'log.1': 'log',
    'log.2': 'log.1',
    'log.3': 'log.3',
  });
  assert.deepEqual(await rotated(t, ['log', 'log.2', 'log.3'], 3), {
    'log.1': 'log',
    'log.2': 'log.2',
    'log.3': 'log.3',
  });
});

test('each new name is flushed before the old one is given to another file', async (t) => {
  const folder = folderOf(t);
  for (const name of ['log', 'log.1', 'log.2']) writeFileSync(join(folder, name), name);
  const calls: string[] = [];
  const watching = faultyDisk((name) => void (name === 'rename' || name === 'sync' ? calls.push(name) : 0));
  await rotateFile(join(folder, 'log'), 2, watching);
  assert.deepEqual(calls, ['rename', 'sync', 'rename', 'sync']);
});

test('a smaller `keep` deletes those beyond it', async (t) => {
  assert.deepEqual(await rotated(t, ['log', 'log.1', 'log.2', 'log.3', 'log.9'], 1), { 'log.1': 'log' });
});

test('files with other names stay: compressed ones, dates, leading zeros', async (t) => {
  const others = ['log.1.gz', 'log.20261122', 'log.01', 'log.1001', 'log2', 'log.', 'xlog.1'];
  const after = await rotated(t, ['log', ...others], 1);
  assert.deepEqual(after, { 'log.1': 'log', ...Object.fromEntries(others.map((name) => [name, name])) });
});

test('a folder with such a name is neither moved nor deleted', async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'log'), 'log');
  mkdirSync(join(folder, 'log.1'));
  await assert.rejects(rotateFile(join(folder, 'log'), 1, disk), { code: 'EISDIR' });
  assert.deepEqual(readdirSync(folder), ['log', 'log.1']);
});
