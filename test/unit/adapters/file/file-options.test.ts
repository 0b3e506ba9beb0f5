// The keys of a file sink → checked options, each fault at its path; and the files that it writes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { fileOptions, filesWritten } from '../../../../adapters/file/file-options.ts';

function faults(options: Readonly<Record<string, unknown>>): (string | null)[] {
  const { issues = [] } = v.safeParse(fileOptions, { path: 'events', ...options });
  return issues.map((issue) => v.getDotPath(issue));
}

test('a path is enough', () => {
  assert.deepEqual(v.parse(fileOptions, { path: 'events' }), {
    path: 'events',
    format: 'json',
    maxBatch: 500,
    maxBatchBytes: 1024 ** 2,
    timeout: 10_000,
  });
  assert.deepEqual(v.parse(fileOptions, { path: 'events', rotate: { size: '10MiB' } }).rotate, {
    size: 10 * 1024 ** 2,
    keep: 7,
  });
});

test('each key has its bounds', () => {
  for (const path of ['', 'logs/', 'a\0b', 7]) assert.deepEqual(faults({ path }), ['path'], String(path));
  for (const size of ['4095B', '1025GiB', 10, '10MB'])
    assert.deepEqual(faults({ rotate: { size } }), ['rotate.size'], String(size));
  for (const keep of [0, 1001, 1.5, '7'])
    assert.deepEqual(faults({ rotate: { size: '1MiB', keep } }), ['rotate.keep'], String(keep));
  assert.deepEqual(faults({ rotate: { keep: 3 } }), ['rotate.size']);
  assert.deepEqual(faults({ format: 'ndjson' }), ['format']);
  assert.deepEqual(faults({ maxBatch: 1001 }), ['maxBatch']);
  assert.deepEqual(faults({ maxBatchBytes: '4095B' }), ['maxBatchBytes']);
  assert.deepEqual(faults({ timeout: '5m' }), ['timeout']);
  assert.deepEqual(
    faults({ rotate: { size: '4KiB', keep: 1 }, maxBatch: 1, maxBatchBytes: '64MiB', timeout: '4m' }),
    [],
  );
});

test('its files are those that it renames, too', () => {
  assert.deepEqual(
    filesWritten(v.parse(fileOptions, { path: 'events', rotate: { size: '1MiB', keep: 2 } }), '/etc/bridge'),
    ['/etc/bridge/events', '/etc/bridge/events.1', '/etc/bridge/events.2'],
  );
});
