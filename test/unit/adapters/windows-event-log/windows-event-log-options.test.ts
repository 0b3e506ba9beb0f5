// The keys of a windows-event-log sink → checked options, or faults; elsewhere always a fault.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { parse } from 'yaml';
import { windowsEventLogSink } from '../../../../adapters/windows-event-log/windows-event-log.ts';
import { windowsEventLogOptions } from '../../../../adapters/windows-event-log/windows-event-log-options.ts';
import { faultsOf, surroundings } from '../../../support/config.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const onWindows = windowsEventLogOptions('win32');

function faults(options: Readonly<Record<string, unknown>>): (string | null)[] {
  const { issues = [] } = v.safeParse(onWindows, options);
  return issues.map((issue) => v.getDotPath(issue));
}

test('the type is enough', () => {
  assert.deepEqual(v.parse(onWindows, { type: 'windows-event-log' }), {
    type: 'windows-event-log',
    source: 'scheduled-events-bridge',
    format: 'text',
    maxBatch: 100,
    maxBatchBytes: 1024 ** 2,
    timeout: 10_000,
  });
});

test('each key has its bounds', () => {
  for (const source of ['', 'a\\b', 'a\nb', 'a'.repeat(201), 7]) assert.deepEqual(faults({ source }), ['source']);
  assert.deepEqual(faults({ source: 'AzureScheduledEvents', format: 'document' }), []);
  assert.deepEqual(faults({ format: 'json' }), ['format']);
  assert.deepEqual(faults({ maxBatch: 1001 }), ['maxBatch']);
  assert.deepEqual(faults({ maxBatchBytes: '1KiB' }), ['maxBatchBytes']);
  assert.deepEqual(faults({ timeout: '5m' }), ['timeout']);
  assert.deepEqual(faults({ log: 'System' }), ['log']);
});

test('on another system, the configuration has a fault that says so', () => {
  if (process.platform === 'win32') return;
  const around = { ...surroundings(), adapters: [windowsEventLogSink] };
  assert.deepEqual(faultsOf('version: 1\nsinks: { log: { type: windows-event-log } }', around), [
    'sinks.log.type: windows-event-log is only available on Windows: use file or syslog on this system',
  ]);
});

test('the samples on the pages are valid on Windows', () => {
  const samples = ['adapters/windows-event-log/README.md', 'docs/operate/windows-event-log.md'].flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^ *```yml\n([\s\S]*?)^ *```/gm)].map(
      ([, yaml = '']) => (parse(yaml) as { sinks: Record<string, Record<string, unknown>> }).sinks,
    ),
  );
  assert.ok(samples.length >= 3);
  for (const { filter, retry, ...options } of samples.flatMap((sinks) => Object.values(sinks)))
    assert.deepEqual(faults(options), []);
});
