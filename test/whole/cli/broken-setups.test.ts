// A set-up with one mistake → the cause and what to do, in the program's own words.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePorts, localSimulator } from '../../far-sides/simulator-server.ts';
import { folderOf } from '../../support/folder.ts';
import { NetworkNamespace, noNetworkNamespace } from '../../support/network-namespace.ts';
import { poll } from '../../support/poll.ts';
import { run, start } from '../../support/program.ts';
import { bridgeFolder, hook, startRun, TOKEN, urlOf } from '../../support/running-bridge.ts';
import { smallDisk } from '../../support/small-disk.ts';

const AUDIT = { sinks: { audit: { type: 'stdout' } } };
const MAIN = join(import.meta.dirname, '../../../dist/main.js');

async function metadataService(t: TestContext, status: number): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('if the metadata service answers 404, health, status and /readyz begin with that', async (t) => {
  const health = await freePorts();
  const http = { listen: '127.0.0.1:0', health: `127.0.0.1:${health}` };
  const { config } = bridgeFolder(t, await metadataService(t, 404), { ...AUDIT, http });
  const program = start(t, ['run', '--config', config]);
  await program.logs('"listening"');
  await program.logs('answered 404');
  const url = urlOf(program);
  const cause = /^the metadata service at http:\/\/127\.0\.0\.1:\d+ answered 404: .*check metadata\.endpoint/;
  const { reasons } = (await (await fetch(`${url}/readyz`)).json()) as { reasons: readonly string[] };
  assert.match(reasons[0] ?? '', cause);
  assert.match(reasons[1] ?? '', /^the bridge does not know yet which VM this is/);
  const status = await run(t, ['status', '--bridge', url]);
  assert.match(JSON.parse(status.stdout).reasons[0], cause);
  assert.match((await run(t, ['health', '--bridge', url])).stderr, /^not ready: the metadata service .* answered 404/);
  const shown = await run(t, ['health', '--config', config]);
  assert.match(shown.stderr, /^not ready: the metadata service gives no document \(status_404\): see the log; /);
});

test('a store that everybody may write to is found by check as by run', async (t) => {
  const azure = await localSimulator(t);
  const files = bridgeFolder(t, azure.url, AUDIT);
  mkdirSync(files.store);
  chmodSync(files.store, 0o777);
  const why = /the store .* may be written to by everybody on this machine.*: set its mode to 0700/;
  for (const args of [['check'], ['check', '--connect'], ['run']]) {
    const { code, stdout, stderr } = await run(t, [...args, '--config', files.config]);
    assert.match(stdout + stderr, why);
    assert.notEqual(code, 0, args.join(' '));
  }
});

test('a store in a folder of another user is a fault with its path and what to do', (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root may start a process as another user');
  const closed = join(folderOf(t), 'closed');
  mkdirSync(closed, { mode: 0o700 });
  chmodSync(dirname(closed), 0o755);
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { ...AUDIT, store: { path: join(closed, 'store') } });
  chmodSync(dirname(config), 0o755);
  for (const [args, says] of [
    [['check'], /the configuration is valid/],
    [['check', '--connect'], /^store: .*closed.* by this user \(EACCES\): grant the right/],
    [
      ['run'],
      /this user may not open or write the store .*closed.* \(EACCES\): grant the right, run this as the bridge's/,
    ],
  ] as const) {
    const other = { uid: 65_534, gid: 65_534, encoding: 'utf8', timeout: 30_000 } as const;
    const { stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args, '--config', config], other);
    assert.match(stdout + stderr, says);
  }
});

test('a full disk is named by check, at the start and while the bridge runs', async (t) => {
  const disk = smallDisk(t, '8m');
  if ('reason' in disk) return t.skip(disk.reason);
  const azure = await localSimulator(t);
  const files = bridgeFolder(t, azure.url, { ...AUDIT, store: { path: join(disk.folder, 'store') } });
  const check = () => run(t, ['check', '--connect', '--config', files.config]);
  const isFull = /^store: the disk of .* is full \(\d+ bytes are free\): nothing can be stored.* Free some space$/m;

  disk.fill();
  assert.match((await check()).stdout, isFull);
  const refused = await run(t, ['run', '--config', files.config]);
  assert.match(refused.stderr, /the bridge cannot start: the disk .* is full.* Free some space, then start the bridge/);
  assert.doesNotMatch(refused.stderr, /by itself|maxSize/);

  disk.free();
  const program = await startRun(t, files);
  disk.fill();
  azure.schedule({ EventType: 'Reboot', Description: 'x'.repeat(20_000) });
  const health = () => run(t, ['health', '--bridge', urlOf(program)]);
  await poll(
    async () => /Free some space; a running bridge then continues by itself/.test((await health()).stderr),
    'it',
  );
  assert.match((await check()).stdout, isFull);
});

test('names that no name server resolves are named, by check, log and verbs', {
  skip: noNetworkNamespace(),
}, async (t) => {
  const namespace = NetworkNamespace.create(t);
  const brokers = ['kafka.example.com:9092'];
  const { config } = bridgeFolder(t, 'http://imds.example.com', {
    approvals: {
      approvers: { ops: { token: { env: 'OPS' }, subject: 'ops' } },
      jwt: { issuer: 'https://id.example.com', audience: 'x', jwks: 'https://id.example.com/keys' },
      sources: { queue: { type: 'kafka', brokers, topic: 'approvals', approver: 'ops' } },
    },
    sinks: {
      hooks: hook('https://hooks.example.com/'),
      stream: { type: 'kafka', brokers, topic: 'maintenance' },
      bus: { type: 'service-bus', connectionString: { env: 'BUS' }, topic: 'maintenance' },
      logs: { type: 'syslog', server: 'tcp://logs.example.com:514' },
    },
  });
  const BUS = 'Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=c2VjcmV0c2VjcmV0';
  const env = { OPS: TOKEN, BUS };
  const { stdout, stderr } = await namespace.startBridge(['check', '--connect', '--config', config], { env }).ended();
  const hosts = ['imds', 'id', 'hooks', 'kafka', 'ns', 'logs', 'kafka'].map((host) =>
    host === 'ns' ? 'ns.servicebus.windows.net' : `${host}.example.com`,
  );
  const named = [...stdout.matchAll(/the name (\S+) could not be resolved \(EAI_AGAIN: no name server answers\)/g)];
  assert.deepEqual(
    named.map(([, host]) => host),
    hosts,
    stdout,
  );
  assert.doesNotMatch(stdout + stderr, /getaddrinfo/);
  const health = await namespace.startBridge(['health', '--bridge', 'http://bridge.example.com:8700']).ended();
  assert.match(
    health.stderr,
    /the name bridge\.example\.com could not be resolved \(EAI_AGAIN: no name server answers\)/,
  );
});

test('a sink and a bridge at a port at which nothing listens are reported with that', async (t) => {
  const azure = await localSimulator(t);
  const port = await freePorts();
  const { config } = bridgeFolder(t, azure.url, { sinks: { hooks: hook(`http://127.0.0.1:${port}/`) } });
  const check = await run(t, ['check', '--connect', '--config', config]);
  assert.match(
    check.stdout,
    /hooks: http:\/\/127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\): nothing listens there/,
  );
  for (const host of ['127.0.0.1', 'localhost']) {
    const health = await run(t, ['health', '--bridge', `http://${host}:${port}`]);
    assert.match(
      health.stderr,
      /gave no answer of a bridge: nothing listens there \(ECONNREFUSED\): check that the bridge/,
    );
  }
});
