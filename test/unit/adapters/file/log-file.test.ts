// Lines and a file that others move, truncate, delete → whole lines, each on disk before it counts.
import assert from 'node:assert/strict';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Disk, disk } from '../../../../adapters/file/disk.ts';
import { LogFile } from '../../../../adapters/file/log-file.ts';
import { errno, faultyDisk } from '../../../adapters/file/faulty-disk.ts';
import { folderOf } from '../../../support/folder.ts';

function place(t: TestContext): { readonly folder: string; readonly path: string } {
  const folder = folderOf(t);
  return { folder, path: join(folder, 'events.ndjson') };
}

const growing = (path: string, on: Disk = disk) => new LogFile(path, null, on);
const lines = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text));
const textOf = (path: string) => readFileSync(path, 'utf8');

test('lines are appended, in one write and one flush, to what is there', async (t) => {
  const { path } = place(t);
  writeFileSync(path, 'old\n');
  const calls: string[] = [];
  const file = growing(
    path,
    faultyDisk((name) => void calls.push(name)),
  );
  assert.deepEqual(await file.append(lines('a', 'b')), { durable: 2 });
  assert.deepEqual(await file.append(lines('c')), { durable: 1 });
  assert.equal(textOf(path), 'old\na\nb\nc\n');
  assert.deepEqual(
    calls.filter((name) => name === 'write' || name === 'datasync'),
    ['write', 'datasync', 'write', 'datasync'],
  );
});

test('a file that is made has mode 0640, less what the umask takes', async (t) => {
  const { path } = place(t);
  const before = process.umask(0o022);
  t.after(() => process.umask(before));
  await growing(path).append(lines('a'));
  assert.equal(statSync(path).mode & 0o777, 0o640);
});

test('the name of a new file is flushed before a line counts, and once', async (t) => {
  const { path } = place(t);
  const calls: string[] = [];
  const file = growing(
    path,
    faultyDisk((name) => void calls.push(name)),
  );
  await file.append(lines('a'));
  assert.ok(calls.includes('sync') && calls.indexOf('sync') < calls.indexOf('datasync'));
  await file.append(lines('b'));
  assert.equal(calls.filter((name) => name === 'sync').length, 1);
});

test('the first append ends a line that a crash tore, and later ones look no more', async (t) => {
  const { path } = place(t);
  writeFileSync(path, 'whole\n{"id":"to');
  const reads: string[] = [];
  const file = growing(
    path,
    faultyDisk((name) => void (name === 'read' && reads.push(name))),
  );
  assert.deepEqual(await file.append(lines('a')), { durable: 1 });
  assert.deepEqual(await file.append(lines('b')), { durable: 1 });
  assert.equal(textOf(path), 'whole\n{"id":"to\na\nb\n');
  assert.equal(reads.length, 1);
});

for (const [what, disturb, left] of [
  ['moved', (path: string) => renameSync(path, `${path}.moved`), 'b\n'],
  ['deleted', (path: string) => rmSync(path), 'b\n'],
  ['truncated', (path: string) => truncateSync(path), 'b\n'],
  ['cut within a line', (path: string) => truncateSync(path, 3), 'old\nb\n'],
  ['replaced by a torn one', (path: string) => writeFileSync(path, 'other'), 'other\nb\n'],
] as const) {
  test(`a file that others have ${what} is written from the next append on`, async (t) => {
    const { path } = place(t);
    const file = growing(path);
    assert.deepEqual(await file.append(lines('old')), { durable: 1 });
    disturb(path);
    assert.deepEqual(await file.append(lines('b')), { durable: 1 });
    assert.equal(textOf(path), left);
  });
}

test('a link is followed, to a file that is not there yet, too', async (t) => {
  const { folder, path } = place(t);
  symlinkSync(join(folder, 'target'), path);
  assert.deepEqual(await growing(path).append(lines('a')), { durable: 1 });
  assert.equal(textOf(join(folder, 'target')), 'a\n');
});

test('what a disk took before it was full counts as far as it is whole; the torn rest is ended at the next append', async (t) => {
  const { path } = place(t);
  let room = 7;
  const full = faultyDisk(
    (name) => {
      if (name === 'write' && room === 0) throw errno('ENOSPC');
    },
    () => {
      const most = room;
      room = 0;
      return most;
    },
  );
  const file = growing(path, full);
  const { durable, failure } = await file.append(lines('aa', 'bb', 'cc'));
  assert.equal(durable, 2);
  assert.equal((failure as NodeJS.ErrnoException).code, 'ENOSPC');
  assert.equal(textOf(path), 'aa\nbb\nc');
  room = 100;
  assert.deepEqual(await file.append(lines('cc')), { durable: 1 });
  assert.equal(textOf(path), 'aa\nbb\nc\ncc\n');
});

test('if the flush fails, nothing counts', async (t) => {
  const { path } = place(t);
  let fails = true;
  const failing = faultyDisk((name) => {
    if (name === 'datasync' && fails) throw errno('EIO');
  });
  const file = growing(path, failing);
  const { durable, failure } = await file.append(lines('a', 'b'));
  assert.deepEqual([durable, (failure as NodeJS.ErrnoException).code], [0, 'EIO']);
  fails = false;
  assert.deepEqual(await file.append(lines('a', 'b')), { durable: 2 });
});

