// `check --connect` of Service Bus sinks → the step that failed, what to do; no message is sent.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { NamespaceAccess } from '../../../adapters/service-bus/connection/access.ts';
import { describeEntity } from '../../../adapters/service-bus/connection/entity-description.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { secured } from './secured.ts';
import { QUEUE, type ServiceBusSetup, startServiceBus } from './start-service-bus.ts';

const never = new AbortController().signal;

test('a check presents the token, attaches a link, and sends nothing', async (t) => {
  const { adapter, server } = await startServiceBus(t);
  assert.equal(await adapter.check(never), null);
  assert.deepEqual(
    server.contacts('attach').map(({ entity, role, refused }) => [entity, role, refused]),
    [['maintenance', 'sender', null]],
  );
  assert.deepEqual(server.contacts('send'), []);
});

const STEPS: Readonly<Record<string, readonly [setup: ServiceBusSetup, says: RegExp]>> = {
  'no server listens': [
    { beforeOpen: (server) => server.leave() },
    /cannot be reached: check firewalls .*ECONNREFUSED/,
  ],
  'the key is wrong': [
    {
      secrets: (server) => ({
        BUS: server.connectionString.replace(/SharedAccessKey=[^;]*/, 'SharedAccessKey=d3Jvbmc='),
      }),
    },
    /does not accept the token: check the key/,
  ],
  'the key may only receive': [
    {
      beforeOpen: async (server) => server.key('reader', { key: 'cmVhZA==', claims: ['Listen'] }),
      secrets: (server) => ({ BUS: server.connectionStringFor('reader') }),
    },
    /does not allow this operation on the queue maintenance: assign the identity the role "Azure Service Bus Data Sender" on this scope/,
  ],
  'the queue does not exist': [
    { options: { queue: 'missing' } },
    /has no queue missing: correct the name, or create it/,
  ],
  'the topic is disabled': [
    {
      options: { topic: 'off' },
      beforeOpen: async (server) => {
        server.topic('off');
        server.setStatus('off', 'disabled');
      },
    },
    /has disabled the topic off: enable it/,
  ],
};

for (const [what, [setup, says]] of Object.entries(STEPS)) {
  test(`a check reports: ${what}`, async (t) => {
    const { adapter, server } = await startServiceBus(t, setup);
    await assert.rejects(adapter.check(never), says);
    assert.deepEqual(server.contacts('send'), []);
  });
}

test('a check that gets no answer ends at the time limit', async (t) => {
  const time = new VirtualTime();
  const { adapter, server } = await startServiceBus(t, { time });
  server.faults.onToken({ do: 'ignore' });
  const checked = assert.rejects(adapter.check(never), { code: 'BRIDGE_SERVICE_BUS_TIMEOUT' });
  await poll(() => server.contacts('put-token').length > 0, 'the silence');
  await time.advance(10_000);
  await checked;
});

/** As Azure has it: beside AMQP in WebSockets, the port answers the management interface. */
const WEBSOCKET: ServiceBusSetup = { server: { transport: 'websocket' }, options: { transport: 'websocket' } };

for (const [what, setup, says] of [
  [
    'repeats are dropped',
    {
      beforeOpen: async (server) => void server.queue('made', { duplicateDetection: '10m' }),
      options: { queue: 'made' },
    },
    /a message could be sent; queue made drops repeats of the last PT600S/,
  ],
  [
    'repeats are not dropped',
    { options: { queue: QUEUE } },
    /has no duplicate detection, so a repeat after a lost answer arrives twice/,
  ],
  [
    'the topic drops repeats',
    {
      beforeOpen: async (server) => void server.topic('made', { duplicateDetection: '1h' }),
      options: { topic: 'made' },
    },
    /topic made drops repeats of the last PT3600S/,
  ],
  [
    'it lacks the right to read this',
    {
      beforeOpen: async (server) => server.key('sender', { key: 'c2VuZA==', claims: ['Send'] }),
      secrets: (server) => ({ BUS: server.connectionStringFor('sender') }),
      options: { queue: QUEUE },
    },
    /these rights do not show whether queue maintenance drops repeats: check its requiresDuplicateDetection/,
  ],
] as readonly (readonly [string, ServiceBusSetup, RegExp])[]) {
  test(`a check reports that ${what}`, async (t) => {
    const { adapter, server } = await secured(t, {
      ...WEBSOCKET,
      ...setup,
      options: { ...WEBSOCKET.options, ...setup.options },
    });
    assert.match((await adapter.check(never)) ?? '', says);
    assert.deepEqual(server.contacts('send'), []);
  });
}

test('a check reports a queue that requires sessions to a sink without them', async (t) => {
  const { adapter } = await secured(t, {
    ...WEBSOCKET,
    beforeOpen: async (server) => void server.queue('made', { sessions: true }),
    options: { ...WEBSOCKET.options, queue: 'made' },
  });
  await assert.rejects(
    adapter.check(never),
    /requires a session for each message to the queue made: set sessions: true/,
  );
});

test('the description can be read with the token of an identity', async (t) => {
  const { adapter } = await secured(t, {
    server: { transport: 'websocket', checkJwt: (token) => (token === 'jwt' ? ['Send', 'Manage'] : null) },
    options: (server) => ({ transport: 'websocket', namespace: server.address }),
    credentialOf: () => ({ token: async () => ({ token: 'jwt', expiresAtMs: Date.now() + 3_600_000 }) }),
  });
  assert.match((await adapter.check(never)) ?? '', /has no duplicate detection/);
});

/** A management interface on a port of its own that answers as a test says; null: not at all. */
async function oddManagement(t: TestContext, answer: { readonly status: number; readonly body: string } | null) {
  const authority = await CertificateAuthority.create(t);
  const asked = Promise.withResolvers<void>();
  const server = createServer(await authority.issue('IP:127.0.0.1'), (_, response) => {
    asked.resolve();
    if (answer) response.writeHead(answer.status).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const deps = adapterDeps();
  const options = { transport: 'websocket', timeout: 1000, tls: { ca: new Secret({ file: authority.file }) } } as const;
  const connectionString = new Secret({ env: 'BUS' });
  openSecrets(
    { options, connectionString },
    { BUS: `Endpoint=sb://127.0.0.1:${port};SharedAccessKeyName=a;SharedAccessKey=b` },
  );
  const access = new NamespaceAccess(
    { ...options, connectionString },
    { owner: 'sinks.bus', name: 'sink bus', entity: 'q' },
    deps,
  );
  const controller = new AbortController();
  const described = describeEntity(access, access.target(), 'q', deps, controller.signal);
  return { described, asked: asked.promise, controller };
}

for (const body of ['<html>a proxy</html>', 'x'.repeat(300_000), ''])
  test(`a management interface that answers ${body.length} other bytes gives no description`, async (t) => {
    const { described } = await oddManagement(t, { status: 200, body });
    assert.equal(await described, null);
  });

test('a request to a management interface that never answers ends with the signal', async (t) => {
  const { described, asked, controller } = await oddManagement(t, null);
  await asked;
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(described, (error) => error === reason);
});
