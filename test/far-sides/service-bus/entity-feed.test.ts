// The test server's HTTP side → what the SDK's own administration client reads there.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { ServiceBusAdministrationClient } from '@azure/service-bus';
import { CertificateAuthority } from '../certificate-authority.ts';
import { serviceBusServer } from './service-bus-server.ts';

async function withAdministration(t: TestContext, keyName?: string) {
  const authority = await CertificateAuthority.create(t);
  setDefaultCACertificates([authority.cert]);
  const server = await serviceBusServer(t, {
    tls: await authority.issue('DNS:localhost'),
    transport: 'websocket',
    host: 'localhost',
  });
  server.key('sender', { key: 'c2VuZA==', claims: ['Send'] });
  const connectionString = keyName === undefined ? server.connectionString : server.connectionStringFor(keyName);
  return { server, client: new ServiceBusAdministrationClient(connectionString, { retryOptions: { maxRetries: 0 } }) };
}

test('a queue, a topic and a subscription are described with their settings', async (t) => {
  const { server, client } = await withAdministration(t);
  server.queue('q', { duplicateDetection: '20m', sessions: true, lockDuration: '30s', maxDeliveryCount: 3 });
  server.topic('t').subscription('s');
  const queue = await client.getQueue('q');
  assert.deepEqual(
    [queue.requiresDuplicateDetection, queue.duplicateDetectionHistoryTimeWindow, queue.requiresSession],
    [true, 'PT1200S', true],
  );
  assert.deepEqual([queue.lockDuration, queue.maxDeliveryCount, queue.status], ['PT30S', 3, 'Active']);
  const topic = await client.getTopic('t');
  assert.deepEqual([topic.requiresDuplicateDetection, topic.status], [false, 'Active']);
  assert.equal((await client.getSubscription('t', 's')).requiresSession, false);
  await assert.rejects(client.getQueue('missing'), { code: 'MessageEntityNotFoundError' });
  assert.deepEqual(
    server.contacts('http').map(({ path, status }) => [path, status]),
    [
      ['/q', 200],
      ['/t', 200],
      ['/t/Subscriptions/s', 200],
      ['/missing', 200],
    ],
  );
});

test('only a client with the claim Manage gets the description', async (t) => {
  const { server, client } = await withAdministration(t, 'sender');
  server.queue('q');
  await assert.rejects(client.getQueue('q'), { statusCode: 401 });
});
