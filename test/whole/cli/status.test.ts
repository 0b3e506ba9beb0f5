// `status` of bridges that run, do not run or are not ready → one screen or object, an exit code.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EXAMPLE_EVENT, FakeMetadata, fakeDocument } from '../../far-sides/metadata-service.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { run, start } from '../../support/program.ts';
import { bridgeFolder, hook, peek, type Sections, startRun, TOKEN, urlOf } from '../../support/running-bridge.ts';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const skip =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? false : 'python3, which gives the terminal, is not there';

/** A bridge with one event, and one dead letter of its sink. */
async function runningBridge(t: TestContext, http: Sections = {}, env: Readonly<Record<string, string>> = {}) {
  const simulator = await localSimulator(t);
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  receiver.default = { status: 422 };
  const approvals = { approvers: { orders: { token: { env: 'ORDERS' } } } };
  const sections = { sinks: { hooks: hook(receiver.url) }, approvals, http: { listen: '127.0.0.1:0', ...http } };
  const folder = bridgeFolder(t, simulator.url, sections);
  const bridge = await startRun(t, folder, { env: { ORDERS: TOKEN, ...env } });
  const eventId = simulator.schedule().EventId;
  await poll(() => peek(folder, (outbox) => outbox.queue.backlog('hooks').dead) === 1, 'the dead letter');
  const url = urlOf(bridge).replace('0.0.0.0', '127.0.0.1');
  return { folder, bridge, eventId, url, sections, endpoint: simulator.url };
}

test('a bridge that runs: sight, events, sinks with their last error, dead letters and a refused reload; exit code 0', async (t) => {
  const { folder, bridge, eventId, url } = await runningBridge(t);
  writeFileSync(folder.config, 'version: 2\n');
  bridge.child.kill('SIGHUP');
  await bridge.logs('the configuration has faults');
  const { code, stdout, stderr } = await run(t, ['status', '--bridge', url]);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  const view = JSON.parse(stdout);
  assert.deepEqual(
    [view.ready, view.reasons, view.isRunning, view.from, view.state],
    [true, [], true, 'bridge', 'watching'],
  );
  assert.ok(view.documentAgeSeconds <= 60);
  assert.deepEqual([view.events.length, view.events[0].eventId, view.deadLetters], [1, eventId, 1]);
  const [{ name, type, queued, deadLetters, lastError }] = view.sinks;
  assert.deepEqual({ name, type, queued, deadLetters }, { name: 'hooks', type: 'webhook', queued: 0, deadLetters: 1 });
  assert.equal(lastError.code, 'BRIDGE_SINK_REFUSED');
  assert.equal(view.configuration.refused.faults[0].path, 'version');
});

test('without rights it shows what /readyz shows to everybody, and with a token all of it', async (t) => {
  const readers = { grafana: { token: { env: 'READER' } } };
  const http = { listen: '0.0.0.0:0', allowInsecure: true, readers };
  const reader = 'a-reader-of-enough-length';
  const { url, folder, bridge } = await runningBridge(t, http, { READER: reader });
  for (const more of [[], ['--token-env', 'T']]) {
    const { code, stdout } = await run(t, ['status', '--bridge', url, ...more], {
      env: { T: 'nobody-has-this-token' },
    });
    const { from, events, sinks, sinkStates, deadLetters } = JSON.parse(stdout);
    assert.deepEqual(
      [code, from, events, sinks, sinkStates, deadLetters],
      [0, null, null, null, { hooks: 'delivering' }, null],
      stdout,
    );
  }
  const seen = await run(t, ['status', '--bridge', url, '--token-env', 'T'], { env: { T: reader } });
  assert.deepEqual([seen.code, JSON.parse(seen.stdout).events.length], [0, 1]);
  // Whoever may read the store is told by it.
  const { port } = new URL(urlOf(bridge));
  const config = JSON.stringify({
    version: 1,
    store: { path: folder.store },
    http: { ...http, listen: `0.0.0.0:${port}` },
  });
  writeFileSync(folder.config, config);
  const beside = await run(t, ['status', '--config', folder.config]);
  const { ready, from, events } = JSON.parse(beside.stdout);
  assert.deepEqual([beside.code, ready, from, events.length], [0, true, 'store', 1]);
});

