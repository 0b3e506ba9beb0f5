// A proxy that refuses, hangs or is away → what the lane shall do, in time, no connection left.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ConnectProxy, type ProxyAnswer } from '../../far-sides/connect-proxy.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { startWebhook, type WebhookSetup } from './start-webhook.ts';

/** A receiver behind a proxy, and a sink that knows both. */
async function fixture(t: TestContext, setup: WebhookSetup = {}) {
  const proxy = await ConnectProxy.start(t);
  const webhook = await startWebhook(t, { ...setup, options: { proxy: proxy.url, ...setup.options } });
  return { proxy, ...webhook };
}

const never = new AbortController().signal;

/** The proxy's answer to CONNECT → what it asks of the lane, and words of the message. */
const ANSWERS: Readonly<Record<string, readonly [answer: ProxyAnswer, disposition: string, says: RegExp]>> = {
  '407': [407, 'misconfigured', /answered 407 .*user and a password/],
  '403': [403, 'misconfigured', /answered 403 to CONNECT 127\.0\.0\.1:\d+: allow .+ on the proxy/],
  '401': [401, 'misconfigured', /answered 401/],
  '404': [404, 'misconfigured', /answered 404/],
  '301': [301, 'misconfigured', /answered 301/],
  '429': [429, 'retry', /answered 429/],
  '500': [500, 'retry', /answered 500/],
  '502': [502, 'retry', /answered 502 .*the bridge retries/],
  '503': [503, 'retry', /answered 503/],
  '103 and nothing more': [(socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 'retry', /answered 103/],
  'a 200 with more behind it': [
    (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'),
    'retry',
    /more than its answer/,
  ],
  'what is no HTTP': [(socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'), 'retry', /no valid answer to CONNECT/],
  'a header without end': [
    (socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`),
    'retry',
    /HPE_HEADER_OVERFLOW/,
  ],
  'the end of the connection': [(socket) => socket.end(), 'retry', /no valid answer to CONNECT/],
  'a cut': [(socket) => socket.destroy(), 'retry', /no valid answer to CONNECT/],
};

for (const [name, [answer, disposition, says]] of Object.entries(ANSWERS)) {
  test(`a delivery and a check report a proxy that answers CONNECT with ${name}, and leave no connection`, async (t) => {
    const { proxy, receiver, adapter, deliver } = await fixture(t);
    proxy.next(answer, answer);
    const failure = failed(await deliver());
    assert.deepEqual([failure.code, failure.disposition, failure.scope], ['BRIDGE_SINK_PROXY', disposition, 'sink']);
    assert.match(failure.message, says);
    assert.ok(failure.message.startsWith(`sink under-test: the proxy ${proxy.url} `), failure.message);
    await assert.rejects(adapter.check(never), {
      code: 'BRIDGE_SINK_PROXY',
      message: failure.message,
    });
    await poll(() => proxy.open === 0, 'the connections to close');
    assert.equal(receiver.connections, 0);
    assert.equal(await deliver(), 'accepted', 'and it recovers');
  });
}

test('an unreachable proxy is reported as such', async (t) => {
  const { proxy, deliver } = await fixture(t);
  const { url } = proxy;
  proxy.stop();
  const failure = failed(await deliver());
  assert.deepEqual([failure.code, failure.scope, failure.status], ['BRIDGE_SINK_UNREACHABLE', 'sink', 'ECONNREFUSED']);
  assert.ok(failure.message.includes(`the proxy ${url} cannot be reached`), failure.message);
});

test('a connection to a proxy that never answers CONNECT is closed at the time limit', async (t) => {
  const time = new VirtualTime();
  const { proxy, deliver } = await fixture(t, { time, options: { timeout: '3s' } });
  proxy.next(() => undefined);
  const outcome = deliver();
  await poll(() => proxy.requests.length === 1, 'the CONNECT');
  await time.advance(3000);
  assert.equal(failed(await outcome).code, 'BRIDGE_SINK_TIMEOUT');
  await poll(() => proxy.open === 0, 'the connection to be cut');
  assert.equal(time.pending, 0);
  assert.equal(await deliver(), 'accepted');
});

test('an abort ends a delivery and a check that wait for the proxy', async (t) => {
  const { proxy, adapter } = await fixture(t);
  proxy.default = () => undefined;
  const controller = new AbortController();
  const reason = new Error('the bridge is stopping');
  const ended = [adapter.deliver([sampleDelivery()], controller.signal), adapter.check(controller.signal)].map(
    (running) => assert.rejects(running, (error) => error === reason),
  );
  await poll(() => proxy.requests.length === 2, 'both CONNECTs');
  controller.abort(reason);
  await Promise.all(ended);
  await poll(() => proxy.open === 0, 'the connections to be cut');
});

test('the tunnel to a receiver that never answers is closed at the time limit', async (t) => {
  const time = new VirtualTime();
  const { proxy, receiver, deliver } = await fixture(t, { time, options: { timeout: '3s' } });
  receiver.next('hang');
  const outcome = deliver();
  await receiver.waitFor(1);
  await time.advance(3000);
  assert.equal(failed(await outcome).code, 'BRIDGE_SINK_TIMEOUT');
  await poll(() => proxy.open === 0 && receiver.open === 0, 'the tunnel to be cut');
});
