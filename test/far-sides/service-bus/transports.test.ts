// The unmodified SDK at our test server → over TLS, over WebSockets, through a proxy.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { CertificateAuthority } from '../certificate-authority.ts';
import { sdkClient } from './sdk-client.ts';
import { serviceBusServer } from './service-bus-server.ts';

test('TLS works like plain TCP', async (t) => {
  const authority = await CertificateAuthority.create(t);
  setDefaultCACertificates([authority.cert]);
  const server = await serviceBusServer(t, { tls: await authority.issue('DNS:localhost'), host: 'localhost' });
  const queue = server.queue('q');
  const client = sdkClient(server);
  await client.createSender('q').sendMessages({ messageId: 'm', body: 1 });
  const receiver = client.createReceiver('q');
  const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 10_000 });
  assert.ok(message);
  await receiver.completeMessage(message);
  assert.deepEqual(queue.messages(), []);
  assert.deepEqual(
    server.contacts('connection').map(({ transport }) => transport),
    ['tls'],
  );
});

test('TLS fails for a client that does not trust the authority', async (t) => {
  const authority = await CertificateAuthority.create(t);
  setDefaultCACertificates([]);
  const server = await serviceBusServer(t, { tls: await authority.issue('DNS:localhost'), host: 'localhost' });
  server.queue('q');
  await assert.rejects(sdkClient(server).createSender('q').sendMessages({ body: 1 }), /certificate/);
  assert.deepEqual(server.contacts('open'), []);
});

test('WebSockets work like TCP, also with large messages and after cuts', async (t) => {
  const authority = await CertificateAuthority.create(t);
  setDefaultCACertificates([authority.cert]);
  const server = await serviceBusServer(t, {
    tls: await authority.issue('DNS:localhost'),
    transport: 'websocket',
    host: 'localhost',
  });
  const queue = server.queue('q');
  const client = sdkClient(server, { webSocketOptions: { webSocket: WebSocket } });
  const sender = client.createSender('q');
  const body = Buffer.alloc(200_000, 'abc');
  await sender.sendMessages({ messageId: 'm', body });
  assert.deepEqual(queue.messages()[0]?.data, body);
  server.cutConnections();
  await server.until(() => server.open === 0, 'no connection');
  await sender.sendMessages({ messageId: 'n', body: 2 });
  const receiver = client.createReceiver('q');
  const messages = await receiver.receiveMessages(2, { maxWaitTimeInMs: 10_000 });
  for (const message of messages) await receiver.completeMessage(message);
  assert.deepEqual(queue.messages(), []);
  assert.deepEqual(
    server.contacts('connection').map(({ transport }) => transport),
    ['websocket', 'websocket'],
  );
});

test('a WebSocket to another path, or for another protocol, is rejected', async (t) => {
  const server = await serviceBusServer(t, { transport: 'websocket' });
  const statusOf = async (path: string, protocol: string) => {
    const socket = connect(server.port, '127.0.0.1');
    const headers = [
      'Host: x',
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Key: AAAA',
      `Sec-WebSocket-Protocol: ${protocol}`,
    ];
    socket.end(`GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('latin1').slice(9, 12);
  };
  assert.equal(await statusOf('/elsewhere', 'AMQPWSB10'), '404');
  assert.equal(await statusOf('/$servicebus/websocket', 'mqtt'), '400');
});
