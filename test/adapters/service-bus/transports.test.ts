// TLS, WebSockets, a proxy, Entra ID → what arrives at a namespace, or who must do what.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { ConnectProxy } from '../../far-sides/connect-proxy.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { secured } from './secured.ts';
import { type ServiceBusSetup, startServiceBus } from './start-service-bus.ts';

const never = new AbortController().signal;

test('TLS trusts the authority in tls.ca', async (t) => {
  const { server, deliver } = await secured(t);
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(server.contacts('connection'), [{ what: 'connection', transport: 'tls' }]);
});

for (const [what, given, says] of [
  ['an authority that nobody trusts', { trusted: false }, /does not trust: .*tls\.ca/],
  ['another name', { name: 'DNS:other.test' }, /for another name/],
  ['an end that has passed', { expired: true }, /has expired/],
] as const) {
  test(`a certificate with ${what} is reported as such, and no token is presented`, async (t) => {
    const { server, deliver, adapter } = await secured(t, given);
    const { code, scope, disposition, message } = failed(await deliver());
    assert.deepEqual([code, scope, disposition], ['BRIDGE_SERVICE_BUS_TLS', 'sink', 'retry']);
    assert.match(message, says);
    await assert.rejects(adapter.check(never), says);
    assert.deepEqual(server.contacts('put-token'), []);
  });
}

test('a server with plain TCP instead of TLS gets no token either', async (t) => {
  const { server, deliver } = await startServiceBus(t, {
    options: { connectionString: { env: 'PLAIN' } },
    secrets: (running) => ({ PLAIN: running.connectionString.replace(';UseDevelopmentEmulator=true', '') }),
  });
  assert.match(failed(await deliver()).code, /^BRIDGE_SERVICE_BUS_(TLS|BROKEN)$/);
  assert.deepEqual(server.contacts('put-token'), []);
});

test('transport: websocket speaks AMQP in a WebSocket, over TLS', async (t) => {
  const { server, deliver } = await secured(t, {
    server: { transport: 'websocket' },
    options: { transport: 'websocket' },
  });
  // Larger than a frame of 125 bytes, and than one of 64 KiB.
  for (const padding of [0, 1000, 90_000]) assert.equal(await deliver({ seq: padding + 1, padding }), 'accepted');
  assert.deepEqual(
    server
      .queue('maintenance')
      .messages()
      .map(({ json }) => String((json as { description: string }).description).length > 0),
    [true, true, true],
  );
  assert.deepEqual(server.contacts('connection').at(-1), { what: 'connection', transport: 'websocket' });
  server.cutConnections();
  await poll(async () => (await deliver({ seq: 4 })) === 'accepted', 'a new connection');
});

test('a server without WebSockets is reported as such', async (t) => {
  const { deliver } = await secured(t, { options: { transport: 'websocket' } });
  const { code, disposition } = failed(await deliver());
  assert.deepEqual([code, disposition], ['BRIDGE_SERVICE_BUS_BROKEN', 'retry']);
});

test('a proxy is asked for the name of the namespace, with its credentials, and a new one is asked after a cut', async (t) => {
  const proxy = await ConnectProxy.start(t);
  const withPassword = proxy.url.replace('//', '//us%20er:p%40ss@');
  const { server, deliver, deps } = await secured(t, {
    server: { transport: 'websocket' },
    options: { transport: 'websocket', proxy: { env: 'PROXY' } },
    secrets: { PROXY: withPassword },
  });
  assert.equal(await deliver(), 'accepted');
  const [request] = proxy.requests;
  assert.equal(request?.authority, server.address);
  assert.equal(request?.headers['proxy-authorization'], `Basic ${Buffer.from('us er:p@ss').toString('base64')}`);
  proxy.default = 407;
  server.cutConnections();
  await poll(() => server.open === 0, 'the connection to go');
  await poll(async () => failed(await deliver()).code !== 'BRIDGE_SERVICE_BUS_BROKEN', 'the loss to be noticed');
  const refused = failed(await deliver());
  assert.deepEqual(
    [refused.code, refused.disposition, refused.status],
    ['BRIDGE_SERVICE_BUS_PROXY', 'misconfigured', 407],
  );
  assert.match(refused.message, /^sink under-test: proxy http:\/\/127\.0\.0\.1:\d+ answered 407 .*user and a password/);
  proxy.default = 502;
  assert.equal(failed(await deliver()).disposition, 'retry');
  proxy.stop();
  assert.deepEqual(
    [failed(await deliver()).code, failed(await deliver()).status],
    ['BRIDGE_SERVICE_BUS_PROXY', 'ECONNREFUSED'],
  );
  assert.doesNotMatch(`${deps.logged()}${refused.stack}`, /p@ss|p%40ss/);
});

