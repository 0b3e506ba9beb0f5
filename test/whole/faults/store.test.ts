// A disk that is full, a store damaged or in use → no delivery without record, and clear errors.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { run } from '../../support/program.ts';
import {
  type BridgeFolder,
  bridgeFolder,
  hook,
  peek,
  polled,
  received,
  type Sections,
  startRun,
  urlOf,
} from '../../support/running-bridge.ts';
import { smallDisk } from '../../support/small-disk.ts';

const EVENTS = 300;

test('on a full disk nothing is delivered that is not stored, /readyz says so, and it continues when there is space', async (t) => {
  const disk = smallDisk(t, '4m');
  if ('reason' in disk) {
    t.skip(disk.reason);
    return;
  }
  const simulator = await localSimulator(t);
  await using receiver = await WebhookReceiver.start();
  const folder = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(receiver.url) } }, disk.folder);
  const bridge = await startRun(t, folder);
  const readyz = async () => {
    const response = await fetch(`${urlOf(bridge)}/readyz`);
    return { status: response.status, ...((await response.json()) as { reasons: string[] }) };
  };
  simulator.schedule();
  await receiver.waitFor(1);
  assert.equal((await readyz()).status, 200);

  disk.fill();
  const description = 'x'.repeat(1000);
  // All of them in one document: nothing is answered in between.
  for (let n = 0; n < EVENTS; n++) simulator.schedule({ Description: description });
  await bridge.logs('nothing can be stored');
  await polled(simulator);
  await polled(simulator);
  const { status, reasons } = await readyz();
  assert.equal(status, 503);
  assert.match(reasons.join(), /nothing can be stored: the disk of the store .* is full/);
  assert.equal(receiver.requests.length, 1);

  disk.free();
  await receiver.waitFor(1 + EVENTS);
  await bridge.logs('can be stored again');
  assert.equal((await readyz()).status, 200);
  assert.ok([...received(receiver.requests).values()].every((bodies) => bodies.length === 1));
  assert.equal((await bridge.end('SIGTERM')).code, 0);
});

test('a sink that is removed and added again by SIGHUP while the disk is full keeps its queue', async (t) => {
  const disk = smallDisk(t, '4m');
  if ('reason' in disk) {
    t.skip(disk.reason);
    return;
  }
  const simulator = await localSimulator(t);
  await using receiver = await WebhookReceiver.start();
  receiver.default = (response) => response.writeHead(503).end();
  const folder = folderOf(t);
  const store = join(disk.folder, 'store');
  const hooks = hook(receiver.url);
  const write = (sinks: Sections) => bridgeFolder(t, simulator.url, { store: { path: store }, sinks }, folder);
  const queued = () => peek({ config: '', store }, ({ queue }) => queue.backlog('hooks'));
  const bridge = await startRun(t, write({ audit: { type: 'stdout' }, hooks }));
  for (let n = 0; n < 6; n++) simulator.schedule();
  await poll(() => queued().queued === 6, 'six events in the queue');
  disk.fill();
  for (const [sinks, reloads] of [
    [{ audit: { type: 'stdout' } }, 1],
    [{ audit: { type: 'stdout' }, hooks }, 2],
  ] as const) {
    write(sinks);
    bridge.child.kill('SIGHUP');
    await poll(() => bridge.stderr.split('was read again').length > reloads, 'the reload in the log');
    if (reloads === 1) await bridge.logs('could not be stored: the bridge retries in a second');
  }
  disk.free();
  // Two seconds of the bridge, which repeats each second what the store refused.
  for (let polls = 0; polls < 40; polls++) await polled(simulator);
  assert.deepEqual([queued().queued, queued().dead], [6, 0], bridge.stderr);
  receiver.default = (response) => response.writeHead(204).end();
  await poll(() => queued().queued === 0, 'an empty queue', 30_000);
  assert.doesNotMatch(bridge.stderr, /no longer configured/);
  assert.equal((await bridge.end('SIGTERM')).code, 0);
});

type Damage = (file: string) => void;

const DAMAGES: readonly (readonly [what: string, damage: Damage])[] = [
  ['is no database', (file) => writeFileSync(file, 'no database\n'.repeat(1000))],
  ['is empty', (file) => writeFileSync(file, '')],
  [
    'lacks its second half',
    (file) => writeFileSync(file, readFileSync(file).subarray(0, readFileSync(file).length / 2)),
  ],
  ['has strange bytes behind its first page', (file) => writeFileSync(file, readFileSync(file).fill(0xa5, 4096))],
];

for (const [what, damage] of DAMAGES) {
  test(`a store file that ${what} is an error that names it and says what to do; the file stays as it is`, async (t) => {
    const folder = await usedStore(t);
    const file = join(folder.store, 'outbox.db');
    damage(file);
    const bytes = readFileSync(file);
    const { code, stdout, stderr } = await run(t, ['run', '--config', folder.config]);
    assert.deepEqual({ code, stdout }, { code: 74, stdout: '' }, stderr);
    assert.ok(stderr.includes(`the store file ${file} is damaged`), stderr);
    assert.match(stderr, /put back a copy of its folder, or move the folder away.*\(BRIDGE_STORE_DAMAGED\)\n$/);
    assert.deepEqual(readFileSync(file), bytes);
  });
}

test('a log without its store file is damage too, and no new beginning', async (t) => {
  const folder = await usedStore(t);
  const file = join(folder.store, 'outbox.db');
  copyFileSync(file, `${file}-wal`);
  rmSync(file);
  const { code, stderr } = await run(t, ['run', '--config', folder.config]);
  assert.equal(code, 74);
  assert.ok(stderr.includes(`the store file ${file} is damaged`), stderr);
  assert.equal(existsSync(file), false);
});

test('a folder that this process cannot use is an error that names it', async (t) => {
  const folder = bridgeFolder(t, 'http://127.0.0.1:1', {});
  writeFileSync(folder.store, 'a file where the folder should be');
  const { code, stderr } = await run(t, ['run', '--config', folder.config]);
  assert.equal(code, 1);
  assert.ok(stderr.includes(folder.store), stderr);
  assert.match(stderr, /\(BRIDGE_STORE_FAILED\)\n$/);
});

test('a second run on the same store is refused with 75 and names the first; the store is free after kill -9', async (t) => {
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, {});
  const first = await startRun(t, folder);
  const second = await run(t, ['run', '--config', folder.config]);
  assert.deepEqual([second.code, second.stdout], [75, '']);
  assert.ok(second.stderr.includes(`the store ${folder.store} is in use by process ${first.child.pid}`), second.stderr);
  assert.equal(first.hasEnded, false);
  await first.end('SIGKILL');
  await startRun(t, folder);
});

test('a folder for the store that is there and empty is taken', async (t) => {
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, {});
  mkdirSync(folder.store);
  await startRun(t, folder);
  assert.ok(readdirSync(folder.store).includes('outbox.db'));
});

/** The store of a bridge that has delivered and ended. */
async function usedStore(t: TestContext): Promise<BridgeFolder> {
  const simulator = await localSimulator(t);
  await using receiver = await WebhookReceiver.start();
  const folder = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(receiver.url) } });
  const bridge = await startRun(t, folder);
  for (let n = 0; n < 20; n++) simulator.schedule();
  await receiver.waitFor(20);
  await poll(
    () => peek(folder, (outbox) => outbox.queue.backlog('hooks').queued) === 0,
    'the deliveries to be recorded',
  );
  assert.equal((await bridge.end('SIGTERM')).code, 0);
  return folder;
}
