// `drill` against running bridges → its report, its exit code, and what an interrupt does.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startSimulator } from '../../../src/simulator.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { run, start } from '../../support/program.ts';
import { bridgeFolder, hook, peek, startRun, TOKEN, urlOf } from '../../support/running-bridge.ts';

const ENV = { ORDERS_TOKEN: TOKEN };

const APPROVERS = { orders: { token: { env: 'ORDERS_TOKEN' }, admin: true } };

const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const withoutTerminal =
  spawnSync('python3', ['-c', 'import pty']).status !== 0 && 'python3, which gives the terminal, is not there';

async function runningBridge(t: TestContext, approvals: object = {}, http: object = {}, sinks: object | null = null) {
  const azure = await startSimulator();
  t.after(() => azure.close());
  const sections = {
    approvals: { approvers: APPROVERS, ...approvals },
    http: { listen: '127.0.0.1:0', ...http },
    ...(sinks && { sinks }),
  };
  const folder = bridgeFolder(t, azure.url, sections);
  const program = await startRun(t, folder, { env: ENV });
  await program.logs('"watching"');
  return { url: urlOf(program), azure, folder, program };
}

test('a consumer does not approve: the report names it, and the exit code is 1', async (t) => {
  const { url } = await runningBridge(t);
  const args = [
    'drill',
    '--bridge',
    url,
    '--token-env',
    'ORDERS_TOKEN',
    '--resources',
    'vm-1',
    '--notice',
    '1s',
    '--duration',
    '1s',
  ];
  const forgotten = await run(t, [...args, '--expect', 'approvals,deliveries'], { env: ENV });
  assert.equal(forgotten.code, 1, forgotten.stderr);
  assert.partialDeepStrictEqual(JSON.parse(forgotten.stdout), { state: 'ended', approvers: [], missing: ['orders'] });
  assert.equal(forgotten.stderr.trim(), 'not approved before NotBefore: no approval by orders');
  const fine = await run(t, [...args, '--expect', 'deliveries'], { env: ENV });
  assert.deepEqual([fine.code, fine.stderr], [0, '']);
});

test('next to the service, by its configuration; a rule approves it: exit code 0, and nothing was posted', async (t) => {
  const { url, azure } = await runningBridge(t, { policy: [{ when: {}, then: 'approve' }] });
  const { config } = bridgeFolder(t, azure.url, {
    http: { listen: new URL(url).host },
    approvals: { approvers: APPROVERS },
  });
  const args = ['drill', '--config', config, '--resources', 'vm-1', '--duration', '0s'];
  const { code, stdout, stderr } = await run(t, [...args, '--expect', 'approvals'], { env: ENV });
  assert.equal(code, 0, stderr);
  assert.ok(stdout.includes('"approval.submitted"'));
  assert.ok(azure.requests().every(({ method }) => method !== 'POST'));
});

test('over TLS the bridge is recognized by its certificate, under any name; another program on the port gets no token', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const [own, other] = [
    await authority.issue('DNS:bridge.example.com'),
    await authority.issue('IP:127.0.0.1,DNS:bridge.example.com'),
  ];
  const tls = { cert: own.certFile, key: own.keyFile };
  const { url, azure, folder } = await runningBridge(t, {}, { tls });
  const args = (verb: string, port: number | string) => {
    const http = { listen: `127.0.0.1:${port}`, tls };
    const store = { path: folder.store };
    return [verb, '--config', bridgeFolder(t, azure.url, { http, store, approvals: { approvers: APPROVERS } }).config];
  };
  const drill = ['--resources', 'vm-1', '--notice', '0s', '--duration', '0s'];
  const fine = await run(t, [...args('drill', new URL(url).port), ...drill], { env: ENV });
  assert.deepEqual([fine.code, fine.stderr], [0, '']);
  assert.equal(JSON.parse((await run(t, args('status', new URL(url).port))).stdout).ready, true);

  const imposter = await WebhookReceiver.start({ tls: { cert: other.cert, key: other.key } });
  t.after(() => imposter.stop());
  imposter.default = { status: 200, body: '{"ready":true,"reasons":[],"sinks":{}}' };
  const told = await run(t, [...args('drill', imposter.port), ...drill], { env: ENV });
  assert.equal(told.code, 1);
  assert.match(told.stderr, /a certificate other than the pinned one.*BRIDGE_DRILL_FAILED/);
  assert.match((await run(t, args('health', imposter.port))).stderr, /a certificate other than the pinned one/);
  const { ready, isRunning } = JSON.parse((await run(t, args('status', imposter.port))).stdout);
  assert.deepEqual([ready, isRunning], [false, false]);
  assert.deepEqual(imposter.requests, []);
});

test('a restarted bridge continues its drill, and the verb waits for it', async (t) => {
  const { url, folder, program, azure } = await runningBridge(t);
  const args = ['--resources', 'vm-1', '--notice', '2s', '--duration', '1s', '--expect', 'deliveries'];
  const drill = start(t, ['drill', '--bridge', url, '--token-env', 'ORDERS_TOKEN', ...args], { env: ENV });
  // By then the verb has long had the answer that it began.
  await poll(
    () => peek(folder, (outbox) => outbox.drills.open().some(({ startedMs }) => startedMs !== null)),
    'the start of the drill',
  );
  await program.end('SIGKILL');
  await drill.logs('; retrying');
  const sections = { http: { listen: new URL(url).host }, approvals: { approvers: APPROVERS } };
  await startRun(t, bridgeFolder(t, azure.url, sections, dirname(folder.config)), { env: ENV });
  const { code, stdout } = await drill.ended();
  assert.deepEqual([code, JSON.parse(stdout).state], [0, 'ended']);
});

