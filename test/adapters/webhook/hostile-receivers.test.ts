// Receivers that break HTTP on purpose → a delivery that ends, a connection cut, nothing kept.
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Answer } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { settle, VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createWebhook, startWebhook, type WebhookSetup } from './start-webhook.ts';

const never = new AbortController().signal;
const LARGE = 16 * 1024 ** 2;

/** A server that calls `onData` for each piece of a request, and a sink that posts to it. */
async function rawServer(t: TestContext, onData: (socket: Socket, request: number) => void, setup: WebhookSetup = {}) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections += 1;
    sockets.add(socket);
    let requests = 0;
    socket.on('data', (chunk) => {
      if (chunk.includes('POST ')) requests += 1;
      onData(socket, requests);
    });
    socket.on('error', () => {});
    socket.on('end', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const { adapter } = createWebhook(t, { ...setup, options: { url, maxBatchBytes: '32MiB', ...setup.options } });
  const deliver = async (padding = 0) => (await adapter.deliver([sampleDelivery({ padding })], never))[0];
  return { deliver, open: () => sockets.size, connections: () => connections };
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

test('an answer before the request was read counts, and the unsent rest is cut off with its connection', async (t) => {
  const { deliver, open, connections } = await rawServer(t, (socket) => {
    if (socket.isPaused()) return;
    socket.pause();
    socket.write(OK);
  });
  assert.equal(await deliver(LARGE), 'accepted');
  assert.equal(await deliver(LARGE), 'accepted');
  assert.equal(connections(), 2, 'nothing is sent behind a request that is half sent');
  await poll(() => tcpSockets() === open(), 'the sink to give up its ends');
});

test('a refusal before the request was read counts, although the rest of the request cannot be sent', async (t) => {
  const { deliver } = await rawServer(t, (socket) => {
    if (socket.writableEnded) return;
    socket.end('HTTP/1.1 413 Payload Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
  assert.equal(failed(await deliver(LARGE)).status, 413);
});

test('a connection that the receiver closes while it is idle is not used again', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  const open: Socket[] = [];
  receiver.default = (response, socket) => {
    open.push(socket);
    response.writeHead(204).end();
  };
  assert.equal(await deliver(), 'accepted');
  for (const socket of open) socket.end();
  await poll(() => receiver.open === 0, 'both sides to have closed');
  assert.equal(await deliver(), 'accepted');
  assert.equal(receiver.connections, 2);
});

for (const [how, close] of Object.entries({
  ends: (socket: Socket) => socket.end(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
})) {
  test(`a receiver that ${how} an idle connection during a send causes one retry of the lane`, async (t) => {
    const { deliver, connections } = await rawServer(t, (socket, request) => {
      if (request === 1) socket.write(OK);
      else close(socket);
    });
    assert.equal(await deliver(), 'accepted');
    const failure = failed(await deliver());
    assert.deepEqual([failure.code, failure.disposition, failure.scope], ['BRIDGE_SINK_BROKEN', 'retry', 'delivery']);
    assert.equal(await deliver(), 'accepted');
    assert.equal(connections(), 2);
  });
}

test('unexpected bytes on an idle connection close it, and are no answer to the next request', async (t) => {
  const { deliver, connections } = await rawServer(t, (socket) => {
    socket.write(OK, () => setImmediate(() => socket.write('HTTP/1.1 422 No\r\nContent-Length: 0\r\n\r\n')));
  });
  assert.equal(await deliver(), 'accepted');
  for (let turn = 0; turn < 20; turn += 1) await settle();
  assert.equal(await deliver(), 'accepted');
  assert.equal(connections(), 2);
});

for (const [name, head] of Object.entries({
  '100 Continue': 'HTTP/1.1 100 Continue\r\n\r\n',
  '103 Early Hints': 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n',
})) {
  test(`a few ${name} before the answer do no harm`, async (t) => {
    const { deliver } = await rawServer(t, (socket) => socket.write(head.repeat(5) + OK));
    assert.equal(await deliver(), 'accepted');
    assert.equal(await deliver(), 'accepted');
  });

  test(`a flood of ${name} is cut off long before the time limit`, async (t) => {
    const time = new VirtualTime();
    const { deliver, open } = await rawServer(
      t,
      (socket) => {
        const flood = () => {
          while (!socket.destroyed && socket.write(head.repeat(100)));
        };
        socket.on('drain', flood);
        flood();
      },
      { time },
    );
    const failure = failed(await deliver());
    assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_SINK_BROKEN', 'retry']);
    assert.match(failure.message, /interim answers/);
    await poll(() => open() === 0, 'the connection to be cut');
    assert.equal(time.pending, 0);
  });
}

test('headers that never end are cut off at the time limit, with their connection', async (t) => {
  const time = new VirtualTime();
  let dripped = 0;
  const { deliver, open } = await rawServer(
    t,
    (socket) => {
      const drip = () => {
        if (socket.destroyed) return;
        dripped += 1;
        socket.write(dripped === 1 ? 'HTTP/1.1 200 OK\r\nX-Slow: ' : 'a', () => setImmediate(drip));
      };
      drip();
    },
    { time, options: { timeout: '3s' } },
  );
  const outcome = deliver();
  await poll(() => dripped > 50, 'some drops');
  await time.advance(3000);
  assert.equal(failed(await outcome).code, 'BRIDGE_SINK_TIMEOUT');
  await poll(() => open() === 0, 'the connection to be cut');
});

/** Answers whose status line is fine → the outcome, and whether the connection may be used again. */
const ANSWERS: Readonly<Record<string, readonly [answer: string, outcome: string, kept: boolean]>> = {
  'headers just under 16 KiB': [`HTTP/1.1 204 No Content\r\nX: ${'x'.repeat(16_000)}\r\n\r\n`, 'accepted', true],
  'headers over 16 KiB': [`HTTP/1.1 204 No Content\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 'BRIDGE_SINK_BROKEN', false],
  'two thousand headers': [`HTTP/1.1 204 No Content\r\n${'a:b\r\n'.repeat(2000)}\r\n`, 'accepted', true],
  'ten thousand headers': [`HTTP/1.1 204 No Content\r\n${'a:b\r\n'.repeat(10_000)}\r\n`, 'BRIDGE_SINK_BROKEN', false],
  'chunks of no valid length': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n', 'accepted', false],
  'a chunk longer than any number': [
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'F'.repeat(40)}\r\n`,
    'accepted',
    false,
  ],
  'more than the content-length': [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n',
    'accepted',
    false,
  ],
  'two lengths that differ': [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokay',
    'BRIDGE_SINK_BROKEN',
    false,
  ],
  'a control character in a header': [
    'HTTP/1.1 200 OK\r\nX: a\u0001b\r\nContent-Length: 0\r\n\r\n',
    'BRIDGE_SINK_BROKEN',
    false,
  ],
  'a status of four digits': ['HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n', 'BRIDGE_SINK_BROKEN', false],
  'another protocol version': ['HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n', 'BRIDGE_SINK_BROKEN', false],
  'a switch of protocols that nobody asked for': [
    'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    'BRIDGE_SINK_UNAVAILABLE',
    false,
  ],
};

for (const [name, [answer, expected, kept]] of Object.entries(ANSWERS)) {
  test(`an answer with ${name} results in ${expected}; its connection is ${kept ? 'kept' : 'cut'}`, async (t) => {
    const { deliver, open } = await rawServer(t, (socket) => socket.write(answer));
    const outcome = await deliver();
    assert.equal(outcome === 'accepted' ? outcome : failed(outcome).code, expected);
    if (!kept) await poll(() => open() === 0, 'the connection to be cut');
    else assert.equal(open(), 1);
  });
}

test('two thousand deliveries to faulty receivers of every kind leave no connection, no timer and no listener', async (t) => {
  const time = new VirtualTime();
  const { receiver, adapter } = await startWebhook(t, { time });
  const kinds: readonly Answer[] = [
    'hang',
    'reset',
    (_response, socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
    (_response, socket) => socket.write('HTTP/1.1 200 OK\r\nX-Slow: a'),
    (_response, socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}`),
    (_response, socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
    (response) => response.writeHead(200, { 'content-length': 10 }).flushHeaders(),
    (response) => response.writeHead(200).end(Buffer.alloc(256 * 1024)),
  ];
  const before = tcpSockets();
  let outcomes = 0;
  for (let round = 0; round * 16 < 2000; round += 1) {
    receiver.default = kinds[round % kinds.length] ?? 'hang';
    const running = Array.from({ length: 16 }, (_, index) =>
      adapter.deliver([sampleDelivery({ seq: round * 16 + index })], never),
    );
    await receiver.waitFor((round + 1) * 16);
    // Whatever still waits, waits for a clock; what it waits for is not over before its turn came.
    const all = Promise.all(running).then((ended) => {
      outcomes += ended.length;
    });
    await poll(async () => {
      await time.advance(10_000);
      return outcomes === (round + 1) * 16;
    }, 'the round to end');
    await all;
  }
  assert.equal(outcomes, 2000);
  await poll(() => receiver.open === 0, 'every connection to be cut');
  assert.deepEqual([tcpSockets() - before, time.pending, getEventListeners(never, 'abort').length], [0, 0, 0]);
  receiver.default = { status: 204 };
  assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
});

function tcpSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}
