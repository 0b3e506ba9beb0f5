// An endpoint on loopback → the rows that arrive, and the outcome of each answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgeError, type Disposition } from '../../../src/errors.ts';
import { toColumns } from '../../../src/log-record/columns.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import { MAX_BYTES, RULE, STREAM } from '../../far-sides/azure-monitor/data-collection-endpoint.ts';
import type { Answer } from '../../far-sides/webhook-receiver.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { startAzureMonitor } from './start-azure-monitor.ts';

const never = new AbortController().signal;

test('a batch is one compressed array with the columns of its CloudEvents', async (t) => {
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

test('a path of the endpoint stays before the path of the API, with or without a slash', async (t) => {
  const { endpoint } = await startAzureMonitor(t);
  for (const path of ['/base', '/base/']) {
    const { deliver } = await startAzureMonitor(t, { options: { endpoint: `${endpoint.url}${path}` } });
    await deliver();
    assert.match(endpoint.receiver.requests.at(-1)?.path ?? '', /^\/base\/dataCollectionRules\//);
  }
});

test('the body of a full batch stays within 1 MiB for any content of the events', async (t) => {
  const { adapter, endpoint } = await startAzureMonitor(t);
  for (const text of ['', 'x'.repeat(500), '"\\'.repeat(2000), '💥'.repeat(30_000)]) {
    const one = sampleDelivery({ mark: text });
    const count = Math.min(adapter.limits.batch, Math.floor(adapter.limits.batchBytes / one.bytes.byteLength));
    assert.equal(failedOrAccepted(await adapter.deliver(Array(count).fill(one), never)), 'accepted');
  }
  assert.equal(endpoint.sizes.length, 4);
  assert.ok(Math.max(...endpoint.sizes) <= MAX_BYTES && Math.max(...endpoint.sizes) > MAX_BYTES / 3);
});

function failedOrAccepted(outcomes: readonly unknown[]): unknown {
  return outcomes.find((outcome) => outcome !== 'accepted') ?? 'accepted';
}

const ANSWERS: readonly (readonly [
  what: string,
  answer: Answer,
  disposition: Disposition,
  code: string,
  advice: RegExp,
])[] = [
  ['400', { status: 400 }, 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED', /check stream/],
  ['401', { status: 401 }, 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED', /belongs to the tenant of the rule/],
  ['403', { status: 403 }, 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED', /Monitoring Metrics Publisher/],
  ['404', { status: 404 }, 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED', /check endpoint, rule/],
  [
    'a page',
    { status: 200, body: '<html>Welcome</html>' },
    'retry',
    'BRIDGE_SINK_ANSWER',
    /check that endpoint points to/,
  ],
  ['200 with an error inside', { status: 200, body: '{"error":{}}' }, 'retry', 'BRIDGE_SINK_ANSWER', /not with 204/],
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

test('a check gets a token, connects and posts nothing', async (t) => {
  const { adapter, endpoint, entra } = await startAzureMonitor(t);
  assert.equal(await adapter.check(never), null);
  assert.deepEqual(
    [entra.requests.length, endpoint.receiver.connections, endpoint.receiver.requests.length],
    [1, 1, 0],
  );
});

test('a check without a token reports the cause, and an unreachable endpoint first', async (t) => {
  const { adapter, entra, endpoint } = await startAzureMonitor(t);
  entra.answer = () => ({ status: 400, body: { error: 'invalid_request', error_description: 'Identity not found' } });
  await assert.rejects(adapter.check(never), {
    code: 'BRIDGE_AZURE_REFUSED',
    message: /^sinks\.under-test: .*Identity not found/,
  });
  await endpoint.receiver.stop();
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_SINK_UNREACHABLE' });
});
