// A delivery → the webhook's request on the wire; no environment proxy, no redirect, keys in order.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { startWebhook } from './start-webhook.ts';

const never = new AbortController().signal;

test('a request is a POST of the unchanged bytes, with the CloudEvents content type, a length and the id (H-1, W-1)', async (t) => {
  const { receiver, deliver } = await startWebhook(t, {
    options: { headers: { 'X-Team': 'ops', Authorization: 'Bearer x' } },
  });
  assert.equal(await deliver(), 'accepted');
  const [request] = receiver.requests;
  const { bytes, id } = sampleDelivery();
  assert.equal(request?.method, 'POST');
  assert.deepEqual(request?.body, Buffer.from(bytes));
  assert.deepEqual(request?.headers, {
    host: `127.0.0.1:${receiver.port}`,
    'user-agent': 'scheduled-events-bridge',
    'x-team': 'ops',
    authorization: 'Bearer x',
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'content-length': String(bytes.byteLength),
    'webhook-id': id,
    connection: 'keep-alive',
  });
});

test('path and query arrive unchanged, the fragment is not sent', async (t) => {
  const { receiver } = await startWebhook(t);
  const { deliver } = await startWebhook(t, { options: { url: `${receiver.url}/a%20b?token=a%2Bb&x=1#part` } });
  assert.equal(await deliver(), 'accepted');
  assert.equal(receiver.requests[0]?.path, '/hook/a%20b?token=a%2Bb&x=1');
});

test('a configured user agent replaces the default', async (t) => {
  const { receiver, deliver } = await startWebhook(t, { options: { headers: { 'User-Agent': 'mine' } } });
  await deliver();
  assert.equal(receiver.requests[0]?.headers['user-agent'], 'mine');
});

test('a redirect is not followed, not even to the same host (W-11)', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  receiver.next({ status: 307, headers: { location: `${receiver.url}/elsewhere` } });
  assert.notEqual(await deliver(), 'accepted');
  assert.equal(receiver.requests.length, 1);
});

test('sixteen deliveries run at once, on sixteen connections', async (t) => {
  const { receiver, adapter } = await startWebhook(t);
  const held: (() => void)[] = [];
  receiver.default = (response) => void held.push(() => response.writeHead(204).end());
  assert.equal(adapter.limits.inFlight, 16);
  const running = Array.from({ length: 16 }, (_, index) =>
    adapter.deliver([sampleDelivery({ seq: index, partitionKey: `key-${index}` })], never),
  );
  await poll(() => held.length === 16, 'all sixteen requests');
  assert.equal(receiver.connections, 16);
  for (const release of held) release();
  assert.deepEqual(
    (await Promise.all(running)).flat(),
    Array.from({ length: 16 }, () => 'accepted'),
  );
});

test('a dispose waits for a running delivery, then leaves no connection open', async (t) => {
  const { receiver, adapter } = await startWebhook(t);
  let release = () => {};
  receiver.default = (response) => {
    release = () => void response.writeHead(204).end();
  };
  const running = adapter.deliver([sampleDelivery()], never);
  await receiver.waitFor(1);
  const disposal = adapter[Symbol.asyncDispose]();
  release();
  assert.deepEqual(await running, ['accepted']);
  await disposal;
  await poll(() => receiver.open === 0, 'the connections to close');
});

test('proxies of the environment are ignored, even if Node is configured to use them', async () => {
  await using receiver = await WebhookReceiver.start();
  await using proxy = await WebhookReceiver.start();
  const proxyUrl = `http://127.0.0.1:${proxy.port}`;
  const env = {
    ...process.env,
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: proxyUrl,
    http_proxy: proxyUrl,
    HTTPS_PROXY: proxyUrl,
    ALL_PROXY: proxyUrl,
    NO_PROXY: '',
  };
  const program = join(import.meta.dirname, 'deliver-once.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, receiver.url], { env });
  assert.equal(stdout, 'accepted\n');
  assert.deepEqual([receiver.requests.length, proxy.connections], [1, 0]);
});
