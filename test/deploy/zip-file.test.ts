// deploy/packages/zip-file.ts: a .zip that others read, always of the same bytes.
import assert from 'node:assert/strict';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32, inflateRawSync } from 'node:zlib';
import { zipOf } from '../../deploy/packages/zip-file.ts';
import { folderOf } from '../support/folder.ts';

const AT = new Date('2026-11-22T18:55:43Z');

interface Entry {
  readonly content: Buffer;
  readonly time: number;
  readonly date: number;
}

/** As a reader does: from the end to the directory, from there to each file. */
function read(zip: Buffer): ReadonlyMap<string, Entry> {
  const end = zip.length - 22;
  assert.equal(zip.readUInt32LE(end), 0x06054b50);
  let place = zip.readUInt32LE(end + 16);
  const entries = new Map<string, Entry>();
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    assert.equal(zip.readUInt32LE(place), 0x02014b50);
    const [time, date, crc] = [
      zip.readUInt16LE(place + 12),
      zip.readUInt16LE(place + 14),
      zip.readUInt32LE(place + 16),
    ];
    const [packed, size, length] = [
      zip.readUInt32LE(place + 20),
      zip.readUInt32LE(place + 24),
      zip.readUInt16LE(place + 28),
    ];
    const name = zip.toString('ascii', place + 46, place + 46 + length);
    const start = zip.readUInt32LE(place + 42);
    // The file's own head says the same.
    assert.deepEqual(zip.subarray(start + 4, start + 30), zip.subarray(place + 6, place + 32));
    const content = inflateRawSync(zip.subarray(start + 30 + length, start + 30 + length + packed));
    assert.deepEqual([content.length, crc32(content)], [size, crc]);
    entries.set(name, { content, time, date });
    place += 46 + length;
  }
  assert.equal(place, end);
  return entries;
}

test('the .zip contains every file unchanged, sorted by name, with the same time', async (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'b/deep'), { recursive: true });
  const contents = {
    'a.txt': Buffer.alloc(300_000, 'ab'),
    'b/deep/c.bin': Buffer.from([0, 255, 7]),
    'b.txt': Buffer.alloc(0),
  };
  for (const [path, content] of Object.entries(contents)) writeFileSync(join(folder, path), content);
  const entries = read(await zipOf(folder, AT));
  assert.deepEqual([...entries.keys()], ['a.txt', 'b.txt', 'b/deep/c.bin']);
  for (const [path, content] of Object.entries(contents)) assert.deepEqual(entries.get(path)?.content, content, path);
  for (const { time, date } of entries.values())
    assert.deepEqual([time, date], [(18 << 11) | (55 << 5) | 21, ((2026 - 1980) << 9) | (11 << 5) | 22]);
});

test('times, modes and the order on the disk do not change the bytes', async (t) => {
  const [one, other] = [folderOf(t), folderOf(t)];
  for (const name of ['x', 'y', 'z']) writeFileSync(join(one, name), name);
  for (const name of ['z', 'y', 'x']) writeFileSync(join(other, name), name, { mode: 0o755 });
  utimesSync(join(other, 'y'), 1, 1);
  assert.deepEqual(await zipOf(one, AT), await zipOf(other, AT));
});
