// A file sink at a pipe, a socket, another user's file, a full disk → failures that say so at once.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { fileSink } from '../../../adapters/file/file.ts';
import { manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import { adapterDeps } from '../../adapters/adapter-deps.ts';
import { failed } from '../../adapters/contract.ts';
import { idsOf } from '../../adapters/file/steady-load.ts';
import { sampleDelivery } from '../../adapters/sample-deliveries.ts';
import { folderOf } from '../../support/folder.ts';
import { smallDisk } from '../../support/small-disk.ts';

const never = new AbortController().signal;
const NOBODY = '65534';

function adapterOf(options: object) {
  return manageAdapter(fileSink.create(v.parse(fileSink.options, options), adapterDeps()), 'under-test');
}

test('a pipe is refused without waiting for its reader, and a socket too', async (t) => {
  const folder = folderOf(t);
  const [pipe, socket] = [join(folder, 'pipe'), join(folder, 'socket')];
  execFileSync('mkfifo', [pipe]);
  const server = createServer().listen(socket);
  t.after(() => server.close());
  for (const [path, kind] of [
    [pipe, 'a pipe'],
    [socket, 'a socket'],
  ] as const) {
    const adapter = adapterOf({ path });
    const failure = failed((await adapter.deliver([sampleDelivery()], never))[0]);
    assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_FILE_MISCONFIGURED', 'misconfigured']);
    assert.match(failure.message, new RegExp(`it is ${kind}, not a regular file; correct \`path\`$`));
    await assert.rejects(adapter.check(never), { code: 'BRIDGE_FILE_MISCONFIGURED' });
  }
});

const noOtherUser =
  process.getuid?.() !== 0 || spawnSync('setpriv', ['--version']).status !== 0
    ? 'only root may become another user, by setpriv'
    : false;

for (const [what, prepare] of [
  ['a folder that this user may not write to', (folder: string) => chmodSync(folder, 0o755)],
  [
    'a file that this user may not write to',
    (folder: string) => {
      chmodSync(folder, 0o777);
      writeFileSync(join(folder, 'events'), '', { mode: 0o644 });
    },
  ],
  ['a folder that this user may not enter', (folder: string) => chmodSync(folder, 0o700)],
] as const) {
  test(`${what} is misconfigured, for a check as for a delivery`, { skip: noOtherUser }, (t) => {
    // The other user reads this program, but no folder of a test.
    const folder = mkdtempSync(join(tmpdir(), 'file-places-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const logs = join(folder, 'logs');
    chmodSync(folder, 0o755);
    mkdirSync(logs);
    prepare(logs);
    const program = join(import.meta.dirname, '../../adapters/file/deliver-once.ts');
    const words = [
      '--reuid',
      NOBODY,
      '--clear-groups',
      process.execPath,
      program,
      JSON.stringify({ path: join(logs, 'events') }),
    ];
    const { stdout, stderr } = spawnSync('setpriv', words, { encoding: 'utf8' });
    assert.notEqual(stdout, '', stderr);
    const { check, outcome } = JSON.parse(stdout) as { check: string; outcome: string };
    assert.equal(check, 'BRIDGE_FILE_MISCONFIGURED');
    assert.match(outcome, /EACCES.*; let this user read and write the file, and its folder$/);
  });
}

test('a full disk is tried again: whole lines count, the torn one is ended, and every line is there once there is room', async (t) => {
  const disk = smallDisk(t, '64k');
  if ('reason' in disk) return t.skip(`${disk.reason}; the same is tested with a disk that is told to fail`);
  const path = join(disk.folder, 'events.ndjson');
  writeFileSync(join(disk.folder, 'ballast'), Buffer.alloc(16 * 1024));
  const adapter = adapterOf({ path });
  const batch = Array.from({ length: 100 }, (_, index) => sampleDelivery({ seq: index + 1, padding: 500 }));
  const outcomes = await adapter.deliver(batch, never);
  const accepted = outcomes.filter((outcome) => outcome === 'accepted').length;
  assert.ok(accepted > 0 && accepted < 100, `${accepted} accepted`);
  const failure = failed(outcomes[accepted]);
  assert.deepEqual([failure.code, failure.disposition, failure.status], ['BRIDGE_FILE_FAILED', 'retry', 'ENOSPC']);
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_FILE_FAILED', status: 'ENOSPC' });

  rmSync(join(disk.folder, 'ballast'));
  const rest = batch.slice(accepted, accepted + 10);
  assert.deepEqual(
    await adapter.deliver(rest, never),
    rest.map(() => 'accepted'),
  );
  const lines = readFileSync(path, 'utf8').split('\n');
  const whole = lines.filter((line) => line.endsWith('}')).join('\n');
  assert.deepEqual(
    idsOf(`${whole}\n`),
    batch.slice(0, accepted + 10).map(({ id }) => id),
  );
  assert.equal(lines.length - 1, accepted + 11, 'one torn line among them');
});