test('a server with unexpected answers is not a bridge', async (t) => {
  const imposter = await WebhookReceiver.start();
  t.after(() => imposter.stop());
  const url = `http://127.0.0.1:${imposter.port}`;
  for (const body of ['<html>', '[]', '{}', '{"id":"../../readyz"}']) {
    imposter.default = { status: 201, body };
    const { code, stderr } = await run(t, ['drill', '--bridge', url, '--token-env', 'ORDERS_TOKEN'], { env: ENV });
    assert.equal(code, 1, body);
    assert.match(stderr, /BRIDGE_DRILL_FAILED/);
  }
});

test('a sink that has refused for good is not waited for, and the report has its state', async (t) => {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  receiver.default = { status: 422 };
  const { url } = await runningBridge(t, {}, {}, { pager: hook(receiver.url) });
  const args = ['--resources', 'vm-1', '--notice', '0s', '--duration', '0s', '--expect', 'deliveries'];
  const startedMs = performance.now();
  const drill = await run(t, ['drill', '--bridge', url, '--token-env', 'ORDERS_TOKEN', ...args], { env: ENV });
  assert.ok(performance.now() - startedMs < 29_000, 'it waited the 30 s for a sink that gave up');
  assert.equal(drill.code, 1);
  assert.match(drill.stderr, /^the bridge gave up scheduled for the sink pager, after 1 attempt \(422\)$/m);
  assert.partialDeepStrictEqual(JSON.parse(drill.stdout).changes[0].sinks, [
    { name: 'pager', state: 'dead', acceptedAt: null, attempts: 1, status: 422 },
  ]);
});

test('sinks that act are named first; on a terminal it asks, and prints the report in plain words', {
  skip: withoutTerminal,
}, async (t) => {
  const { url, program } = await runningBridge(t, {}, {}, { drain: { type: 'command', run: ['/bin/true'] } });
  const args = ['drill', '--bridge', url, '--token-env', 'ORDERS_TOKEN', '--resources', 'vm-1'];
  const brief = ['--notice', '0s', '--duration', '0s'];
  const onTerminal = (more: readonly string[], input: string | null = '') =>
    start(t, [process.execPath, MAIN, ...args, ...brief, ...more], {
      node: 'python3',
      main: ON_TERMINAL,
      env: ENV,
      input,
    });
  const drills = () => program.stderr.split('a drill begins').length - 1;
  const refused = onTerminal([], null);
  await poll(() => refused.stdout.includes('Start the drill? [y/N]') || refused.hasEnded, 'the question');
  assert.match(refused.stdout, /this drill is real for the sink drain \(command\): it runs its program/);
  refused.child.stdin?.write('n\n');
  assert.deepEqual([(await refused.ended()).code, drills()], [1, 0]);
  const agreed = onTerminal([], null);
  await poll(() => agreed.stdout.includes('[y/N]') || agreed.hasEnded, 'the question');
  agreed.child.stdin?.write('y\n');
  const { code, stdout } = await agreed.ended();
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^drill drill-\S+: ended\r?$/m);
  assert.match(stdout, /^ {2}drain: accepted after \d+ ms\r?$/m);
  const unasked = await onTerminal(['--yes', '--json']).ended();
  assert.equal(unasked.code, 0, unasked.stdout);
  assert.match(unasked.stdout, /"state": "ended"/);
  assert.equal(drills(), 2);
});

test('an interrupt cancels the drill and prints that', async (t) => {
  const { url } = await runningBridge(t);
  const program = start(t, ['drill', '--bridge', url, '--token-env', 'ORDERS_TOKEN', '--resources', 'vm-1'], {
    env: ENV,
  });
  const listed = async () =>
    ((await (await fetch(`${url}/v1/events`)).json()) as { events: readonly { eventId: string }[] }).events;
  let [event] = await listed();
  for (; event === undefined; [event] = await listed());
  const { code, stderr } = await program.end('SIGINT');
  const id = event.eventId.replace('drill-', '');
  assert.deepEqual([code, stderr.trim()], [1, `the drill ${id} is cancelled`]);
  assert.deepEqual(await listed(), []);
});

test('faults are reported before anything begins: usage, clear text, a token that is not an admin’s, no bridge', async (t) => {
  const { url } = await runningBridge(t);
  const code = async (...args: string[]) =>
    (await run(t, ['drill', ...args], { env: { ...ENV, OTHER: 'somebody-elses-token' } })).code;
  assert.equal(await code(), 2);
  assert.equal(await code('--bridge', url, '--token-env', 'ORDERS_TOKEN', '--expect', 'wonders'), 2);
  assert.equal(await code('--bridge', 'http://bridge.example.com:8700', '--token-env', 'ORDERS_TOKEN'), 2);
  assert.equal(await code('--bridge', url, '--token-env', 'OTHER'), 1);
  assert.equal(await code('--bridge', url, '--token-env', 'ORDERS_TOKEN', '--notice', '2d'), 1);
  assert.equal(await code('--bridge', 'http://127.0.0.1:1', '--token-env', 'ORDERS_TOKEN'), 1);
  assert.deepEqual(((await (await fetch(`${url}/v1/events`)).json()) as { events: object[] }).events, []);
});

test('approve sends no drill to an endpoint, in any letter case', async (t) => {
  const azure = await startSimulator();
  t.after(() => azure.close());
  const drill = 'Drill-00000000-0000-4000-8000-000000000001';
  const { code, stdout, stderr } = await run(t, [
    'approve',
    'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    drill,
    '--endpoint',
    azure.url,
  ]);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /is a drill/);
  assert.deepEqual(azure.requests(), []);
});
