// Paths → the text of regular files up to 1 MiB; all else is a fault in words.
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileReadFault, readRegularFile } from '../../../src/secrets/regular-file.ts';
import { temporaryFolder } from '../../virtual/outbox-fixture.ts';

function faultOf(path: string): string {
  try {
    readRegularFile(path);
  } catch (error) {
    return fileReadFault(error);
  }
  return 'none';
}

test('a regular file is read whole up to 1 MiB, and not a byte more', (t) => {
  const file = join(temporaryFolder(t), 'file');
  const whole = `${'é'.repeat(512 * 1024 - 1)}..`;
  writeFileSync(file, whole);
  assert.equal(readRegularFile(file), whole);
  writeFileSync(file, `${whole}.`);
  assert.equal(faultOf(file), 'cannot be read: it is longer than 1 MiB');
});

test('a link to a regular file is read, because orchestrators provide secrets as links', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'data'), 'secret');
  symlinkSync('data', join(folder, 'token'));
  assert.equal(readRegularFile(join(folder, 'token')), 'secret');
});

test('a file with size 0 and content, as in /proc, is read', { skip: process.platform !== 'linux' }, () => {
  assert.match(readRegularFile('/proc/self/status'), /^Name:/);
});

test('a missing file, or one without permission, is reported by its code', (t) => {
  const folder = temporaryFolder(t);
  assert.equal(faultOf(join(folder, 'none')), 'cannot be read (ENOENT)');
  symlinkSync('loop', join(folder, 'loop'));
  assert.equal(faultOf(join(folder, 'loop')), 'cannot be read (ELOOP)');
});
