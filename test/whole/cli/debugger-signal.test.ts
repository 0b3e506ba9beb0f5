// SIGUSR1 → the command goes on, and opens no debugger without a password.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { bridgeFolder, polled, startRun } from '../../support/running-bridge.ts';

const skip = existsSync('/proc/self/net/tcp') ? false : 'there is no /proc, which tells where a process listens';

/** The inodes of its listening sockets. */
function listeningSockets(pid: number): string[] {
  const rows = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1),
  );
  const listening = rows.map((row) => row.trim().split(/\s+/)).filter(([, , , state]) => state === '0A');
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)));
  return listening.map(([, , , , , , , , , inode]) => `socket:[${inode}]`).filter((socket) => open.has(socket));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

test('SIGUSR1 opens no debugger, and the bridge continues', { skip }, async (t) => {
  const simulator = await localSimulator(t);
  const bridge = await startRun(t, bridgeFolder(t, simulator.url, {}));
  const pid = bridge.child.pid as number;
  const before = listeningSockets(pid);
  assert.equal(before.length, 1);
  bridge.child.kill('SIGUSR1');
  for (let n = 0; n < 5; n++) await polled(simulator);
  assert.deepEqual(listeningSockets(pid), before);
  const { code, stderr } = await bridge.end('SIGTERM');
  assert.equal(code, 0);
  assert.doesNotMatch(stderr, /debugger|inspector/i);
});
