// `check` of a source against the test server → what it says, and that it takes nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { type ServiceBusServer, serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { poll } from '../../support/poll.ts';
import { openServer, openSource, QUEUE, type SourceSetup, send } from './source-fixture.ts';

const never = new AbortController().signal;

for (const sessions of [false, true]) {
  test(`a check of a queue ${sessions ? 'with' : 'without'} sessions takes no message, and leaves nothing open`, async (t) => {
    const server = await serviceBusServer(t);
    const queue = server.queue('q', { sessions });
    await send(server, ['one'], sessions ? { sessionId: 'a' } : {}, 'q');
    const { source } = openSource(server, { options: { queue: 'q', sessions } });
    assert.equal(await source.check(never), null);
    assert.equal(await source.check(never), null);
    assert.deepEqual([queue.messages()[0]?.deliveryCount, server.contacts('settle')], [0, []]);
    await server.until(() => server.open === 1, "no connection but the sender's");
    assert.deepEqual(server.protocolErrors, []);
  });
}

test('a check of sessions that another bridge of the same name makes at the same time finds nothing wrong', async (t) => {
  const server = await serviceBusServer(t);
  server.queue('q', { sessions: true });
  const setup = { options: { queue: 'q', sessions: true } };
  const checks = Array.from({ length: 4 }, () => openSource(server, setup).source.check(never));
  assert.deepEqual(await Promise.all(checks), [null, null, null, null]);
});

interface Row {
  readonly title: string;
  readonly setup?: SourceSetup;
  readonly wrong: (server: ServiceBusServer) => unknown;
  readonly code: string;
  readonly says: RegExp;
}

const FAULTS: readonly Row[] = [
  {
    title: 'no server listens',
    wrong: (server) => server.leave(),
    code: 'BRIDGE_SERVICE_BUS_UNREACHABLE',
    says: /source ops: 127\.0\.0\.1:\d+ cannot be reached: check firewalls/,
  },
  {
    title: 'no answer arrives',
    setup: { options: { timeout: '300ms' } },
    wrong: (server) => {
      server.silent = true;
    },
    code: 'BRIDGE_SERVICE_BUS_TIMEOUT',
    says: /within 300ms/,
  },
  {
    title: 'the key is wrong',
    setup: { secrets: { BUS: '' } },
    wrong: (server) => server.key('RootManageSharedAccessKey', { key: 'YW5vdGhlciBrZXk=', claims: ['Listen'] }),
    code: 'BRIDGE_SERVICE_BUS_UNAUTHORIZED',
    says: /does not accept the token/,
  },
  {
    title: 'the right to receive is missing',
    wrong: (server) => server.key('writer', { key: 'd3JpdGVyIGtleSBvZiBhIHRlc3Q=', claims: ['Send'] }),
    code: 'BRIDGE_SERVICE_BUS_UNAUTHORIZED',
    says: /on the queue approvals: assign the identity the role "Azure Service Bus Data Receiver" on this scope/,
  },
  {
    title: 'the queue does not exist',
    wrong: (server) => server.delete(QUEUE),
    code: 'BRIDGE_SERVICE_BUS_ENTITY',
    says: /has no queue approvals: correct the name, or create it/,
  },
  {
    title: 'the subscription is missing',
    setup: { options: { topic: 'maintenance', subscription: 'web_0' } },
    wrong: (server) => server.topic('maintenance'),
    code: 'BRIDGE_SERVICE_BUS_ENTITY',
    says: /has no subscription web_0 of topic maintenance/,
  },
  {
    title: 'the queue is disabled',
    wrong: (server) => server.setStatus(QUEUE, 'disabled'),
    code: 'BRIDGE_SERVICE_BUS_ENTITY',
    says: /has disabled the queue approvals/,
  },
  {
    title: 'the queue requires sessions',
    setup: { options: { queue: 'ordered' } },
    wrong: (server) => server.queue('ordered', { sessions: true }),
    code: 'BRIDGE_SERVICE_BUS_ENTITY',
    says: /the queue ordered requires sessions: set sessions: true/,
  },
];

for (const { title, setup = {}, wrong, code, says } of FAULTS) {
  test(`a check reports that ${title}`, async (t) => {
    const server = await openServer(t);
    const before = server.connectionString;
    await wrong(server);
    const BUS = title.startsWith('the right') ? server.connectionStringFor('writer') : before;
    const { source, logged } = openSource(server, { ...setup, secrets: { BUS } });
    const error = await source.check(never).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof BridgeError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, says);
    const key = /SharedAccessKey=([^;]+)/.exec(BUS)?.[1] ?? '';
    assert.ok(!error.message.includes(key) && !logged().includes(key));
    await server.until(() => server.open === 0, 'no connection');
  });
}

test('a check distinguishes faults of TLS and token before it presents the token', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const server = await openServer(t, { tls: await authority.issue('IP:127.0.0.1') });
  const refused = new BridgeError('BRIDGE_AZURE_REFUSED', 'no such identity');
  const credentialOf = () => ({ token: () => Promise.reject(refused) });
  const options = { namespace: server.address };
  const distrusting = openSource(server, { options, credentialOf }).source;
  await assert.rejects(distrusting.check(never), { code: 'BRIDGE_SERVICE_BUS_TLS' });
  const trusting = openSource(server, { options: { ...options, tls: { ca: authority.file } }, credentialOf }).source;
  await assert.rejects(trusting.check(never), refused);
  assert.deepEqual(server.contacts('put-token'), []);
});

test('an abort ends a check at once with its reason', async (t) => {
  const server = await openServer(t);
  server.silent = true;
  const stop = new AbortController();
  const { source } = openSource(server);
  const checking = source.check(stop.signal).catch((error: unknown) => error);
  await poll(() => server.contacts('connection').length > 0, 'a connection');
  const reason = new Error('stop');
  stop.abort(reason);
  assert.equal(await checking, reason);
  await source[Symbol.asyncDispose]();
});
