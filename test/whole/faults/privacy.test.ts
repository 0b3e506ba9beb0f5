// Secrets and payloads everywhere, a proxy, trouble → nothing goes where it does not belong.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeDocument } from '../../far-sides/metadata-service.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { trapProxy } from '../../far-sides/trap-proxy.ts';
import { type Answer, WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { folderOf } from '../../support/folder.ts';
import { run, start } from '../../support/program.ts';
import { bridgeFolder, hook, polled, startRun, urlOf } from '../../support/running-bridge.ts';

test('neither the metadata service nor a webhook is reached through a proxy of the environment', async (t) => {
  const proxy = await trapProxy(t);
  const simulator = await localSimulator(t);
  await using receiver = await WebhookReceiver.start();
  const folder = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(receiver.url) } });
  await startRun(t, folder, { env: proxy.env });
  const eventId = simulator.schedule().EventId;
  await receiver.waitFor(1);
  const { env } = proxy;
  assert.equal((await run(t, ['check', '--connect', '--config', folder.config], { env })).code, 0);
  assert.equal((await run(t, ['events', '--endpoint', simulator.url], { env })).code, 0);
  assert.equal((await run(t, ['approve', eventId, '--endpoint', simulator.url], { env })).code, 0);
  await receiver.waitFor(2);
  assert.equal(proxy.visits(), 0);
});

const SECRETS = {
  ORDERS_TOKEN: 'orders-token-0123456789',
  HOOK_KEY: 'hook-key-0123456789',
  URL_PATH: 'url-path-0123456789',
  URL_QUERY: 'url-query-0123456789',
  LITERAL_PATH: 'literal-path-0123456789',
  WRONG_TOKEN: 'wrong-token-0123456789',
  FILE_TOKEN: 'file-token-0123456789',
  DESCRIPTION: 'description-0123456789',
  BROKEN_BODY: 'broken-body-0123456789',
};

const TROUBLE: readonly Answer[] = [
  { status: 500 },
  'reset',
  (_, socket) => socket.end('no HTTP at all\r\n\r\n'),
  { status: 429, headers: { 'retry-after': '0' } },
  { status: 400 },
  { status: 404 },
  { status: 302, headers: { location: `http://127.0.0.1:1/${SECRETS.URL_PATH}` } },
  { status: 410 },
];

test('secrets, tokens, paths and queries of webhook addresses and payloads show nowhere, with every log line on and trouble everywhere', async (t) => {
  const simulator = await localSimulator(t);
  const receivers = await Promise.all(TROUBLE.map(() => WebhookReceiver.start()));
  t.after(() => Promise.all(receivers.map((receiver) => receiver.stop())));
  const own = folderOf(t);
  writeFileSync(join(own, 'token'), `${SECRETS.FILE_TOKEN}\n`);
  const addresses = receivers.map(
    ({ port }) => `http://127.0.0.1:${port}/${SECRETS.URL_PATH}?key=${SECRETS.URL_QUERY}`,
  );
  const headers = { authorization: { env: 'HOOK_KEY' } };
  const sinks: Record<string, unknown> = {
    gone: hook(`http://127.0.0.1:1/${SECRETS.LITERAL_PATH}`, { headers }),
    refused: { type: 'webhook', url: `http://localhost:1/${SECRETS.LITERAL_PATH}`, allowInsecure: true },
    slow: hook('', { url: { env: 'HOOK_URL_0' }, timeout: '100ms' }),
  };
  for (const [n, receiver] of receivers.entries()) {
    receiver.default = TROUBLE[n] ?? 'hang';
    sinks[`hook_${n}`] = hook('', { url: { env: `HOOK_URL_${n}` }, headers });
  }
  const approvers = { orders: { token: { env: 'ORDERS_TOKEN' } }, billing: { token: { file: 'token' } } };
  const folder = bridgeFolder(t, simulator.url, { sinks, approvals: { approvers } }, own);
  const env = { ...SECRETS, ...Object.fromEntries(addresses.map((address, n) => [`HOOK_URL_${n}`, address])) };
  const bridge = await startRun(t, folder, { env, logLevel: 'trace' });

  const eventId = simulator.schedule({ Description: SECRETS.DESCRIPTION }).EventId;
  await Promise.all(receivers.map((receiver) => receiver.waitFor(1)));
  const approve = async (token: string, body: string) =>
    (
      await fetch(`${urlOf(bridge)}/v1/approvals`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body,
      })
    ).status;
  const requests = JSON.stringify({ StartRequests: [{ EventId: eventId }] });
  assert.equal(await approve(SECRETS.WRONG_TOKEN, requests), 401);
  assert.equal(await approve(SECRETS.ORDERS_TOKEN, `{ "${SECRETS.BROKEN_BODY}`), 400);
  simulator.fault({ method: 'POST', status: 503, body: SECRETS.BROKEN_BODY });
  assert.equal(await approve(SECRETS.FILE_TOKEN, requests), 202);
  for (const fault of [
    { status: 200, body: `{ "${SECRETS.BROKEN_BODY}` },
    { status: 503, body: `<html>${SECRETS.BROKEN_BODY}` },
    { truncate: 20 },
  ]) {
    simulator.fault({ method: 'GET', ...fault });
    await polled(simulator);
    await polled(simulator);
  }
  await bridge.logs('the metadata service is reachable again');
  const served = await Promise.all(
    ['/readyz', '/metrics', '/healthz'].map(async (path) => (await fetch(`${urlOf(bridge)}${path}`)).text()),
  );
  const { code, stderr } = await bridge.end('SIGTERM');
  assert.equal(code, 0);
  const letters = await run(t, ['dead-letters', 'list', '--config', folder.config], { env });
  assert.match(letters.stdout, /"refused"/);
  for (const said of [
    'answered 500',
    'answered 404',
    'answered 410',
    'BRIDGE_SINK_UNREACHABLE',
    'BRIDGE_SINK_FORBIDDEN_ADDRESS',
  ])
    assert.ok(stderr.includes(said), `${said} in ${stderr}`);
  for (const [name, secret] of Object.entries(SECRETS))
    for (const text of [stderr, ...served, letters.stdout, letters.stderr])
      assert.ok(!text.includes(secret), `${name} shows in ${text}`);
});

test('a configuration with a secret in the wrong place shows it nowhere', async (t) => {
  const sinks = {
    hooks: hook(`http://user:${SECRETS.HOOK_KEY}@127.0.0.1:1/`),
    more: { type: 'webhook', url: { env: 'URL_PATH' } },
  };
  const approvals = {
    approvers: { orders: { token: { env: 'ORDERS_TOKEN' } }, billing: { token: { env: 'ORDERS_TOKEN' } } },
  };
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { sinks, approvals });
  const { code, stdout, stderr } = await run(t, ['check', '--config', config], { env: SECRETS });
  assert.equal(code, 78);
  for (const [name, secret] of Object.entries(SECRETS))
    assert.ok(!(stdout + stderr).includes(secret), `${name} shows in ${stderr}`);
});

test('an invalid document shows only the kind of its fault', async (t) => {
  const simulator = await localSimulator(t);
  simulator.fault({ body: `${fakeDocument(1)}${SECRETS.BROKEN_BODY}` });
  const program = start(t, ['events', '--endpoint', simulator.url]);
  const { code, stdout, stderr } = await program.ended();
  assert.deepEqual([code, stdout], [1, '']);
  assert.doesNotMatch(stderr, new RegExp(SECRETS.BROKEN_BODY));
});
