// An endpoint on loopback → what arrives of a delivery, and what each answer leads to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgeError, type Disposition } from '../../../src/errors.ts';
import { toColumns } from '../../../src/log-record/columns.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import { MOST_BYTES, RULE, STREAM } from '../../far-sides/azure-monitor/data-collection-endpoint.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { type Answer, WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { startAzureMonitor } from './start-azure-monitor.ts';

const never = new AbortController().signal;

test('a batch is one packed array of the columns of its CloudEvents', async (t) => {
  const { endpoint, entra, deliver } = await startAzureMonitor(t);
  assert.deepEqual(await deliver({ seq: 1 }, { seq: 2 }), ['accepted', 'accepted']);
  assert.deepEqual(
    endpoint.rows,
    [1, 2].map((seq) => toColumns(logRecord(sampleDelivery({ seq }).bytes))),
  );
  const { path, headers } = endpoint.receiver.requests[0] ?? assert.fail('nothing arrived');
  assert.equal(path, `/dataCollectionRules/${RULE}/streams/${STREAM}?api-version=2023-01-01`);
  assert.deepEqual([headers.authorization, headers['content-encoding']], ['Bearer token-1', 'gzip']);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(entra.requests[0]?.url.searchParams.get('resource'), 'https://monitor.azure.com');
});

test('a path of the endpoint stays before that of the API, with or without a slash', async (t) => {
  const { endpoint } = await startAzureMonitor(t);
  for (const path of ['/base', '/base/']) {
    const { deliver } = await startAzureMonitor(t, { options: { endpoint: `${endpoint.url}${path}` } });
    await deliver();
    assert.match(endpoint.receiver.requests.at(-1)?.path ?? '', /^\/base\/dataCollectionRules\//);
  }
});

const HOSTILE = ['"}{"x":"', '|=\\', 'a\nb\r\tc', '\0\u0001', '\u202eabc', '\ud800', '💥', 'x'.repeat(64 * 1024)];

test('texts with quotes, braces, line ends, NUL, marks and lone surrogates come out as they went in', async (t) => {
  const { endpoint, deliver } = await startAzureMonitor(t);
  await deliver(...HOSTILE.map((mark, index) => ({ seq: index + 1, mark })));
  assert.deepEqual(
    endpoint.rows.map(({ dataDescription }) => dataDescription),
    HOSTILE.map((text) => `Wartung für „WestNO“ ${text}`),
  );
});

test('a lane fills a batch so far that its body stays within 1 MiB, whatever fills the events', async (t) => {
  const { adapter, endpoint } = await startAzureMonitor(t);
  for (const text of ['', 'x'.repeat(500), '"\\'.repeat(2000), '💥'.repeat(30_000)]) {
    const one = sampleDelivery({ mark: text });
    const count = Math.min(adapter.limits.batch, Math.floor(adapter.limits.batchBytes / one.bytes.byteLength));
    assert.equal(failedOrAccepted(await adapter.deliver(Array(count).fill(one), never)), 'accepted');
  }
  assert.equal(endpoint.sizes.length, 4);
  assert.ok(Math.max(...endpoint.sizes) <= MOST_BYTES && Math.max(...endpoint.sizes) > MOST_BYTES / 3);
});

function failedOrAccepted(outcomes: readonly unknown[]): unknown {
  return outcomes.find((outcome) => outcome !== 'accepted') ?? 'accepted';
}

const ANSWERS: readonly (readonly [what: string, answer: Answer, disposition: Disposition, code: string, advice: RegExp])[] = [
  ['400', { status: 400 }, 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED', /check stream/],
  ['401', { status: 401 }, 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED', /belongs to the tenant of the rule/],
  ['403', { status: 403 }, 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED', /Monitoring Metrics Publisher/],
  ['404', { status: 404 }, 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED', /check endpoint, rule/],
  ['302', { status: 302 }, 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED', /redirects are never followed/],
  ['410', { status: 410 }, 'retired', 'BRIDGE_SINK_GONE', /retired/],
  ['413', { status: 413 }, 'refused', 'BRIDGE_SINK_REFUSED', /dead letters/],
  ['429', { status: 429 }, 'retry', 'BRIDGE_SINK_UNAVAILABLE', /tried again/],
  ['500', { status: 500 }, 'retry', 'BRIDGE_SINK_UNAVAILABLE', /tried again/],
  ['503', { status: 503 }, 'retry', 'BRIDGE_SINK_UNAVAILABLE', /tried again/],
  ['a page', { status: 200, body: '<html>Welcome</html>' }, 'retry', 'BRIDGE_SINK_ANSWER', /whether endpoint leads to/],
  ['200 with an error inside', { status: 200, body: '{"error":{}}' }, 'retry', 'BRIDGE_SINK_ANSWER', /not with 204/],
  ['a cut', (_, socket) => socket.destroy(), 'retry', 'BRIDGE_SINK_BROKEN', /broke off/],
  ['garbage', (_, socket) => socket.end('\0garbage\r\n\r\n'), 'retry', 'BRIDGE_SINK_BROKEN', /broke off/],
];

for (const [what, answer, disposition, code, advice] of ANSWERS)
  test(`${what} of the endpoint is ${disposition}`, async (t) => {
    const { endpoint, deliver } = await startAzureMonitor(t);
    endpoint.receiver.default = answer;
    const failure = await deliver().then(
      ([outcome]) => failed(outcome),
      (error: unknown) => error,
    );
    assert.ok(failure instanceof BridgeError);
    assert.deepEqual([failure.disposition, failure.code], [disposition, code]);
    assert.match(failure.message, advice);
  });

test('an answer of 1 GB is read no further than 8 MiB, and is no answer', async (t) => {
  const { endpoint, deliver } = await startAzureMonitor(t);
  let written = 0;
  endpoint.receiver.default = (response) => {
    response.writeHead(200, { 'content-length': 1024 ** 3 });
    const chunk = Buffer.alloc(64 * 1024);
    const more = () => {
      while (!response.destroyed && written < 1024 ** 3) {
        written += chunk.length;
        if (!response.write(chunk)) return response.once('drain', more);
      }
      return response.end();
    };
    more();
  };
  assert.equal(failed((await deliver())[0]).code, 'BRIDGE_SINK_ANSWER');
  assert.ok(written < 64 * 1024 ** 2, `${written} bytes`);
});

test('an endpoint whose certificate nobody knows is told so, and one of tls.ca is delivered to', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const foreign = await WebhookReceiver.start({ tls: await authority.issue('IP:127.0.0.1') });
  t.after(() => foreign.stop());
  const options = { endpoint: new URL(foreign.url).origin };
  const distrusted = await startAzureMonitor(t, { options });
  assert.equal(failed((await distrusted.deliver())[0]).code, 'BRIDGE_SINK_TLS');
  assert.equal(foreign.requests.length, 0);
  const trusted = await startAzureMonitor(t, { options: { ...options, tls: { ca: authority.file } } });
  assert.deepEqual(await trusted.deliver(), ['accepted']);
});

test('a check gets a token and connects, and posts nothing', async (t) => {
  const { adapter, endpoint, entra } = await startAzureMonitor(t);
  assert.equal(await adapter.check(never), null);
  assert.deepEqual([entra.requests.length, endpoint.receiver.connections, endpoint.receiver.requests.length], [1, 1, 0]);
});

test('a check without a token says why, and a receiver that is away is told before', async (t) => {
  const { adapter, entra, endpoint } = await startAzureMonitor(t);
  entra.answer = () => ({ status: 400, body: { error: 'invalid_request', error_description: 'Identity not found' } });
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_AZURE_REFUSED', message: /^sinks\.under-test: .*Identity not found/ });
  await endpoint.receiver.stop();
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_SINK_UNREACHABLE' });
});
