// A sink with a proxy → CONNECT to an address checked here, and what the proxy's faults lead to.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Resolve } from '../../../src/net/private-addresses.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { ConnectProxy } from '../../far-sides/connect-proxy.ts';
import { trapProxy } from '../../far-sides/trap-proxy.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createWebhook, startWebhook, type WebhookSetup } from './start-webhook.ts';

const never = new AbortController().signal;

/** A receiver behind a proxy, and a sink that knows both. */
async function fixture(t: TestContext, setup: WebhookSetup = {}) {
  const proxy = await ConnectProxy.start(t);
  const webhook = await startWebhook(t, { ...setup, options: { proxy: proxy.url, ...setup.options } });
  return { proxy, ...webhook };
}

/** A name service with these answers, in order, the last one for good. */
function names(...answers: readonly (readonly string[])[]): Resolve {
  let asked = 0;
  return (_host, _options, done) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

test('CONNECT is also used for an http:// url, on a connection that is kept', async (t) => {
  const { proxy, receiver, deliver } = await fixture(t);
  assert.equal(await deliver(), 'accepted');
  assert.equal(await deliver(), 'accepted');
  const authority = `127.0.0.1:${receiver.port}`;
  assert.deepEqual(
    proxy.requests.map((request) => [request.authority, request.headers]),
    [[authority, { host: authority, connection: 'close' }]],
  );
  assert.deepEqual([receiver.requests.length, receiver.connections], [2, 1]);
  assert.equal(receiver.requests[0]?.headers.host, authority);
});

test('TLS with an https:// url is inside the tunnel, with its own name, although the proxy gets its address', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const receiver = await WebhookReceiver.start({ tls: await authority.issue('DNS:named.test') });
  t.after(() => receiver.stop());
  const proxy = await ConnectProxy.start(t);
  const options = { url: `https://named.test:${receiver.port}/hook`, proxy: proxy.url, tls: { ca: authority.file } };
  const { adapter } = createWebhook(t, { options, resolve: names(['127.0.0.1']) });
  await adapter.check(never);
  assert.equal(receiver.requests.length, 0);
  assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
  assert.deepEqual(
    proxy.requests.map((request) => request.authority),
    [`127.0.0.1:${receiver.port}`, `127.0.0.1:${receiver.port}`],
  );
  await adapter[Symbol.asyncDispose]();
  await poll(() => proxy.open === 0, 'every connection to close');
});

test('a proxy may use TLS; tls.ca applies to both', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const receiver = await WebhookReceiver.start({ tls: await authority.issue('IP:127.0.0.1') });
  t.after(() => receiver.stop());
  const proxy = await ConnectProxy.start(t, { tls: await authority.issue('IP:127.0.0.1') });
  const options = { url: receiver.url, proxy: proxy.url };
  const { adapter } = createWebhook(t, { options: { ...options, tls: { ca: authority.file } } });
  await adapter.check(never);
  assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
  await adapter[Symbol.asyncDispose]();
  await poll(() => proxy.open === 0 && receiver.open === 0, 'every connection to close');

  const { adapter: mistrusting } = createWebhook(t, { options });
  const failure = failed((await mistrusting.deliver([sampleDelivery()], never))[0]);
  assert.equal(failure.code, 'BRIDGE_SINK_TLS');
  assert.match(failure.message, /the proxy https:/);
});

test('a check of an http:// url through a proxy with TLS passes as soon as the tunnel is open', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const { receiver } = await startWebhook(t);
  const proxy = await ConnectProxy.start(t, { tls: await authority.issue('IP:127.0.0.1') });
  const time = new VirtualTime();
  const { adapter } = createWebhook(t, {
    options: { url: receiver.url, proxy: proxy.url, tls: { ca: authority.file } },
    time,
  });
  await adapter.check(never);
  assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
  await adapter[Symbol.asyncDispose]();
  await poll(() => proxy.open === 0, 'every connection to close');
});

test('the proxy gets a checked address: a name that changes its answer cannot redirect it', async (t) => {
  const { receiver } = await startWebhook(t);
  const proxy = await ConnectProxy.start(t);
  const options = { url: `http://named.test:${receiver.port}/hook`, proxy: proxy.url };
  const { adapter } = createWebhook(t, { options, resolve: names(['169.254.169.254', '127.0.0.1'], ['10.0.0.5']) });
  receiver.next({ status: 204, headers: { connection: 'close' } });
  assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
  const [outcome] = await adapter.deliver([sampleDelivery()], never);
  assert.equal(failed(outcome).code, 'BRIDGE_SINK_FORBIDDEN_ADDRESS');
  assert.deepEqual(
    proxy.requests.map(({ authority }) => authority),
    [`127.0.0.1:${receiver.port}`],
  );
});

