// `tail` of a bridge and of a store → CloudEvents over restarts, its end, and plain words.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EXAMPLE_EVENT, FakeMetadata, fakeDocument } from '../../far-sides/metadata-service.ts';
import { freePorts, localSimulator } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';
import { run, start } from '../../support/program.ts';
import {
  type BridgeFolder,
  bridgeFolder,
  peek,
  type Sections,
  startRun,
  TOKEN,
  urlOf,
} from '../../support/running-bridge.ts';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const skip =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? false : 'python3, which gives the terminal, is not there';

async function runningBridge(t: TestContext, sections: Sections = {}) {
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, sections);
  const bridge = await startRun(t, folder);
  return { simulator, folder, bridge, url: urlOf(bridge) };
}

/** What the journal keeps, as it is kept. */
function journalOf(folder: BridgeFolder): string[] {
  return peek(folder, ({ journalPages }) =>
    journalPages.after(0, 1000, 1e9).map(({ bytes }) => Buffer.from(bytes).toString()),
  );
}

test('with --bridge it prints what is kept since a time and what comes, continues after a restart of the bridge, and ends at SIGINT with 0', async (t) => {
  const { simulator, folder, bridge, url } = await runningBridge(t);
  simulator.schedule();
  await poll(() => journalOf(folder).length === 1, 'the first CloudEvent');
  const tail = start(t, ['tail', '--bridge', url, '--since', '1h']);
  await tail.lines(1);
  simulator.schedule();
  await tail.lines(2);
  await bridge.end('SIGKILL');
  await tail.logs('the stream of the bridge broke');
  bridgeFolder(t, simulator.url, { http: { listen: new URL(url).host } }, dirname(folder.config));
  const again = await startRun(t, folder);
  simulator.schedule();
  await tail.lines(3);
  await again.end('SIGTERM');
  const { code, signal, stdout } = await tail.end('SIGINT');
  assert.deepEqual([code, signal], [0, null]);
  assert.deepEqual(stdout.split('\n').slice(0, -1), journalOf(folder));
});

test('with --config it prints the same from the store, with or without a running bridge, and ends at SIGTERM with 0', async (t) => {
  const simulator = await localSimulator(t);
  // The verb has not got its secret, and needs none.
  const folder = bridgeFolder(t, simulator.url, { approvals: { approvers: { orders: { token: { env: 'ORDERS' } } } } });
  const bridge = await startRun(t, folder, { env: { ORDERS: TOKEN } });
  simulator.schedule();
  await poll(() => journalOf(folder).length === 1, 'the first CloudEvent');
  const all = start(t, ['tail', '--config', folder.config, '--since', '1h']);
  await all.lines(1);
  simulator.schedule();
  await all.lines(2);
  await bridge.end('SIGTERM');
  const { code, stdout } = await all.end('SIGTERM');
  assert.equal(code, 0);
  assert.deepEqual(stdout.split('\n').slice(0, -1), journalOf(folder));
  const alone = start(t, [
    'tail',
    '--config',
    folder.config,
    '--since',
    '2020-01-01T00:00:00Z',
    '--changes',
    'scheduled',
  ]);
  await alone.lines(2);
  assert.equal((await alone.end('SIGINT')).code, 0);
});

test('a reader of standard output that goes away ends it with 0', async (t) => {
  const { simulator, folder, url } = await runningBridge(t);
  for (const from of [
    ['--bridge', url],
    ['--config', folder.config],
  ]) {
    const tail = start(t, ['tail', ...from, '--since', '1h']);
    simulator.schedule();
    await tail.lines(1);
    tail.child.stdout?.destroy();
    const scheduling = setInterval(() => simulator.schedule(), 100);
    t.after(() => clearInterval(scheduling));
    const { code } = await tail.ended();
    clearInterval(scheduling);
    assert.equal(code, 0, from[0]);
  }
});

test('a refused reader gets exit code 1 and the reason; with a token it reads', async (t) => {
  const readers = { grafana: { token: { env: 'READER' } } };
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, { http: { listen: '0.0.0.0:0', allowInsecure: true, readers } });
  const bridge = await startRun(t, folder, { env: { READER: TOKEN } });
  simulator.schedule();
  const args = ['tail', '--bridge', urlOf(bridge).replace('0.0.0.0', '127.0.0.1'), '--token-env', 'T', '--since', '1h'];
  const refused = await run(t, args, { env: { T: 'nobody-has-this-token' } });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /the bridge refused the stream/);
  const tail = start(t, args, { env: { T: TOKEN } });
  await tail.lines(1);
  assert.ok(!tail.stderr.includes(TOKEN));
});

