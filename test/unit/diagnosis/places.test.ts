// A store's folder and listening addresses → whether a `run` could have them now.
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { placeFindings } from '../../../src/diagnosis/places.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { folderOf } from '../../support/folder.ts';
import { quietMachine } from '../../virtual/quiet-machine.ts';

const LISTEN = { host: '127.0.0.1', port: 8700 };

async function found(store: string, taken: Record<number, string> = {}, freeBytes: number | null = null) {
  const addresses = { 'http.listen': LISTEN, 'http.health': null };
  return (await placeFindings({ store, addresses }, quietMachine({ taken, freeBytes }))).map(
    ({ name, error, found: told }) => `${name}: ${error ?? told}`,
  );
}

test('an existing folder, or one that can be created, and free ports give no finding', async (t) => {
  const folder = folderOf(t);
  assert.deepEqual(await found(folder), []);
  assert.deepEqual(await found(join(folder, 'a', 'b')), []);
});

test('a store that another process uses is a note with that process, and so is its port', async (t) => {
  const folder = folderOf(t);
  using outbox = openOutbox(join(folder, 'store'), { deps: systemDeps(), lock: true });
  const findings = await placeFindings(
    { store: join(folder, 'store'), addresses: { 'http.listen': LISTEN } },
    quietMachine({ taken: { 8700: 'EADDRINUSE' } }),
  );
  assert.deepEqual(
    findings.map(({ name, error }) => [name, error]),
    [
      ['store', null],
      ['http.listen', null],
    ],
  );
  assert.match(findings[0]?.found ?? '', new RegExp(`^process ${process.pid} has it`));
  outbox.close();
  assert.deepEqual(await found(join(folder, 'store')), []);
});

test('a port in use, a privileged port and an address of another machine are faults with a remedy', async (t) => {
  const folder = folderOf(t);
  assert.match(
    (await found(folder, { 8700: 'EADDRINUSE' }))[0] ?? '',
    /^http\.listen: 127\.0\.0\.1:8700: another program listens there/,
  );
  assert.match((await found(folder, { 8700: 'EACCES' }))[0] ?? '', /CAP_NET_BIND_SERVICE/);
  assert.match((await found(folder, { 8700: 'EADDRNOTAVAIL' }))[0] ?? '', /does not have this address/);
  assert.match((await found(folder, { 8700: 'EWHAT' }))[0] ?? '', /\(EWHAT\): choose another address/);
});

test('a folder that everybody may write to is a fault, as `run` refuses it', async (t) => {
  const folder = folderOf(t);
  chmodSync(folder, 0o777);
  const findings = await found(folder);
  assert.equal(findings.length, 1);
  assert.match(findings[0] ?? '', /^store: the store .* may be written to by everybody .* set its mode to 0700/);
});

test('a disk that is full is a fault, beside a running bridge too', async (t) => {
  const folder = folderOf(t);
  const full = /^store: the disk of .* is full \(4096 bytes are free\): nothing can be stored.* Free some space$/;
  assert.match((await found(join(folder, 'new'), {}, 4096))[0] ?? '', full);
  using _ = openOutbox(join(folder, 'store'), { deps: systemDeps(), lock: true });
  const beside = await found(join(folder, 'store'), {}, 4096);
  assert.match(beside[0] ?? '', /has it/);
  assert.match(beside[1] ?? '', full);
  assert.deepEqual(await found(folder, {}, 2 ** 20), []);
});

test('a file instead of the folder is a fault', async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'store'), '');
  assert.match((await found(join(folder, 'store')))[0] ?? '', /is not a folder/);
  assert.match((await found(join(folder, 'store', 'inner')))[0] ?? '', /is not a folder|cannot be created/);
});
