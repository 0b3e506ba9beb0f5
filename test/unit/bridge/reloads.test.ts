// Requests to reload, a file as a test has it → one after another, what is told, what is kept.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { Reloads, type ReloadsParts } from '../../../src/bridge/reloads.ts';
import type { CheckedConfig } from '../../../src/config/check-config.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { BridgeError } from '../../../src/errors.ts';
import { NO_CONTENT, type Reply } from '../../../src/http/route.ts';
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

interface Options {
  readonly text?: string | null;
  readonly apply?: ReloadsParts['apply'];
  readonly ready?: Promise<void>;
  /** While the file is read. */
  readonly reading?: () => Promise<void>;
}

const ALLOWED = async () => null;

function reloads(options: Options = {}) {
  const file = { text: options.text === undefined ? VALID : options.text };
  const started = checked(VALID);
  assert.ok(!('faults' in started));
  const log: { by?: string; msg: string; level: number }[] = [];
  const results: string[] = [];
  const requested: (readonly string[])[] = [];
  const time = new VirtualTime();
  const read = async () => {
    const text = file.text ?? '';
    await options.reading?.();
    return checked(text);
  };
  const own = new Reloads({
    file: file.text === null ? null : { written: started.written, read },
    ready: options.ready ?? Promise.resolve(),
    current: () => started.options,
    apply: options.apply ?? (() => ({ settled: Promise.resolve() })),
    onReload: (result) => results.push(result),
    onRequested: (admins) => requested.push(admins),
    deps: time,
    stdout: process.stdout,
    logger: pino({ level: 'trace' }, { write: (line: string) => log.push(JSON.parse(line)) }),
  });
  return { own, file, log, results, requested, time };
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
  const first = own.request('SIGHUP');
  await settle();
  assert.equal(applied, 0);
  ready.resolve();
  await first;
  const second = own.request('orders', ALLOWED);
  await settle();
  assert.equal(applied, 1);
  ending[0]?.resolve();
  await second;
  assert.equal(applied, 2);
});

test('requests that wait share one reload of the newest file, which the log and the record know by all their names', async () => {
  const ending = Promise.withResolvers<void>();
  const { own, file, log, results, requested } = reloads({ apply: () => ({ settled: ending.promise }) });
  await own.request('SIGHUP');
  const waiting = ['orders', 'SIGHUP', 'billing', 'orders'].map((by) =>
    own.request(by, by === 'SIGHUP' ? null : ALLOWED),
  );
  await settle();
  file.text = `${VALID}\npublish: { resources: own }`;
  ending.resolve();
  const changed = { kind: 'applied', changed: ['publish.resources'] };
  assert.deepEqual(await Promise.all(waiting), [changed, changed, changed, changed]);
  assert.deepEqual(results, ['applied', 'applied']);
  assert.deepEqual(
    log.map(({ by }) => by),
    ['SIGHUP', 'orders, SIGHUP, billing'],
  );
  assert.deepEqual(requested, [[], ['orders', 'billing']]);
});

test('a request during a reload gets the answer of the next one, because the file may have changed since it was read', async () => {
  const reading = Promise.withResolvers<void>();
  const { own, file, results } = reloads({ reading: () => reading.promise });
  const first = own.request('orders', ALLOWED);
  await settle();
  const second = own.request('orders', ALLOWED);
  reading.resolve();
  assert.deepEqual(await first, { kind: 'applied', changed: [] });
  file.text = `${VALID}\npublish: { resources: own }`;
  assert.deepEqual(await second, { kind: 'applied', changed: ['publish.resources'] });
  assert.equal(results.length, 2);
});

test('between two reloads there is four times the duration of the first for other work, and at most a second', async () => {
  let lastsMs = 50;
  const { own, time, results } = reloads({ reading: () => time.advance(lastsMs) });
  const storm = async () => {
    await own.request('orders', ALLOWED);
    lastsMs = 5000;
    const [next, sinceMs] = [own.request('orders', ALLOWED), time.elapsedMs()];
    await settle();
    assert.equal(results.length, 1);
    await time.advance(199);
    assert.equal(results.length, 1);
    await time.advance(1);
    await next;
    return time.elapsedMs() - sinceMs;
  };
  assert.equal(await storm(), 200 + 5000);
  lastsMs = 0;
  const last = own.request('orders', ALLOWED);
  await time.advance(999);
  assert.equal(results.length, 2);
  await time.advance(1);
  await last;
  // None has waited meanwhile: the next one begins at once.
  await own.request('orders', ALLOWED);
});

test('one that is no longer allowed in its turn is answered so, and the others that waited with it are not', async () => {
  const ending = Promise.withResolvers<void>();
  const { own, results, requested } = reloads({ apply: () => ({ settled: ending.promise }) });
  let reply: Reply | null = null;
  await own.request('SIGHUP');
  const second = own.request('orders', async () => reply);
  const third = own.request('orders', ALLOWED);
  const failing = own.request('billing', () => Promise.reject(new Error('no keys')));
  reply = NO_CONTENT;
  ending.resolve();
  await assert.rejects(failing, /no keys/);
  assert.deepEqual([await second, (await third).kind], [{ kind: 'not-allowed', reply: NO_CONTENT }, 'applied']);
  assert.deepEqual(
    [results, requested],
    [
      ['applied', 'applied'],
      [[], ['orders']],
    ],
  );
});

test('if nobody that waited is still allowed, the file is not read, and the next request begins', async () => {
  const { own, results } = reloads();
  const refused = own.request('orders', async () => NO_CONTENT);
  assert.equal((await refused).kind, 'not-allowed');
  assert.deepEqual(results, []);
  assert.equal((await own.request('SIGHUP')).kind, 'applied');
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
