// The built command under NOTIFY_SOCKET → what the real systemd-notify tells (behaviour 12).
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { startSimulator } from '../../../src/simulator.ts';
import { NotifySocket } from '../../support/notify-socket.ts';
import { poll } from '../../support/poll.ts';
import { run, start } from '../../support/program.ts';
import { bridgeFolder, startRun } from '../../support/running-bridge.ts';
import { skipWithout } from '../../support/systemd.ts';

const skip = skipWithout('systemd-notify');

test('it notifies systemd that it is ready, what it does, that it is alive, and that it ends', { skip }, async (t) => {
  await using azure = await startSimulator();
  const socket = await NotifySocket.open(t);
  const env = { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '900000' };
  const program = await startRun(t, bridgeFolder(t, azure.url, { sinks: { audit: { type: 'stdout' } } }), { env });
  await socket.hears('READY=1');
  await socket.hears('STATUS=watching: 0 events listed');
  azure.schedule({ EventType: 'Reboot' });
  await socket.hears('STATUS=watching: 1 event listed');
  const alive = () => socket.told.filter((line) => line === 'WATCHDOG=1').length;
  const before = alive();
  await poll(() => alive() > before + 1, 'WATCHDOG=1 again and again');
  assert.equal((await program.end('SIGTERM')).code, 0);
  await socket.hears('STOPPING=1');
  assert.equal(socket.told.filter((line) => line === 'READY=1').length, 1);
  assert.equal(socket.told[0], 'READY=1');
});

test('it is ready, and lives, while the metadata service does not answer', { skip }, async (t) => {
  await using azure = await startSimulator();
  azure.fault({ delay: '1h', for: '1h' });
  const socket = await NotifySocket.open(t);
  const env = { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '600000' };
  start(t, ['run', '--config', bridgeFolder(t, azure.url, {}).config], { env });
  await socket.hears('READY=1');
  await poll(() => socket.told.filter((line) => line === 'WATCHDOG=1').length > 3, 'WATCHDOG=1 again and again');
});

test('a bridge that does not start tells systemd why, in one line', { skip }, async (t) => {
  await using azure = await startSimulator();
  const socket = await NotifySocket.open(t);
  const folder = bridgeFolder(t, azure.url, {});
  mkdirSync(folder.store);
  chmodSync(folder.store, 0o777);
  const { code } = await run(t, ['run', '--config', folder.config], { env: { NOTIFY_SOCKET: socket.path } });
  assert.equal(code, 74);
  await poll(() => socket.told.length > 0, 'a notification');
  assert.match(socket.told[0] ?? '', /^STATUS=not started: the store .* may be written to by everybody/);
});

test('after a rejected reload systemd shows it, until one succeeds', { skip }, async (t) => {
  await using azure = await startSimulator();
  const socket = await NotifySocket.open(t);
  const folder = bridgeFolder(t, azure.url, {});
  const program = await startRun(t, folder, { env: { NOTIFY_SOCKET: socket.path } });
  await socket.hears('STATUS=watching: 0 events listed');
  const good = readFileSync(folder.config, 'utf8');
  writeFileSync(folder.config, `${good}\n: [`);
  program.child.kill('SIGHUP');
  await socket.hears('STATUS=watching: 0 events listed; the changed configuration is rejected, see the log');
  const heard = socket.told.length;
  writeFileSync(folder.config, good);
  program.child.kill('SIGHUP');
  await poll(() => socket.told.slice(heard).includes('STATUS=watching: 0 events listed'), 'the status of before');
  await program.end('SIGTERM');
});