for (const url of [
  'http://10.0.0.5/hook',
  'http://169.254.169.254/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://0xa83f8110/',
]) {
  test(`${url} is rejected before the proxy gets a request`, async (t) => {
    const { proxy, adapter } = await fixture(t, { options: { url } });
    const [outcome] = await adapter.deliver([sampleDelivery()], never);
    assert.equal(failed(outcome).code, 'BRIDGE_SINK_FORBIDDEN_ADDRESS');
    await assert.rejects(adapter.check(never), { code: 'BRIDGE_SINK_FORBIDDEN_ADDRESS' });
    assert.equal(proxy.connections, 0);
  });
}

test('the proxy may have a private address that is forbidden for deliveries', async (t) => {
  const proxy = await ConnectProxy.start(t, { host: '127.0.0.2' });
  const { deliver } = await startWebhook(t, { options: { proxy: proxy.url, allowPrivate: ['127.0.0.1/32'] } });
  assert.equal(await deliver(), 'accepted');
});

test('a proxy with a name that resolves to the metadata service is rejected', async (t) => {
  const options = { url: 'http://127.0.0.1:9/', proxy: 'http://proxy.test:3128' };
  const { adapter } = createWebhook(t, { options, resolve: names(['169.254.169.254', '::ffff:168.63.129.16']) });
  const failure = failed((await adapter.deliver([sampleDelivery()], never))[0]);
  assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_SINK_FORBIDDEN_ADDRESS', 'misconfigured']);
  assert.match(failure.message, /the proxy http:\/\/proxy\.test:3128.*correct proxy/);
});

test('if the proxy cannot reach an address, the sink tries the next one of the same name', async (t) => {
  const { receiver } = await startWebhook(t);
  const proxy = await ConnectProxy.start(t);
  proxy.next(502);
  const options = {
    url: `http://named.test:${receiver.port}/hook`,
    proxy: proxy.url,
    allowPrivate: ['127.0.0.0/8', '::1/128'],
  };
  const { adapter } = createWebhook(t, { options, resolve: names(['::1', '127.0.0.1']) });
  assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
  assert.deepEqual(
    proxy.requests.map(({ authority }) => authority),
    [`[::1]:${receiver.port}`, `127.0.0.1:${receiver.port}`],
  );
});

test('user and password of a secret are sent to the proxy, and never shown', async (t) => {
  const proxy = await ConnectProxy.start(t);
  const secret = proxy.url.replace('http://', 'http://us%20er:p%40ss-nobody-may-see@');
  const { adapter, deps, deliver } = await startWebhook(t, {
    options: { proxy: { env: 'PROXY' } },
    secrets: { PROXY: secret },
  });
  assert.equal(await deliver(), 'accepted');
  assert.equal(proxy.requests[0]?.headers['proxy-authorization'], `Basic ${btoa('us er:p@ss-nobody-may-see')}`);
  proxy.next(407);
  const { adapter: second } = createWebhook(t, {
    options: { url: 'http://127.0.0.1:9/', proxy: { env: 'PROXY' } },
    secrets: { PROXY: secret },
  });
  const failure = failed((await second.deliver([sampleDelivery()], never))[0]);
  const shown = [
    failure.message,
    failure.stack,
    JSON.stringify(failure),
    JSON.stringify(adapter),
    deps.logged(),
  ].join();
  assert.doesNotMatch(shown, /nobody-may-see|p%40ss|us%20er/);
});

test('the headers of a sink are sent only to its receiver', async (t) => {
  const { proxy, receiver, deliver } = await fixture(t, {
    options: { headers: { authorization: 'Bearer of-the-receiver' } },
  });
  assert.equal(await deliver(), 'accepted');
  assert.equal(proxy.requests[0]?.headers.authorization, undefined);
  assert.equal(receiver.requests[0]?.headers.authorization, 'Bearer of-the-receiver');
});

for (const scheme of ['http', 'https'] as const) {
  for (const own of [false, true]) {
    test(`proxies of the environment are never used, for ${scheme}:// ${own ? 'with' : 'without'} a proxy of the sink`, async (t) => {
      const authority = await CertificateAuthority.create(t);
      await using receiver = await WebhookReceiver.start(
        scheme === 'https' ? { tls: await authority.issue('IP:127.0.0.1') } : {},
      );
      const proxy = await ConnectProxy.start(t);
      const trap = await trapProxy(t);
      const options = { ...(scheme === 'https' && { tls: { ca: authority.file } }), ...(own && { proxy: proxy.url }) };
      const program = join(import.meta.dirname, 'deliver-once.ts');
      const { stdout } = await promisify(execFile)(process.execPath, [program, receiver.url, JSON.stringify(options)], {
        env: { ...process.env, ...trap.env, NO_PROXY: '', no_proxy: '' },
      });
      assert.equal(stdout, 'accepted\n');
      assert.deepEqual([receiver.requests.length, proxy.requests.length, trap.visits()], [1, own ? 1 : 0, 0]);
    });
  }
}
