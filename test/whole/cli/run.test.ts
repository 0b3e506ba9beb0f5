// `run` as a process → CloudEvents on stdout, logs on stderr, and what keeps it from starting.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { run, start } from '../../support/program.ts';
import { bridgeFolder, startRun, urlOf } from '../../support/running-bridge.ts';

test('run prints CloudEvents as NDJSON on standard output and logs, as JSON lines, on standard error alone', async (t) => {
  const simulator = await localSimulator(t);
  const bridge = await startRun(t, bridgeFolder(t, simulator.url, { sinks: { audit: { type: 'stdout' } } }));
  const eventId = simulator.schedule({ EventStatus: 'Started' }).EventId;
  await bridge.lines(1);
  simulator.end(eventId);
  await bridge.lines(2);
  const { code, stdout, stderr } = await bridge.end('SIGTERM');
  assert.equal(code, 0);
  const key = eventId.toLowerCase();
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    events.map(({ specversion, id }) => [specversion, id]),
    [
      ['1.0', `${key}:started`],
      ['1.0', `${key}:ended`],
    ],
  );
  for (const line of stderr.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line).level, 'string');
});

test('run ends at SIGINT with 0 too', async (t) => {
  const simulator = await localSimulator(t);
  const bridge = await startRun(t, bridgeFolder(t, simulator.url, {}));
  assert.equal((await bridge.end('SIGINT')).code, 0);
});

test('run on a port in use says which and what to do, with exit code 1, and leaves the store free', async (t) => {
  const simulator = await localSimulator(t);
  const first = await startRun(t, bridgeFolder(t, simulator.url, {}));
  const { host } = new URL(urlOf(first));
  const folder = bridgeFolder(t, simulator.url, { http: { listen: host } });
  const { code, stdout, stderr } = await run(t, ['run', '--config', folder.config]);
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
  assert.match(stderr, new RegExp(`Cannot listen on ${host} \\(http\\.listen\\): another program listens there`));
  await first.end('SIGTERM');
  await startRun(t, folder);
});

test('run on a store that another run holds exits with 75 before it binds a port, and names the other one', async (t) => {
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, {});
  const first = await startRun(t, folder);
  const { host } = new URL(urlOf(first));
  // The port is in use as well, which would be told first if it were tried first.
  const second = bridgeFolder(t, simulator.url, { store: { path: folder.store }, http: { listen: host } });
  const { code, stdout, stderr } = await run(t, ['run', '--config', second.config]);
  assert.deepEqual({ code, stdout }, { code: 75, stdout: '' }, stderr);
  assert.ok(
    stderr.includes(`is in use by process ${first.child.pid}`) && stderr.includes('(BRIDGE_STORE_LOCKED)'),
    stderr,
  );
  assert.equal(
    (await run(t, ['dead-letters', 'list', '--config', second.config])).code,
    0,
    'verbs beside it need no lock',
  );
});

test('run on a store that a later release wrote exits with 74, and changes nothing', async (t) => {
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, {});
  await (await startRun(t, folder)).end('SIGTERM');
  setSchemaVersion(folder.store, 1_000_000);
  const { code, stdout, stderr } = await run(t, ['run', '--config', folder.config]);
  assert.deepEqual({ code, stdout }, { code: 74, stdout: '' }, stderr);
  assert.match(stderr, /\(BRIDGE_STORE_NEWER\)\n$/);
});

test('run on a store into which everybody may write exits with 74', async (t) => {
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, {});
  mkdirSync(folder.store);
  chmodSync(folder.store, 0o777);
  const { code, stderr } = await run(t, ['run', '--config', folder.config]);
  assert.deepEqual(code, 74, stderr);
  assert.match(stderr, /\(BRIDGE_STORE_UNSAFE\)\n$/);
});

function setSchemaVersion(store: string, version: number): void {
  using database = new DatabaseSync(join(store, 'outbox.db'));
  database.exec(`PRAGMA user_version = ${version}`);
}

test('run --log-level silent says nothing on standard error', async (t) => {
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, { sinks: { audit: { type: 'stdout' } } });
  await (await startRun(t, folder)).end('SIGTERM');
  simulator.schedule();
  const quiet = start(t, ['run', '--config', folder.config, '--log-level', 'silent']);
  await quiet.lines(1);
  assert.deepEqual((await quiet.end('SIGTERM')).stderr, '');
});
