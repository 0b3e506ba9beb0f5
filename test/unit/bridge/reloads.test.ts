// Requests to reload, a file as a test has it → one after another, what is told, what is kept.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { Reloads, type ReloadsParts } from '../../../src/bridge/reloads.ts';
import type { CheckedConfig } from '../../../src/config/check-config.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { BridgeError } from '../../../src/errors.ts';
import { surroundings } from '../../support/config.ts';
import { settle, VirtualTime } from '../../virtual/virtual-time.ts';

const VALID = 'version: 1\nsinks: { audit: { type: stdout } }';

function checked(text: string): CheckedConfig {
  const around = surroundings();
  // Their options are judged by making them.
  const adapters = around.adapters.map((definition) => ({ ...definition, create: () => ADAPTER }));
  return readConfig(text, { ...around, adapters });
}

const ADAPTER = {
  limits: { inFlight: 1, batch: 1, batchBytes: 1 },
  check: async () => null,
  deliver: async () => [],
  close: () => {},
};

function reloads(options: { text?: string | null; apply?: ReloadsParts['apply']; ready?: Promise<void> } = {}) {
  const file = { text: options.text === undefined ? VALID : options.text };
  const started = checked(VALID);
  assert.ok(!('faults' in started));
  const log: { by?: string; msg: string; level: number }[] = [];
  const results: string[] = [];
  const time = new VirtualTime();
  const own = new Reloads({
    file: file.text === null ? null : { written: started.written, read: async () => checked(file.text ?? '') },
    ready: options.ready ?? Promise.resolve(),
    current: () => started.options,
    apply: options.apply ?? (() => ({ settled: Promise.resolve() })),
    onReload: (result) => results.push(result),
    deps: time,
    stdout: process.stdout,
    logger: pino({ level: 'trace' }, { write: (line: string) => log.push(JSON.parse(line)) }),
  });
  return { own, file, log, results, time };
}

test('without a file it reports that, changes nothing and counts nothing', async () => {
  const { own, log, results } = reloads({ text: null, apply: () => assert.fail('something was applied') });
  assert.deepEqual(await own.request('SIGHUP'), { kind: 'no-file' });
  assert.match(log[0]?.msg ?? '', /there is no configuration file/);
  assert.equal(log[0]?.by, 'SIGHUP');
  assert.deepEqual([results, own.refused], [[], null]);
});

test('none begins before the bridge has started, or before the parts that the last one replaced have ended', async () => {
  const ready = Promise.withResolvers<void>();
  const ending = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let applied = 0;
  const { own } = reloads({
    ready: ready.promise,
    apply: () => ({ settled: ending[applied++]?.promise ?? Promise.resolve() }),
  });
  const all = [own.request('SIGHUP'), own.request('orders')];
  assert.equal(own.request('SIGHUP'), all[0], 'one that has not begun is the same one');
  await settle();
  assert.equal(applied, 0);
  ready.resolve();
  await all[0];
  await settle();
  assert.equal(applied, 1);
  assert.notEqual(own.request('SIGHUP'), all[0]);
  ending[0]?.resolve();
  await all[1];
  assert.equal(applied, 2);
});

test('one that is no longer allowed in its turn reads nothing, counts nothing, and the next one begins', async () => {
  const ending = Promise.withResolvers<void>();
  const applied: string[] = [];
  const { own, results } = reloads({
    apply: () => {
      applied.push('applied');
      return { settled: ending.promise };
    },
  });
  let isAdmin = true;
  const first = own.request('SIGHUP');
  const second = own.request('orders', async () => isAdmin);
  const third = own.request('SIGHUP ');
  await first;
  isAdmin = false;
  ending.resolve();
  assert.deepEqual([await second, (await third).kind], [{ kind: 'not-allowed' }, 'applied']);
  assert.deepEqual([applied.length, results], [2, ['applied', 'applied']]);
});

test('the changes are those against the configuration in force, not against a refused file', async () => {
  const { own, file, time } = reloads();
  file.text = `${VALID}\npublish: { resources: own }`;
  assert.deepEqual(await own.request('SIGHUP'), { kind: 'applied', changed: ['publish.resources'] });
  file.text = 'version: 2';
  await time.advance(5000);
  assert.equal((await own.request('orders')).kind, 'faulty');
  assert.deepEqual([own.refused?.by, own.refused?.faults.map(({ path }) => path)], ['orders', ['version']]);
  file.text = VALID;
  assert.deepEqual(await own.request('SIGHUP'), { kind: 'applied', changed: ['publish.resources'] });
  assert.deepEqual([own.refused, own.sinceMs], [null, time.wallMs()]);
});

test('if a reload cannot be stored, the caller gets an error, nothing applies, and the next one is tried', async () => {
  let isFull = true;
  const apply = () => {
    if (isFull) throw new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
    return { settled: Promise.resolve() };
  };
  const { own, file, results } = reloads({ apply });
  file.text = `${VALID}\npublish: { resources: own }`;
  await assert.rejects(own.request('SIGHUP'), /the disk is full/);
  isFull = false;
  assert.deepEqual(await own.request('SIGHUP'), { kind: 'applied', changed: ['publish.resources'] });
  assert.deepEqual(results, ['failed', 'applied']);
});
