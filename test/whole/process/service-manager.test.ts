// The built command under NOTIFY_SOCKET → what the real systemd-notify tells (behaviour 12).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSimulator } from '../../../src/simulator.ts';
import { NotifySocket } from '../../support/notify-socket.ts';
import { poll } from '../../support/poll.ts';
import { start } from '../../support/program.ts';
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