/** Clears the screen, forges a line, and colours by a character that JSON does not escape. */
const HOSTILE = 'a\u001b[2J\r\nforged\u009b31m\u202e';

test('on a terminal it is a sentence without a command to the terminal, in colours unless NO_COLOR is set', {
  skip,
}, async (t) => {
  const service = await FakeMetadata.start(t);
  const event = { ...EXAMPLE_EVENT, EventType: 'Redeploy', Resources: [HOSTILE], Description: HOSTILE };
  const compute = { name: HOSTILE, vmId: 'v', subscriptionId: 's', resourceGroupName: 'g' };
  service.respond = ({ path }) => ({
    body: path.includes('/instance') ? JSON.stringify({ compute }) : fakeDocument(1, event),
  });
  const folder = bridgeFolder(t, service.url, {});
  const bridge = await startRun(t, folder);
  await poll(() => journalOf(folder).length === 1, 'the CloudEvent');
  const words = async (env: Readonly<Record<string, string>>, from: readonly string[]): Promise<string> => {
    const args = [process.execPath, MAIN, 'tail', '--since', '1h', ...from];
    const tail = start(t, args, { node: 'python3', main: ON_TERMINAL, env: { TERM: 'xterm', ...env } });
    await poll(() => tail.stdout.includes('\n') || tail.hasEnded, 'a line on the terminal');
    return (await tail.end('SIGTERM')).stdout;
  };
  for (const from of [
    ['--bridge', urlOf(bridge)],
    ['--config', folder.config],
  ]) {
    const plain = await words({ NO_COLOR: '1' }, from);
    assert.match(plain, /^\S+ WARN \S.* will redeploy a \[2J {2}forged 31m .*\(\S+:scheduled\)\r\n$/);
    assert.doesNotMatch(plain.replaceAll('\r\n', ''), /[\p{Cc}\p{Bidi_Control}]/u);
    const esc = String.fromCharCode(27);
    const coloured = await words({}, from);
    assert.ok(coloured.startsWith(`${esc}[33m`) && coloured.endsWith(`${esc}[39m\r\n`), JSON.stringify(coloured));
    assert.equal(coloured.replaceAll(`${esc}[33m`, '').replaceAll(`${esc}[39m`, ''), plain);
  }
});

test('it names a folder in which no bridge ever ran', async (t) => {
  const { config, store } = bridgeFolder(t, 'http://127.0.0.1:1', {});
  const { code, stderr } = await run(t, ['tail', '--config', config]);
  assert.equal(code, 1);
  assert.ok(stderr.includes(`there is no store in ${store}`), stderr);
});

for (const since of [[], ['--since', '1h']]) {
  test(`\`${['tail', ...since].join(' ')}\` ends with 1 if the first connection fails; with --wait it prints what the bridge publishes later`, async (t) => {
    const host = `127.0.0.1:${await freePorts()}`;
    const address = ['tail', '--bridge', `http://${host}`, ...since];
    const { code, stdout, stderr } = await run(t, address);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(
      stderr,
      /^http:\/\/127\.0\.0\.1:\d+ gave no answer of a bridge: .*ECONNREFUSED.*; --wait waits for it\n$/,
    );
    const waiting = start(t, [...address, '--wait']);
    await waiting.logs('ECONNREFUSED');
    const simulator = await localSimulator(t);
    await startRun(t, bridgeFolder(t, simulator.url, { http: { listen: host } }));
    const scheduling = setInterval(() => simulator.schedule(), 500);
    await waiting.lines(1).finally(() => clearInterval(scheduling));
    assert.equal((await waiting.end('SIGINT')).code, 0);
  });
}

test('a stream that takes no more readers ends it with 1', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(503, { 'Content-Type': 'application/problem+json' });
    response.end(JSON.stringify({ type: 'unavailable', detail: '1000 readers are connected' }));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const since of [[], ['--since', '1h']]) {
    const { code, stderr } = await run(t, ['tail', '--bridge', address, ...since]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /1000 readers are connected/);
    assert.doesNotMatch(stderr, /retrying/);
  }
});
