// Files that change or break → the last good value, one look a second, each fault told once.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { type FileText, WatchedFile } from '../../../src/secrets/watched-file.ts';
import { folderOf } from '../../support/folder.ts';

function textsOf(files: readonly FileText[]): string {
  return files
    .map((file) => {
      if ('fault' in file) throw new Error(file.fault);
      if (file.text === 'bad') throw new Error('is bad');
      return file.text;
    })
    .join();
}

function watched(t: TestContext, initial: () => string = () => 'configured') {
  const folder = folderOf(t);
  const paths = ['one', 'two'].map((name) => join(folder, name)) as [string, string];
  for (const path of paths) writeFileSync(path, 'first\n');
  const said: string[] = [];
  let nowMs = 0;
  const parts = {
    initial,
    parse: textsOf,
    onChanged: () => said.push('changed'),
    onUnusable: (reason: string) => said.push(reason),
  };
  const file = new WatchedFile(paths, parts, { elapsedMs: () => nowMs });
  const after = (ms: number) => {
    nowMs += ms;
    return file.current();
  };
  return { paths, said, after };
}

test('a change applies from the next check on, and there is at most one check a second', (t) => {
  const { paths, said, after } = watched(t);
  assert.equal(after(0), 'first,first');
  writeFileSync(paths[1], 'second\n');
  assert.equal(after(999), 'first,first');
  assert.equal(after(1), 'first,second');
  assert.deepEqual(said, ['changed', 'changed']);
});

test('an unusable file leaves the last good value, and each reason is reported once', (t) => {
  const { paths, said, after } = watched(t);
  after(0);
  writeFileSync(paths[0], 'bad');
  assert.equal(after(1000), 'first,first');
  assert.equal(after(1000), 'first,first');
  rmSync(paths[0]);
  assert.equal(after(1000), 'first,first');
  writeFileSync(paths[0], 'mended');
  assert.equal(after(1000), 'mended,first');
  writeFileSync(paths[0], 'bad');
  after(1000);
  assert.deepEqual(said, ['changed', 'is bad', 'cannot be read (ENOENT)', 'changed', 'is bad']);
});

test('without any good value it throws, and checks again at each call', (t) => {
  const never = () => {
    throw new Error('not this one');
  };
  const { paths, said, after } = watched(t, never);
  writeFileSync(paths[0], 'bad');
  assert.throws(() => after(0), /^Error: is bad$/);
  writeFileSync(paths[0], 'good');
  assert.equal(after(0), 'good,first');
  assert.deepEqual(said, []);
});