test('without a running bridge, --config says so and shows the store, with exit code 1; --bridge only says so', async (t) => {
  const { folder, bridge, eventId, url, endpoint, sections } = await runningBridge(t);
  bridgeFolder(t, endpoint, { ...sections, http: { listen: new URL(url).host } }, dirname(folder.config));
  await bridge.end('SIGTERM');
  const { code, stdout } = await run(t, ['status', '--config', folder.config]);
  const view = JSON.parse(stdout);
  assert.deepEqual([code, view.ready, view.isRunning, view.from], [1, false, false, 'store']);
  assert.match(view.reasons[0], /^no bridge answers at http:\/\/127\.0\.0\.1:\d+: /);
  assert.deepEqual([view.events[0].eventId, view.sinks[0].state, view.deadLetters], [eventId, 'stopped', 1]);
  const alone = await run(t, ['status', '--bridge', url]);
  assert.deepEqual([alone.code, JSON.parse(alone.stdout).events], [1, null]);
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { http: { listen: '127.0.0.1:1' } });
  const never = await run(t, ['status', '--config', config]);
  assert.equal(never.code, 1);
  assert.match(JSON.parse(never.stdout).reasons[1], /there is no store in/);
});

test('a bridge that is not ready, and a listener that is not a bridge: exit code 1, and the reason', async (t) => {
  const service = await FakeMetadata.start(t);
  service.respond = () => ({ status: 500, body: '' });
  const bridge = start(t, ['run', '--config', bridgeFolder(t, service.url, {}).config]);
  await bridge.logs('"listening"');
  const { code, stdout } = await run(t, ['status', '--bridge', urlOf(bridge)]);
  assert.equal(code, 1);
  assert.notEqual(JSON.parse(stdout).reasons.length, 0);
  const other = await run(t, ['status', '--bridge', service.url]);
  assert.equal(other.code, 1);
  assert.match(JSON.parse(other.stdout).reasons[0], /no bridge answers at .*: it answered 500/);
});

/** Clears the screen, forges a line, and colours by a character that JSON does not escape. */
const HOSTILE = 'a\u001b[2J\r\nforged\u009b31m\u202e';

test('on a terminal it is one screen, in which what others chose is escaped and stays on its line', {
  skip,
}, async (t) => {
  const service = await FakeMetadata.start(t);
  const event = {
    ...EXAMPLE_EVENT,
    EventType: 'Redeploy',
    Resources: [HOSTILE],
    NotBefore: 'Fri, 01 Jan 2100 00:00:00 GMT',
  };
  const compute = { name: 'web_0', vmId: 'v', subscriptionId: 's', resourceGroupName: 'g' };
  service.respond = ({ path }) => ({
    body: path.includes('/instance') ? JSON.stringify({ compute }) : fakeDocument(1, event),
  });
  const folder = bridgeFolder(t, service.url, { sinks: { audit: { type: 'stdout' } } });
  const bridge = start(t, ['run', '--config', folder.config]);
  await bridge.logs('change stored');
  const args = [process.execPath, MAIN, 'status', '--bridge', urlOf(bridge)];
  const { code, stdout } = await start(t, args, { node: 'python3', main: ON_TERMINAL, env: { NO_COLOR: '1' } }).ended();
  const plain = stdout.replaceAll('\r\n', '\n');
  assert.equal(code, 0, plain);
  assert.doesNotMatch(plain.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u);
  assert.match(plain, /^ready\nmachine {8}web_0, .*\nsight {10}watching, last document \d+s ago/);
  assert.match(plain, /\n {2}Redeploy {2}Scheduled {2}in \d+d \d+h {2}a\\u001b\[2J\\r\\nforged\\u009b31m\\u202e /);
  assert.match(plain, /\nsinks {10}1\n {2}audit {2}stdout /);
});

test('on a terminal of 80 columns and 24 rows it fits, and counts the events that do not', { skip }, async (t) => {
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, {});
  const url = urlOf(await startRun(t, folder));
  for (let count = 0; count < 30; count++) simulator.schedule();
  const status = async (args: readonly string[]): Promise<readonly string[]> => {
    const command = [process.execPath, MAIN, 'status', '--bridge', url, ...args];
    const env = { NO_COLOR: '1', TERMINAL_SIZE: '80x24' };
    return (await run(t, command, { node: 'python3', main: ON_TERMINAL, env })).stdout.trimEnd().split('\r\n');
  };
  await poll(async () => (await status([])).includes('events         30'), 'all events');
  const lines = await status([]);
  assert.equal(lines[0], 'ready');
  assert.ok(lines.length < 24 && lines.every((line) => line.length <= 80), lines.join('\n'));
  assert.ok(
    lines.some((line) => /^ {2}… \d+ more events; --all shows them$/.test(line)),
    lines.join('\n'),
  );
  assert.ok(lines.includes('sinks          1') && lines.includes('dead letters   0'));
  const all = await status(['--all']);
  assert.ok(all.length > 60 && all.every((line) => line.length <= 80));
});
