// Hosts and sockets → syslog messages, but never to the metadata service by any name.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Resolve } from '../../../src/net/private-addresses.ts';
import { SyslogServer } from '../../far-sides/syslog/syslog-server.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { failed } from '../contract.ts';
import { createSyslog, idsOf } from './start-syslog.ts';

const never = new AbortController().signal;

function namedAt(address: string): Resolve {
  return (_, __, done) => done(null, [{ address, family: 4 }]);
}

for (const transport of ['tcp', 'tls', 'udp']) {
  test(`over ${transport}, neither a delivery nor a check contacts a name that resolves to the metadata service`, async (t) => {
    const { deliver, adapter } = createSyslog(t, {
      options: { server: `${transport}://logs.example.com:514` },
      resolve: namedAt('169.254.169.254'),
    });
    const failure = failed((await deliver())[0]);
    assert.deepEqual(
      [failure.code, failure.disposition, failure.scope],
      ['BRIDGE_SYSLOG_MISCONFIGURED', 'misconfigured', 'sink'],
    );
    assert.match(failure.message, /169\.254\.169\.254, an address of the metadata service/);
    await assert.rejects(adapter.check(never), { code: 'BRIDGE_SYSLOG_MISCONFIGURED' });
  });
}

test('a name without an address is unreachable, over UDP too', async (t) => {
  const resolve: Resolve = (_, __, done) => done(Object.assign(new Error('none'), { code: 'ENOTFOUND' }), []);
  for (const transport of ['tcp', 'udp']) {
    const { deliver } = createSyslog(t, { options: { server: `${transport}://logs.example.com:514` }, resolve });
    const failure = failed((await deliver())[0]);
    assert.deepEqual(
      [failure.code, failure.disposition, failure.scope],
      ['BRIDGE_SYSLOG_UNREACHABLE', 'retry', 'sink'],
    );
  }
});

test('a check over UDP names the address, and reports that it cannot see if messages arrive', async (t) => {
  const { adapter } = createSyslog(t, {
    options: { server: 'udp://logs.example.com:514' },
    resolve: namedAt('192.0.2.7'),
  });
  assert.equal(
    await adapter.check(never),
    'udp://logs.example.com:514 is 192.0.2.7; over UDP the check cannot see if messages arrive',
  );
});

test('over UDP, the sink follows a name to its new address', async (t) => {
  const server = await SyslogServer.start({ transport: 'udp' });
  t.after(() => server.stop());
  let address = '127.0.0.2';
  const { deliver } = createSyslog(t, {
    options: { server: server.url.replace('127.0.0.1', 'logs.example.com') },
    resolve: (_, __, done) => done(null, [{ address, family: 4 }]),
  });
  assert.deepEqual(await deliver({ seq: 1 }), ['accepted']);
  address = '127.0.0.1';
  assert.deepEqual(await deliver({ seq: 2 }), ['accepted']);
  await poll(() => server.messages.length === 1, 'the second');
  assert.match(idsOf(server)[0] ?? '', /2$/);
});

test('a datagram socket such as /dev/log is misconfigured, and the message says so', async (t) => {
  const path = join(folderOf(t), 'log');
  await listenForDatagrams(t, path);
  const { deliver, adapter } = createSyslog(t, { options: { server: `unix:${path}` } });
  const failure = failed((await deliver())[0]);
  assert.deepEqual(
    [failure.code, failure.disposition, failure.scope],
    ['BRIDGE_SYSLOG_MISCONFIGURED', 'misconfigured', 'sink'],
  );
  assert.match(failure.message, /is a datagram socket, such as \/dev\/log/);
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_SYSLOG_MISCONFIGURED' });
});

test('a path that does not exist or has no listener is retried', async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'file'), '');
  for (const [name, words] of [
    ['nothing', /does not exist/],
    ['file', /has no listener/],
  ] as const) {
    const { deliver } = createSyslog(t, { options: { server: `unix:${join(folder, name)}` } });
    const failure = failed((await deliver())[0]);
    assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_SYSLOG_UNREACHABLE', 'retry']);
    assert.match(failure.message, words);
  }
});

/** Python, because Node has no such sockets. */
async function listenForDatagrams(t: TestContext, path: string): Promise<void> {
  const script =
    'import socket,sys\ns=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)\ns.bind(sys.argv[1])\nprint("bound",flush=True)\ns.recv(1)';
  const listener = spawn('python3', ['-c', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(listener, 'exit');
  t.after(async () => {
    listener.kill('SIGKILL');
    await exited;
  });
  await once(listener.stdout, 'data');
}
