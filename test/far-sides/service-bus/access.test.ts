// The unmodified SDK at our test server → tokens, what they allow, and their end.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { ServiceBusClient } from '@azure/service-bus';
import { CertificateAuthority } from '../certificate-authority.ts';
import { sdkClient } from './sdk-client.ts';
import { type ServiceBusServer, type ServiceBusServerOptions, serviceBusServer } from './service-bus-server.ts';

test('a client puts a SAS token for its queue before it attaches', async (t) => {
  const server = await serviceBusServer(t);
  server.queue('q');
  await sdkClient(server).createSender('q').sendMessages({ body: 1 });
  const [put] = server.contacts('put-token');
  assert.deepEqual(
    [put?.audience, put?.tokenType, put?.status],
    [`sb://${server.address}/q`, 'servicebus.windows.net:sastoken', 202],
  );
  assert.deepEqual(
    server.contacts('put-token', 'attach').map(({ what }) => what),
    ['put-token', 'attach'],
  );
});

test('a wrong key and an unknown key are rejected', async (t) => {
  const server = await serviceBusServer(t);
  server.queue('q');
  for (const wrong of [/SharedAccessKey=[^;]+/, /SharedAccessKeyName=[^;]+/]) {
    const connectionString = server.connectionString.replace(wrong, (field) => `${field}x`);
    const sender = sdkClient(server, {}, connectionString).createSender('q');
    await assert.rejects(sender.sendMessages({ body: 1 }), { code: 'UnauthorizedAccess', retryable: true });
  }
  assert.deepEqual(
    server.contacts('put-token').map(({ status }) => status),
    [401, 401],
  );
});

test('a key allows only its claims', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  server.key('writer', { key: 'd3JpdGU=', claims: ['Send'] });
  const writer = sdkClient(server, {}, server.connectionStringFor('writer'));
  await writer.createSender('q').sendMessages({ body: 1 });
  await assert.rejects(writer.createReceiver('q').receiveMessages(1, { maxWaitTimeInMs: 1000 }), {
    code: 'UnauthorizedAccess',
  });
  server.key('reader', { key: 'cmVhZA==', claims: ['Listen'] });
  const reader = sdkClient(server, {}, server.connectionStringFor('reader'));
  await assert.rejects(reader.createSender('q').sendMessages({ body: 2 }), {
    code: 'UnauthorizedAccess',
    message: /'Send' claim/,
  });
  assert.equal((await reader.createReceiver('q').receiveMessages(1, { maxWaitTimeInMs: 1000 })).length, 1);
  assert.equal(queue.messages().length, 1);
});

test('when tokens expire, their links are detached as by the service; with a new token the next send succeeds', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  // The SDK may call a sender busy that it is still taking down.
  const sender = sdkClient(server, { retryOptions: { maxRetries: 2 } }).createSender('q');
  await sender.sendMessages({ body: 1 });
  server.expireTokens();
  await server.until(() => server.links === 0, 'a detached link');
  await sender.sendMessages({ body: 2 });
  assert.equal(queue.messages().length, 2);
  assert.ok(server.contacts('put-token').length >= 2);
});

test('a token that cannot be renewed is unauthorized until then', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  const client = sdkClient(server);
  await client.createSender('q').sendMessages({ body: 1 });
  server.faults.onToken(
    { do: 'answer', status: 401, description: 'ExpiredToken: The token is expired.' },
    { times: 2 },
  );
  server.expireTokens();
  await server.until(() => server.links === 0, 'a detached link');
  const sender = client.createSender('q');
  for (const _ of [1, 2]) await assert.rejects(sender.sendMessages({ body: 2 }), { code: 'UnauthorizedAccess' });
  await sender.sendMessages({ body: 3 });
  assert.equal(queue.messages().length, 2);
});

test('a SAS token expires at its own time', async (t) => {
  const server = await serviceBusServer(t, { linkIdle: '1d' });
  server.queue('q');
  const sender = sdkClient(server).createSender('q');
  await sender.sendMessages({ body: 1 });
  server.clock.advance('59m');
  assert.equal(server.links, 1);
  server.clock.advance('2m');
  await server.until(() => server.links === 0, 'a detached link');
});

/** A server with TLS, which a client with a token credential needs. */
async function tlsServer(t: TestContext, options: ServiceBusServerOptions = {}): Promise<ServiceBusServer> {
  const authority = await CertificateAuthority.create(t);
  setDefaultCACertificates([authority.cert]);
  return serviceBusServer(t, { ...options, tls: await authority.issue('DNS:localhost'), host: 'localhost' });
}

test('an Entra token is a JWT for the scope of Service Bus, and may be rejected or restricted', async (t) => {
  const server = await tlsServer(t);
  server.queue('q');
  const scopes: unknown[] = [];
  const credential = {
    async getToken(scope: unknown) {
      scopes.push(scope);
      return { token: 'an.opaque.token-of-entra', expiresOnTimestamp: Date.now() + 3_600_000 };
    },
  };
  const retryOptions = { maxRetries: 0, timeoutInMs: 5000 };
  const client = new ServiceBusClient(server.address, credential, { retryOptions });
  server.closeFirst(() => client.close());
  server.checkJwt = () => ['Send'];
  await client.createSender('q').sendMessages({ body: 1 });
  assert.deepEqual(scopes, ['https://servicebus.azure.net//.default']);
  const [put] = server.contacts('put-token');
  assert.deepEqual([put?.tokenType, put?.token, put?.status], ['jwt', 'an.opaque.token-of-entra', 202]);
  await assert.rejects(client.createReceiver('q').receiveMessages(1, { maxWaitTimeInMs: 1000 }), {
    code: 'UnauthorizedAccess',
  });
  server.checkJwt = () => null;
  await assert.rejects(client.createSender('q').sendMessages({ body: 1 }), { code: 'UnauthorizedAccess' });
});

test('an Entra token expires at its own time', async (t) => {
  const server = await tlsServer(t, { linkIdle: '1d' });
  server.queue('q');
  const exp = Math.floor(Date.now() / 1000) + 86_400;
  const token = ['{"alg":"none"}', JSON.stringify({ exp }), 'x']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
  const credential = { getToken: async () => ({ token, expiresOnTimestamp: exp * 1000 }) };
  const client = new ServiceBusClient(server.address, credential, {
    retryOptions: { maxRetries: 0, timeoutInMs: 5000 },
  });
  server.closeFirst(() => client.close());
  await client.createSender('q').sendMessages({ body: 1 });
  server.clock.advance('23h');
  assert.equal(server.links, 1);
  server.clock.advance('61m');
  await server.until(() => server.links === 0, 'a detached link');
});