interface Account {
  readonly token: string;
  /** Scopes. */
  readonly asked: string[];
  expiresInMs: number;
  /** Comes before the answer: fails, or takes its time. */
  answers: (() => Promise<void>) | null;
}

/** An identity whose tokens a test gives out. */
function identity(t: TestContext, setup: ServiceBusSetup = {}) {
  const account: Account = { token: 'jwt-nobody-may-see', asked: [], expiresInMs: 3_600_000, answers: null };
  const time = setup.time;
  const running = secured(t, {
    ...setup,
    options: (server) => ({ namespace: server.address }),
    credentialOf: () => ({
      token: async (scope) => {
        account.asked.push(scope);
        await account.answers?.();
        return { token: account.token, expiresAtMs: (time?.wallMs() ?? Date.now()) + account.expiresInMs };
      },
    }),
  });
  return { account, running };
}

test('the sink presents a token of its identity, for the scope of Service Bus', async (t) => {
  const { account, running } = identity(t);
  const { server, deliver, adapter } = await running;
  await adapter.check(never);
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual([...new Set(account.asked)], ['https://servicebus.azure.net/.default']);
  const [shown] = server.contacts('put-token');
  assert.deepEqual(
    [shown?.tokenType, shown?.token, shown?.audience],
    ['jwt', account.token, `sb://${server.address}/maintenance`],
  );
});

test('a token that cannot be renewed for a minute delays only operations that need it, and the sink recovers by itself', async (t) => {
  const { account, running } = identity(t);
  const { server, deliver } = await running;
  assert.equal(await deliver({ seq: 1 }), 'accepted');
  const error = new BridgeError('BRIDGE_AZURE_UNAVAILABLE', 'no token for now', {
    disposition: 'retry',
    scope: 'sink',
  });
  account.answers = () => Promise.reject(error);
  assert.equal(await deliver({ seq: 2 }), 'accepted', 'the link lives on its token');
  server.expireTokens();
  await poll(() => server.contacts('detach').length > 0, 'the detachment');
  await poll(async () => failed(await deliver({ seq: 3 })) === error, 'the credential’s own error');
  account.answers = null;
  assert.equal(await deliver({ seq: 3 }), 'accepted');
  assert.equal(server.queue('maintenance').messages().length, 3);
});

test('a sink without the right to send reports the missing role and its scope', async (t) => {
  const { running } = identity(t, { server: { checkJwt: () => [] } });
  const { deliver } = await running;
  const { code, message } = failed(await deliver());
  assert.equal(code, 'BRIDGE_SERVICE_BUS_UNAUTHORIZED');
  assert.match(
    message,
    /queue maintenance: assign the identity the role "Azure Service Bus Data Sender" on this scope/,
  );
});

test('a token close to its expiry is not presented repeatedly', async (t) => {
  const { account, running } = identity(t);
  account.expiresInMs = 1000;
  const { server, deliver } = await running;
  assert.equal(await deliver(), 'accepted');
  // The SDK alone would have asked at every turn of the event loop.
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(server.contacts('put-token').length, 1);
  assert.equal(account.asked.length, 1);
});

test('a token that never arrives fails the send at its time limit', async (t) => {
  // The SDK goes by the machine's clock.
  const time = new VirtualTime({ startMs: Date.now() });
  const { account, running } = identity(t, { time });
  const { deliver } = await running;
  account.answers = () => new Promise(() => undefined);
  const outcome = deliver();
  await poll(() => account.asked.length > 0, 'the question for a token');
  await time.advance(10_000);
  assert.equal(failed(await outcome).code, 'BRIDGE_SERVICE_BUS_TIMEOUT');
  account.answers = null;
  assert.equal(await deliver(), 'accepted');
  // What hangs is cut off.
  await time.advance(2_000);
});
