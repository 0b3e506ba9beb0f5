// Sinks that write files → faults where two would write the same one, or one the store's.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import type { AdapterDefinition } from '../../../adapters/adapter.ts';
import { sharedFiles } from '../../../src/config/sinks.ts';
import { configOf, faultsOf, surroundings } from '../../support/config.ts';

const options = v.strictObject({ path: v.array(v.string()) });

const writer: AdapterDefinition<v.InferOutput<typeof options>> = {
  type: 'writer',
  options,
  filesOf: ({ path }, directory) => path.map((file) => resolve(directory, file)),
  create: () => {
    throw new Error('reading a configuration creates no adapter');
  },
};

const AROUND = { ...surroundings(), adapters: [writer] };

function configured(sinks: Readonly<Record<string, readonly string[]>>, rest: object = {}): string {
  const written = Object.entries(sinks).map(([name, files]) => [name, { type: 'writer', path: files }]);
  return JSON.stringify({ version: 1, sinks: Object.fromEntries(written), ...rest });
}

test('a file that two sinks would write is a fault, however its path is written', () => {
  assert.deepEqual(faultsOf(configured({ a: ['x', 'events'], b: ['/etc/bridge/y/../events', 'z'] }), AROUND), [
    'sinks.b.path: writes /etc/bridge/events, and so does sinks.a: give each sink its own file',
  ]);
  assert.deepEqual(Object.keys(configOf(configured({ a: ['x'], b: ['y'] }), AROUND).sinks), ['a', 'b']);
});

test('on Windows, paths that differ only in case are one file', () => {
  const sink = (name: string, file: string) => ({ name, definition: writer, options: { path: [file] } });
  const sinks = [sink('a', 'Data/Events'), sink('b', 'data/events')];
  const found = (platform: NodeJS.Platform) =>
    sharedFiles(sinks, { directory: '/etc/bridge', store: '/etc/bridge/DATA', platform }).map(({ message }) => message);
  assert.deepEqual(found('linux'), []);
  assert.deepEqual(found('win32'), [
    'writes /etc/bridge/Data/Events, in the folder of the store: use another folder',
    'writes /etc/bridge/data/events, and so does sinks.a: give each sink its own file',
    'writes /etc/bridge/data/events, in the folder of the store: use another folder',
  ]);
});

test('a file in the folder of the store is a fault', () => {
  assert.deepEqual(faultsOf(configured({ a: ['data/events'] }, { store: { path: './data' } }), AROUND), [
    'sinks.a.path: writes /etc/bridge/data/events, in the folder of the store: use another folder',
  ]);
  assert.deepEqual(faultsOf(configured({ a: ['data/logs/events'] }, { store: { path: './data' } }), AROUND), []);
});

test('relative paths of a sink start at the folder of the configuration', () => {
  assert.equal(configOf(configured({ a: ['x'] }), AROUND).sinks['a']?.directory, '/etc/bridge');
});
