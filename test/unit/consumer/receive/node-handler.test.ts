// The real webhook adapter → a receiver under each framework of docs/receive/consumer.md.
import assert from 'node:assert/strict';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import type { CloudEvent } from '../../../../src/consumer/event.ts';
import { toNodeHandler } from '../../../../src/consumer/receive/node-handler.ts';
import type { Receiver } from '../../../../src/consumer/receive/receiver.ts';
import { createReceiver } from '../../../../src/consumer.ts';
import { BridgeError } from '../../../../src/errors.ts';
import { createWebhook } from '../../../adapters/webhook/start-webhook.ts';
import { deliveryOf, everyChange, lifeOf, OTHER_SECRET, requestOf, SECRET } from '../deliveries.ts';

const never = new AbortController().signal;

interface Mounted {
  readonly name: string;
  /** Listens with the receiver at /hook, and returns the port. */
  readonly start: (t: TestContext, receiver: Receiver) => Promise<number>;
}

function listen(t: TestContext, server: Server): Promise<number> {
  t.after(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

const MOUNTED: readonly Mounted[] = [
  { name: 'node:http', start: (t, receiver) => listen(t, createServer(toNodeHandler(receiver))) },
  {
    name: 'Hono',
    start: (t, receiver) => {
      const app = new Hono();
      app.all('/hook', (c) => receiver(c.req.raw));
      return new Promise((resolve) => {
        const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(port));
        t.after(() => server.close());
      });
    },
  },
  {
    name: 'Fastify',
    start: async (t, receiver) => {
      const app = fastify({ forceCloseConnections: true });
      t.after(() => app.close());
      app.register((hooks, _options, registered) => {
        hooks.removeAllContentTypeParsers();
        hooks.addContentTypeParser('*', (_request, _payload, done) => done(null));
        const handle = toNodeHandler(receiver);
        hooks.all('/hook', (request, reply) => {
          reply.hijack();
          handle(request.raw, reply.raw);
        });
        registered();
      });
      await app.listen({ host: '127.0.0.1', port: 0 });
      return (app.server.address() as AddressInfo).port;
    },
  },
  {
    name: 'Express',
    start: (t, receiver) => {
      const app = express();
      app.all('/hook', toNodeHandler(receiver));
      app.use(express.json());
      return listen(t, createServer(app));
    },
  },
];

function sinkFor(t: TestContext, port: number, options: Readonly<Record<string, unknown>> = {}, secret = SECRET) {
  const url = `http://127.0.0.1:${port}/hook`;
  return createWebhook(t, { options: { url, secrets: [{ env: 'S' }], ...options }, secrets: { S: secret } }).adapter;
}

for (const { name, start } of MOUNTED) {
  test(`under ${name}, deliveries of the webhook sink in any mode are handled, and repeats are dropped`, async (t) => {
    const seen: CloudEvent[] = [];
    const take = (event: CloudEvent) => void seen.push(event);
    const handlers = { onScheduled: take, onUpdated: take, onStarted: take, onEnded: take };
    const port = await start(t, createReceiver({ secrets: SECRET, handlers, allowedOrigins: ['bridge.example.com'] }));
    const made = everyChange().slice(0, 4).map(deliveryOf);
    const accepted = made.map(() => 'accepted');
    const handshake = { handshake: true, origin: 'bridge.example.com' };
    for (const delivery of made)
      assert.deepEqual(await sinkFor(t, port, handshake).deliver([delivery], never), ['accepted']);
    assert.deepEqual(await sinkFor(t, port, { mode: 'batch' }).deliver(made, never), accepted);
    for (const delivery of made)
      assert.deepEqual(await sinkFor(t, port, { mode: 'binary' }).deliver([delivery], never), ['accepted']);
    assert.deepEqual(
      seen,
      made.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString())),
    );
  });

  test(`under ${name}, a forged delivery, a failed handler and a body that is too large get the answers that the bridge needs`, async (t) => {
    const onScheduled = () => Promise.reject(new Error('not now'));
    const port = await start(
      t,
      createReceiver({ secrets: SECRET, handlers: { onScheduled }, maxBodyBytes: 4096, onError: () => {} }),
    );
    const delivery = deliveryOf(lifeOf().scheduled);
    const [forged] = await sinkFor(t, port, {}, OTHER_SECRET).deliver([delivery], never);
    assert.ok(forged instanceof BridgeError && forged.status === 401 && forged.disposition === 'misconfigured');
    const [failed] = await sinkFor(t, port).deliver([delivery], never);
    assert.ok(failed instanceof BridgeError && failed.status === 500 && failed.disposition === 'retry');
    const many = [delivery, delivery, delivery, delivery];
    const [large] = await sinkFor(t, port, { mode: 'batch' }).deliver(many, never);
    assert.ok(large instanceof BridgeError && large.status === 413 && large.disposition === 'refused');
    const get = await fetch(`http://127.0.0.1:${port}/hook`);
    assert.deepEqual(
      [get.status, get.headers.get('allow'), get.headers.get('content-type')],
      [405, 'POST', 'application/problem+json'],
    );
  });

  test(`under ${name}, a body of unknown length is answered 413 once it is too large`, async (t) => {
    const port = await start(
      t,
      createReceiver({ unsigned: true, handlers: {}, maxBodyBytes: 1000, onError: () => {} }),
    );
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoing = httpRequest({ port, host: '127.0.0.1', path: '/hook', method: 'POST' }, (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode);
        outgoing.destroy();
      });
      outgoing.on('error', reject);
      outgoing.write('x'.repeat(2000));
    });
    assert.equal(status, 413);
  });
}

test('a body that a parser has read before is answered 500 with the reason', async (t) => {
  const errors: unknown[] = [];
  const app = express();
  app.use(express.raw({ type: '*/*' }));
  app.all(
    '/hook',
    toNodeHandler(createReceiver({ unsigned: true, handlers: {}, onError: (error) => errors.push(error) })),
  );
  const port = await listen(t, createServer(app));
  const delivery = requestOf([lifeOf().scheduled]);
  const answer = await fetch(`http://127.0.0.1:${port}/hook`, {
    method: 'POST',
    body: await delivery.text(),
    headers: delivery.headers,
  });
  assert.equal(answer.status, 500);
  assert.match(await answer.text(), /mount the receiver before any body parser/);
});

test('a Request with a body that was read before is answered body-read', async () => {
  const request = requestOf([lifeOf().scheduled]);
  await request.text();
  const answer = (await createReceiver({ unsigned: true, handlers: {}, onError: () => {} })(request)) as Response;
  assert.equal(answer.status, 500);
  assert.match(await answer.text(), /body-read/);
});

test('the receiver keeps working if a client disconnects in the middle of its body', async (t) => {
  const reported = Promise.withResolvers<unknown>();
  const port = await listen(
    t,
    createServer(toNodeHandler(createReceiver({ unsigned: true, handlers: {}, onError: reported.resolve }))),
  );
  const outgoing = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': '100' } });
  outgoing.on('error', () => {});
  outgoing.write('half', () => outgoing.destroy());
  assert.ok((await reported.promise) instanceof Error);
  const delivery = requestOf([lifeOf().scheduled]);
  const answer = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    body: await delivery.text(),
    headers: delivery.headers,
  });
  assert.equal(answer.status, 204);
});
