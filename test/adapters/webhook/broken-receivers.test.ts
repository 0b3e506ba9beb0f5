// Receivers that are slow, silent, endless or broken → a delivery's outcome, and always an end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Answer } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createWebhook, startWebhook } from './start-webhook.ts';

test('a delivery to a receiver that never answers ends at the time limit, not before, and is retried', async (t) => {
  const time = new VirtualTime();
  const { receiver, deliver } = await startWebhook(t, { time, options: { timeout: '3s' } });
  receiver.next('hang');
  const outcome = deliver();
  await receiver.waitFor(1);
  let ended = false;
  void outcome.then(() => {
    ended = true;
  });
  await time.advance(2999);
  assert.equal(ended, false);
  await time.advance(1);
  const failure = failed(await outcome);
  assert.deepEqual([failure.code, failure.disposition, failure.scope], ['BRIDGE_SINK_TIMEOUT', 'retry', 'delivery']);
  assert.match(failure.message, /did not answer within 3s/);
  await poll(() => receiver.open === 0, 'the connection to be cut');
  assert.equal(time.pending, 0, 'no timer is left');
  assert.equal(await deliver(), 'accepted', 'the next delivery has a connection of its own');
});

test('a jump of the wall clock neither ends a delivery early nor prolongs it', async (t) => {
  const time = new VirtualTime();
  const { receiver, deliver } = await startWebhook(t, { time, options: { timeout: '3s' } });
  receiver.next('hang');
  const outcome = deliver();
  await receiver.waitFor(1);
  time.jumpWall(3_600_000);
  await time.advance(2999);
  time.jumpWall(-7_200_000);
  await time.advance(1);
  assert.equal(failed(await outcome).code, 'BRIDGE_SINK_TIMEOUT');
});

test('headers that arrive byte by byte do not exceed the time limit', async (t) => {
  const time = new VirtualTime();
  const { receiver, deliver } = await startWebhook(t, { time, options: { timeout: '3s' } });
  receiver.next((_response, socket) => socket.write('HTTP/1.1 200 OK\r\nX-Slow: a'));
  const outcome = deliver();
  await receiver.waitFor(1);
  await time.advance(3000);
  assert.equal(failed(await outcome).code, 'BRIDGE_SINK_TIMEOUT');
});

test('the status decides as soon as it arrives, even if the body never does', async (t) => {
  const time = new VirtualTime();
  const { receiver, deliver } = await startWebhook(t, { time });
  receiver.default = (response) => response.writeHead(200, { 'content-length': 10 }).flushHeaders();
  const outcome = deliver();
  await poll(() => time.pending > 1, 'the status to arrive');
  await time.advance(1000);
  assert.equal(await outcome, 'accepted');
  await poll(() => receiver.open === 0, 'the connection to be cut');
});

test('an abort while only the body is missing keeps the outcome of the status', async (t) => {
  const time = new VirtualTime();
  const { receiver, deliver } = await startWebhook(t, { time });
  receiver.default = (response) => response.writeHead(200, { 'content-length': 10 }).flushHeaders();
  const controller = new AbortController();
  const outcome = deliver(controller.signal);
  await poll(() => time.pending > 1, 'the status to arrive');
  controller.abort();
  assert.equal(await outcome, 'accepted');
});

test('an endless body is cut off at its limit and changes nothing (W-14)', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  let sent = 0;
  receiver.next((response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384))) sent += 16_384;
    };
    response.on('drain', more);
    response.on('error', () => {});
    more();
  });
  assert.equal(await deliver(), 'accepted');
  await poll(() => receiver.open === 0, 'the connection to be cut');
  assert.ok(sent < 32 * 1024 ** 2, 'it was not read to the end of patience');
});

for (const [status, expected] of [
  [200, 'accepted'],
  [400, 'BRIDGE_SINK_REFUSED'],
] as const) {
  test(`a reset in the middle of the body of a ${status} changes nothing`, async (t) => {
    const time = new VirtualTime();
    const { receiver, deliver } = await startWebhook(t, { time });
    let reset = () => {};
    receiver.next((response, socket) => {
      reset = () => void socket.resetAndDestroy();
      response.writeHead(status, { 'content-length': 100 }).write('half');
    });
    const outcome = deliver();
    await poll(() => time.pending > 1, 'the status to arrive');
    reset();
    const ended = await outcome;
    assert.equal(ended === 'accepted' ? ended : failed(ended).code, expected);
    assert.equal(time.pending, 0, 'no timer is left');
  });
}