test('after a failed flush, which may have cost the bytes before it, the next line begins on its own', async (t) => {
  const { path } = place(t);
  let isBroken = false;
  const file = growing(
    path,
    faultyDisk((name) => {
      if (isBroken && name === 'datasync') throw errno('EIO');
    }),
  );
  await file.append(lines('a'));
  isBroken = true;
  assert.equal((await file.append(lines('lost'))).durable, 0);
  isBroken = false;
  assert.deepEqual(await file.append(lines('b')), { durable: 1 });
  // A kernel that cannot write a page drops it. It reads as zeros then.
  const left = textOf(path).replace('lost\n', '\0'.repeat('lost\n'.length));
  assert.deepEqual(left.split('\n').slice(-2), ['b', '']);
  assert.deepEqual(await file.append(lines('c')), { durable: 1 });
  assert.ok(textOf(path).endsWith('b\nc\n'));
});

test('a short write is gone on with', async (t) => {
  const { path } = place(t);
  const slow = faultyDisk(
    () => {},
    () => 2,
  );
  assert.deepEqual(await growing(path, slow).append(lines('abc', 'def')), { durable: 2 });
  assert.equal(textOf(path), 'abc\ndef\n');
});

test('before a line would make the file too large, it is renamed; the oldest over `keep` goes', async (t) => {
  const { folder, path } = place(t);
  const file = new LogFile(path, { size: 8, keep: 2 }, disk);
  assert.deepEqual(await file.append(lines('aaa', 'bbb', 'ccc', 'ddd', 'eee', 'fff', 'ggg')), { durable: 7 });
  assert.deepEqual(readdirSync(folder).sort(), ['events.ndjson', 'events.ndjson.1', 'events.ndjson.2']);
  assert.equal(textOf(path), 'ggg\n');
  assert.equal(textOf(`${path}.1`), 'eee\nfff\n');
  assert.equal(textOf(`${path}.2`), 'ccc\nddd\n');
});

test('a line is never split: one that is larger than the file may be stands alone', async (t) => {
  const { path } = place(t);
  const file = new LogFile(path, { size: 8, keep: 9 }, disk);
  const large = 'x'.repeat(100);
  assert.deepEqual(await file.append(lines('a', large, 'b')), { durable: 3 });
  assert.deepEqual([textOf(`${path}.2`), textOf(`${path}.1`), textOf(path)], ['a\n', `${large}\n`, 'b\n']);
});

test('a torn line is ended before its file is renamed', async (t) => {
  const { path } = place(t);
  writeFileSync(path, 'torn and long');
  assert.deepEqual(await new LogFile(path, { size: 8, keep: 1 }, disk).append(lines('a')), { durable: 1 });
  assert.deepEqual([textOf(`${path}.1`), textOf(path)], ['torn and long\n', 'a\n']);
});

test('behind a link, the file that it leads to is rotated, and the link stays', async (t) => {
  const { folder, path } = place(t);
  symlinkSync('target', path);
  await new LogFile(path, { size: 4, keep: 1 }, disk).append(lines('aaa', 'bbb'));
  assert.deepEqual(readdirSync(folder).sort(), ['events.ndjson', 'target', 'target.1']);
  assert.equal(textOf(path), 'bbb\n');
});

/** What is in the folder, the oldest first. */
function kept(folder: string): string[] {
  const files = readdirSync(folder).sort((a, b) => Number(b.split('.')[2] ?? 0) - Number(a.split('.')[2] ?? 0));
  return files.flatMap((name) => textOf(join(folder, name)).split('\n')).filter((text) => text !== '');
}

test('a crash before any call of three rotations loses no line that counted, and the next start goes on in order', async (t) => {
  let crashes = 0;
  for (let last = 0; ; last++) {
    const { folder, path } = place(t);
    writeFileSync(path, '0000\n');
    let calls = 0;
    const crashing = faultyDisk(
      (name) => {
        if (name === 'close') return;
        if (calls++ >= last) throw errno('CRASHED');
      },
      // What reaches the disk of a write that is cut off.
      () => (calls > last - 1 ? 7 : Number.POSITIVE_INFINITY),
    );
    const wanted = ['1111', '2222', '3333', '4444', '5555', '6666'];
    const { durable, failure } = await new LogFile(path, { size: 10, keep: 9 }, crashing).append(lines(...wanted));
    if (failure === undefined) break;
    crashes += 1;
    const rest = wanted.slice(durable);
    assert.deepEqual(await new LogFile(path, { size: 10, keep: 9 }, disk).append(lines(...rest)), {
      durable: rest.length,
    });
    const whole = kept(folder).filter((text) => text.length === 4);
    // A line that was written and not flushed comes again; none is missing, and each comes first in its place.
    assert.deepEqual([...new Set(whole)], ['0000', ...wanted], `crash before call ${last}`);
    assert.ok(existsSync(path));
  }
  assert.ok(crashes > 40, `only ${crashes} crashes`);
});
