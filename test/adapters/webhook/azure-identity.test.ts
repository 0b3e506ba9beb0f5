// `azure`, a machine's identity endpoint, a receiver → tokens, and how rejected ones are replaced.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { FakeEntra } from '../../far-sides/entra-id.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { testOptionFaults } from './option-faults.ts';
import { startWebhook } from './start-webhook.ts';

const SCOPE = 'https://eventgrid.azure.net/.default';
/** A different identity for each test, because the library caches tokens for the whole process. */
let identities = 0;

async function fixture(t: TestContext, options: Readonly<Record<string, unknown>> = {}) {
  const time = new VirtualTime({ startMs: Date.now() });
  const entra = await FakeEntra.start(t);
  entra.wallMs = time.wallMs;
  identities += 1;
  const azure = { credential: 'managed-identity', clientId: `webhook-${identities}`, scope: SCOPE };
  const webhook = await startWebhook(t, { time, options: { azure, ...options } });
  const sent = () => webhook.receiver.requests.map(({ headers }) => headers.authorization);
  return { ...webhook, time, entra, sent };
}

test('every request has a token of the managed identity for the scope, which is requested once', async (t) => {
  const { deliver, entra, sent } = await fixture(t);
  assert.deepEqual([await deliver(), await deliver()], ['accepted', 'accepted']);
  assert.deepEqual(sent(), ['Bearer token-1', 'Bearer token-1']);
  assert.equal(entra.requests.length, 1);
  assert.equal(entra.requests[0]?.at, 'identity');
  assert.equal(entra.requests[0]?.url.searchParams.get('resource'), 'https://eventgrid.azure.net');
});

test('a 401 of the receiver drops the token, once a minute at most', async (t) => {
  const { deliver, receiver, time, sent } = await fixture(t);
  receiver.next({ status: 401 }, { status: 401 }, { status: 401 });
  const refusal = failed(await deliver());
  assert.deepEqual([refusal.status, refusal.disposition], [401, 'misconfigured']);
  assert.match(refusal.message, /azure/);
  await deliver();
  await deliver();
  await time.advance(61_000);
  receiver.next({ status: 401 });
  await deliver();
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(sent(), ['Bearer token-1', 'Bearer token-2', 'Bearer token-2', 'Bearer token-2', 'Bearer token-3']);
});

test('without a token nothing is sent, and the message names the credential and not the receiver', async (t) => {
  const { deliver, entra, receiver } = await fixture(t);
  entra.answer = () => ({ status: 400, body: { error: 'invalid_request', error_description: 'Identity not found' } });
  const refusal = failed(await deliver());
  assert.match(refusal.message, /sinks\.under-test\.azure/);
  assert.match(refusal.message, /managed-identity/);
  assert.deepEqual([refusal.disposition, receiver.requests.length], ['misconfigured', 0]);
});

test('if the identity endpoint is slow, the delivery waits for the time limit and is retried', async (t) => {
  const { deliver, entra, receiver, time } = await fixture(t, { timeout: '3s' });
  entra.answer = () => 'never';
  const delivery = deliver();
  await poll(() => entra.requests.length === 1, 'the request for a token');
  await time.advance(3000);
  const refusal = failed(await delivery);
  assert.match(refusal.message, /credential managed-identity gave no token within 3s/);
  assert.deepEqual([refusal.disposition ?? 'retry', receiver.connections], ['retry', 0]);
});

test('the request for consent has the token, too, and check requests one', async (t) => {
  const { adapter, deliver, receiver } = await fixture(t, { handshake: true, origin: 'bridge.example.com' });
  receiver.default = { status: 200, headers: { 'webhook-allowed-origin': '*' } };
  await adapter.check(new AbortController().signal);
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(
    receiver.requests.map(({ method, headers }) => [method, headers.authorization]),
    [
      ['OPTIONS', 'Bearer token-1'],
      ['OPTIONS', 'Bearer token-1'],
      ['POST', 'Bearer token-1'],
    ],
  );
});

test('the library of Azure is loaded at the first request for a token, and not before', async () => {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    const { webhookSink } = await import(${url('../../../adapters/webhook/webhook.ts')});
    const { createRequire } = await import('node:module');
    const loaded = () => Object.keys(createRequire(${url('.')}).cache).some((path) => path.includes('@azure'));
    const before = loaded();
    await import(${url('../../../src/azure/identity-library.ts')});
    console.log(webhookSink.type, before, loaded());`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--no-warnings',
    '-e',
    script,
  ]);
  assert.equal(stdout, 'webhook false true\n');
});

const GOOD = { credential: 'managed-identity', scope: SCOPE };
const OAUTH = { tokenUrl: 'https://login.example/token', clientId: 'a', clientSecret: { env: 'S' } };

testOptionFaults('https://a.example', [
  [{ azure: {} }, 'azure.scope', /./],
  [{ azure: { ...GOOD, scope: '' } }, 'azure.scope', /scope of the receiver/],
  [{ azure: { ...GOOD, scope: 'two scopes' } }, 'azure.scope', /scope of the receiver/],
  [{ azure: { ...GOOD, credential: 'password' } }, 'azure.credential', /managed-identity/],
  [{ azure: { ...GOOD, tenantId: 'a' } }, 'azure.tenantId', /no effect with credential managed-identity/],
  [
    { azure: { credential: 'client-certificate', scope: SCOPE, tenantId: 'a', clientId: 'b' } },
    'azure.certificate',
    /is missing/,
  ],
  [{ azure: GOOD, oauth2: OAUTH }, 'azure', /oauth2: remove one of the two/],
  [{ azure: GOOD, headers: { Authorization: 'hidden' } }, 'headers', /azure sets/],
]);