const BROKEN: Readonly<Record<string, Answer>> = {
  'a reset before any answer': 'reset',
  'a connection that ends before any answer': (_response, socket) => socket.end(),
  'a reset in the middle of the headers': (_response, socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Le', () => socket.resetAndDestroy()),
  'what is no HTTP': (_response, socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
  'a header without end': (_response, socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}`),
  'both content-length and transfer-encoding': (_response, socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
};

for (const [name, answer] of Object.entries(BROKEN)) {
  test(`${name} is retried, as a new request of the lane`, async (t) => {
    const { receiver, deliver } = await startWebhook(t);
    receiver.next(answer);
    const failure = failed(await deliver());
    assert.deepEqual([failure.code, failure.disposition, failure.scope], ['BRIDGE_SINK_BROKEN', 'retry', 'delivery']);
    assert.equal(receiver.requests.length, 1, 'the adapter itself repeats nothing');
    assert.equal(await deliver(), 'accepted');
    assert.deepEqual(receiver.requests[0]?.body, receiver.requests[1]?.body);
    assert.equal(receiver.requests[0]?.headers['webhook-id'], receiver.requests[1]?.headers['webhook-id']);
  });
}

test('a port without a listener is reported for the whole sink, with the reason', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  await receiver.stop();
  const failure = failed(await deliver());
  assert.deepEqual(
    [failure.code, failure.disposition, failure.scope, failure.status],
    ['BRIDGE_SINK_UNREACHABLE', 'retry', 'sink', 'ECONNREFUSED'],
  );
});

test('a name that does not resolve is reported for the whole sink', async (t) => {
  const { adapter } = createWebhook(t, {
    options: { url: 'http://nowhere.test/hook' },
    resolve: (_host, _options, done) =>
      done(Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.test'), { code: 'ENOTFOUND' }), []),
  });
  const never = new AbortController().signal;
  const [outcome] = await adapter.deliver([sampleDelivery()], never);
  assert.deepEqual(
    [failed(outcome).code, failed(outcome).scope, failed(outcome).status],
    ['BRIDGE_SINK_UNREACHABLE', 'sink', 'ENOTFOUND'],
  );
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_SINK_UNREACHABLE' });
});

test('a hanging look-up ends at the time limit and at an abort', async (t) => {
  const time = new VirtualTime();
  let lookups = 0;
  const resolve = () => {
    lookups += 1;
  };
  const { adapter } = createWebhook(t, { options: { url: 'http://slow.test/hook' }, time, resolve });
  const outcome = adapter.deliver([sampleDelivery()], new AbortController().signal);
  await poll(() => lookups === 1, 'the look-up');
  await time.advance(10_000);
  assert.equal(failed((await outcome)[0]).code, 'BRIDGE_SINK_TIMEOUT');
  const controller = new AbortController();
  const checking = assert.rejects(adapter.check(controller.signal), { name: 'AbortError' });
  await poll(() => lookups === 2, 'the second look-up');
  controller.abort();
  await checking;
});

test('a check passes for a receiver that accepts connections and never answers; it fails for an unreachable one', async (t) => {
  const silent = await silentServer(t);
  const { adapter } = createWebhook(t, { options: { url: silent.url } });
  await adapter.check(new AbortController().signal);
  await poll(() => silent.ended() === 1, 'the connection to be closed again');
  assert.equal(silent.bytes(), 0, 'no byte of a request was sent');
});

test('an idle connection is reused, unless the receiver announced its end', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  assert.equal(await deliver(), 'accepted');
  receiver.next({ status: 204, headers: { connection: 'close' } });
  assert.equal(await deliver(), 'accepted');
  assert.equal(receiver.connections, 1);
  assert.equal(await deliver(), 'accepted');
  assert.equal(receiver.connections, 2);
});

/** Takes connections and never says a word. */
async function silentServer(t: TestContext) {
  let bytes = 0;
  let ended = 0;
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.on('close', () => {
      ended += 1;
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}/hook`, bytes: () => bytes, ended: () => ended };
}
