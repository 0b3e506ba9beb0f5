// `health` against running bridges → exit codes; the configuration that the environment names.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startSimulator } from '../../../src/simulator.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { freePorts } from '../../far-sides/simulator-server.ts';
import { folderOf } from '../../support/folder.ts';
import { run, start } from '../../support/program.ts';
import { bridgeFolder, startRun, urlOf } from '../../support/running-bridge.ts';

/** A configuration that says where the bridge at `url` listens, and names a secret that nobody has here. */
function configFor(t: TestContext, http: object): string {
  const path = join(folderOf(t), 'bridge.yaml');
  const approvals = { approvers: { orders: { token: { env: 'ORDERS_TOKEN' } } } };
  writeFileSync(path, JSON.stringify({ version: 1, http, approvals }));
  return path;
}

async function runningBridge(t: TestContext, http: object = {}) {
  const azure = await startSimulator();
  t.after(() => azure.close());
  const folder = bridgeFolder(t, azure.url, { http: { listen: `127.0.0.1:${await freePorts()}`, ...http } });
  const program = await startRun(t, folder);
  return { program, url: urlOf(program), port: new URL(urlOf(program)).port, config: folder.config };
}

test('a bridge that is ready: exit code 0, by --bridge, by --config and by the environment, without any of its secrets', async (t) => {
  const { url, port } = await runningBridge(t);
  const config = configFor(t, { listen: `127.0.0.1:${port}` });
  const env = { SCHEDULED_EVENTS_BRIDGE_CONFIG: config };
  const ready = { code: 0, signal: null, stdout: 'ready\n', stderr: '' };
  assert.deepEqual(await run(t, ['health', '--bridge', url]), ready);
  assert.deepEqual(await run(t, ['health', '--config', config]), ready);
  assert.deepEqual(await run(t, ['health'], { env }), ready);
  const elsewhere = { SCHEDULED_EVENTS_BRIDGE_CONFIG: '/nowhere/bridge.yaml' };
  assert.deepEqual(await run(t, ['health', '--bridge', url], { env: elsewhere }), ready);
});

test('it asks http.health if configured, and a listener on all addresses at loopback', async (t) => {
  const { port } = await runningBridge(t);
  for (const health of [`0.0.0.0:${port}`, `127.0.0.1:${port}`]) {
    const config = configFor(t, { listen: '127.0.0.1:1', health });
    assert.equal((await run(t, ['health', '--config', config])).code, 0, health);
  }
});

test('it asks its own machine over TLS, with any name in the certificate', async (t) => {
  const { certFile, keyFile } = await (await CertificateAuthority.create(t)).issue('DNS:bridge.example.com');
  const tls = { cert: certFile, key: keyFile };
  const { port } = await runningBridge(t, { tls });
  const config = configFor(t, { listen: `127.0.0.1:${port}`, tls });
  assert.equal((await run(t, ['health', '--config', config])).stdout, 'ready\n');
});

test("the answer of another bridge is not taken for that of the configuration's, by health and by status", async (t) => {
  const { port, config: own } = await runningBridge(t);
  assert.equal((await run(t, ['health', '--config', own])).code, 0);
  const other = join(folderOf(t), 'bridge.yaml');
  writeFileSync(
    other,
    JSON.stringify({ version: 1, http: { listen: `127.0.0.1:${port}` }, store: { path: 'never-started' } }),
  );
  const health = await run(t, ['health', '--config', other]);
  assert.equal(health.code, 1);
  assert.match(
    health.stderr,
    /does not run: no process uses its store .*never-started\. Another bridge answers at its address/,
  );
  const status = await run(t, ['status', '--config', other]);
  const { ready, isRunning, reasons } = JSON.parse(status.stdout);
  assert.deepEqual([status.code, ready, isRunning], [1, false, false]);
  assert.match(reasons[0], /Another bridge answers at its address/);
});

test('readers see which machine this is, how it runs and its clock; the probes of http.health do not', async (t) => {
  const health = await freePorts();
  const { url, program } = await runningBridge(t, { health: `127.0.0.1:${health}` });
  await program.logs('this machine is identified');
  const get = async (path: string, from = url) =>
    (await (await fetch(`${from}${path}`)).json()) as Record<string, unknown>;
  const machine = ({ vm, version, dryRun, clock }: Record<string, unknown>) => ({ vm, version, dryRun, clock });
  const seen = machine(await get('/v1/events')) as {
    vm: { name: string; source: string };
    clock: { offsetSeconds: number };
  };
  assert.equal(seen.vm.name, 'sim_0');
  assert.match(seen.vm.source, /^\/subscriptions\//);
  assert.ok(Math.abs(seen.clock.offsetSeconds) < 5, String(seen.clock.offsetSeconds));
  assert.deepEqual(Object.keys(machine(await get('/readyz'))).sort(), ['clock', 'dryRun', 'version', 'vm']);
  assert.deepEqual(Object.keys(await get('/readyz', `http://127.0.0.1:${health}`)).sort(), [
    'configuration',
    'ready',
    'reasons',
    'sinks',
  ]);
});

test('a bridge that is not ready: exit code 1, and why', async (t) => {
  const azure = await startSimulator();
  t.after(() => azure.close());
  azure.fault({ status: 500, for: '1h' });
  const program = start(t, ['run', '--config', bridgeFolder(t, azure.url, {}).config]);
  await program.logs('"listening"');
  const { code, stdout, stderr } = await run(t, ['health', '--bridge', urlOf(program)]);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^not ready: \S/);
});

test('no bridge there: exit code 1, and the address', async (t) => {
  const { code, stderr } = await run(t, ['health', '--config', configFor(t, { listen: '127.0.0.1:1' })]);
  assert.equal(code, 1);
  assert.match(stderr, /^http:\/\/127\.0\.0\.1:1 gave no answer of a bridge: /);
});

test('wrong usage: both ways to name a bridge, and a token in clear text', async (t) => {
  const both = await run(t, ['health', '--config', '/nowhere/bridge.yaml', '--bridge', 'http://127.0.0.1:1']);
  assert.deepEqual([both.code, /--config and --bridge exclude each other/.test(both.stderr)], [2, true]);
  const clear = await run(t, ['health', '--bridge', 'http://192.0.2.1:8700', '--token-env', 'T'], {
    env: { T: 'a-token-of-enough-length' },
  });
  assert.deepEqual([clear.code, /clear text/.test(clear.stderr)], [2, true]);
});

test('the environment names the configuration of `run` and `check`, and --config goes before it', async (t) => {
  const azure = await startSimulator();
  t.after(() => azure.close());
  const { config } = bridgeFolder(t, azure.url, {});
  const program = start(t, ['run'], { env: { SCHEDULED_EVENTS_BRIDGE_CONFIG: config }, cwd: folderOf(t) });
  await program.logs('"watching"');
  const env = { SCHEDULED_EVENTS_BRIDGE_CONFIG: '/nowhere/bridge.yaml' };
  assert.equal((await run(t, ['check'], { env })).code, 78);
  assert.equal((await run(t, ['check', '--config', config], { env })).code, 0);
  assert.equal((await run(t, ['check', '--schema'], { env })).code, 0);
});
