// A machine with something wrong → what `check --connect` says of it, and what to do.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { freePorts, localSimulator } from '../../far-sides/simulator-server.ts';
import { folderOf } from '../../support/folder.ts';
import { NetworkNamespace, noNetworkNamespace } from '../../support/network-namespace.ts';
import { run } from '../../support/program.ts';
import { bridgeFolder, startRun } from '../../support/running-bridge.ts';

const AUDIT = { sinks: { audit: { type: 'stdout' } } };
const skip = noNetworkNamespace();

test('while a bridge runs, its store and its port are named as its own, which is not a fault', async (t) => {
  const azure = await localSimulator(t);
  const port = await freePorts();
  const folder = bridgeFolder(t, azure.url, { ...AUDIT, http: { listen: `127.0.0.1:${port}` } });
  const bridge = await startRun(t, folder);
  const { code, stdout } = await run(t, ['check', '--connect', '--config', folder.config]);
  const [store, listen, ...reached] = stdout.trim().split('\n');
  assert.match(store ?? '', new RegExp(`^store: process ${bridge.child.pid} has it: nothing to do if`));
  assert.match(listen ?? '', new RegExp(`^http\\.listen: 127\\.0\\.0\\.1:${port} is in use, by that bridge`));
  assert.deepEqual([code, reached], [0, ['metadata: can be reached', 'sinks.audit: can be reached']]);
  assert.equal((await bridge.end('SIGTERM')).code, 0, 'the bridge goes on meanwhile');
});

test('a port that another program has is a fault', async (t) => {
  const azure = await localSimulator(t);
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const { config } = bridgeFolder(t, azure.url, { ...AUDIT, http: { listen: `127.0.0.1:${port}` } });
  const { code, stdout } = await run(t, ['check', '--connect', '--config', config]);
  assert.match(stdout, /^http\.listen: 127\.0\.0\.1:\d+: another program listens there, and no bridge uses the store/);
  assert.equal(code, 1);
});

test('without a route to the metadata service that is said, and what to look at', { skip }, async (t) => {
  const namespace = NetworkNamespace.create(t);
  const { config } = bridgeFolder(t, 'http://169.254.169.254', AUDIT, folderOf(t));
  const { code, stdout } = await namespace
    .startBridge(['check', '--connect', '--config', config], { env: { http_proxy: 'http://u:pw@proxy:1' } })
    .ended();
  const [metadata, network, audit, proxy] = stdout.trim().split('\n');
  assert.match(metadata ?? '', /^metadata: cannot reach .*ENETUNREACH/);
  assert.match(network ?? '', /^network: no route leads to 169\.254\.169\.254 \(ENETUNREACH\)/);
  assert.equal(audit, 'sinks.audit: can be reached');
  assert.match(proxy ?? '', /^proxy: http_proxy is set, but the bridge does not read it/);
  assert.doesNotMatch(stdout, /pw/);
  assert.equal(code, 1);
});

test('a wrong clock, and a proxy that answers instead of the service, are reported', { skip }, async (t) => {
  const namespace = NetworkNamespace.create(t, '169.254.169.254');
  const folder = folderOf(t);
  const { config } = bridgeFolder(t, 'http://169.254.169.254', AUDIT, folder);
  const program = `require('node:http').createServer((_, response) => {
    response.writeHead(502, { via: '1.1 cache (squid/6)', date: new Date(Date.now() + 3_600_000).toUTCString() }).end();
  }).listen(80, '169.254.169.254', () => console.log('listening'))`;
  writeFileSync(join(folder, 'proxy.cjs'), program);
  await namespace.startLine(`${process.execPath} proxy.cjs`, { folder }).lines(1);
  const { code, stdout } = await namespace.startBridge(['check', '--connect', '--config', config]).ended();
  const [metadata, clock] = stdout.trim().split('\n');
  assert.match(metadata ?? '', /^metadata: .* answered 502: .*came through a proxy \(it has a Via header\)/);
  assert.match(clock ?? '', /^clock: this machine's clock is (3599|3600|3601) s behind/);
  assert.equal(code, 1);
});

test('a folder that this user may not write is a fault', (t) => {
  const folder = join(folderOf(t), 'closed');
  mkdirSync(folder, { mode: 0o500 });
  chmodSync(dirname(folder), 0o755);
  assert.match(foundByAnother(folder), /cannot be written by this user \(EACCES\)/);
  assert.match(foundByAnother(join(folder, 'store')), /cannot be created in .*closed by this user/);
});

/** Root may write everywhere: as another user, in a process of its own. */
function foundByAnother(store: string): string {
  const module = new URL('../../../src/diagnosis/places.ts', import.meta.url);
  const script = `const { placeFindings } = await import('${module}'); console.log(await placeFindings({ store: '${store}', addresses: {} }));`;
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    ...user,
  });
  assert.equal(stderr, '');
  return stdout;
}
