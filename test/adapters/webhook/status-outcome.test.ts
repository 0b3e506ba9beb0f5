// Every row of the status table, on the wire, and Retry-After in both forms and in hostile ones.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Disposition, ErrorCode } from '../../../src/errors.ts';
import type { Answer } from '../../far-sides/webhook-receiver.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { startWebhook } from './start-webhook.ts';

const ACCEPTED = [200, 201, 202, 204, 207, 299];
const ROWS: readonly (readonly [
  code: ErrorCode,
  disposition: Disposition,
  scope: 'delivery' | 'sink',
  advice: RegExp,
  statuses: readonly number[],
])[] = [
  ['BRIDGE_SINK_MISCONFIGURED', 'misconfigured', 'sink', /final URL/, [300, 301, 302, 303, 304, 307, 308, 399]],
  ['BRIDGE_SINK_MISCONFIGURED', 'misconfigured', 'sink', /credentials/, [401, 403]],
  ['BRIDGE_SINK_MISCONFIGURED', 'misconfigured', 'sink', /path/, [404]],
  ['BRIDGE_SINK_GONE', 'retired', 'sink', /retired/, [410]],
  [
    'BRIDGE_SINK_REFUSED',
    'refused',
    'delivery',
    /becomes a dead letter/,
    [400, 402, 405, 406, 409, 411, 412, 413, 414, 415, 418, 422, 426, 428, 431, 451, 499],
  ],
  [
    'BRIDGE_SINK_UNAVAILABLE',
    'retry',
    'delivery',
    /the bridge retries/,
    [408, 425, 429, 500, 501, 502, 503, 504, 507, 599, 600, 999],
  ],
];

test('every 2xx is an acceptance', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  for (const status of ACCEPTED) {
    receiver.next({ status });
    assert.equal(await deliver(), 'accepted', `${status}`);
  }
});

for (const [code, disposition, scope, advice, statuses] of ROWS) {
  test(`${statuses.join(', ')}: ${disposition}, ${advice.source}`, async (t) => {
    const { receiver, deliver } = await startWebhook(t);
    for (const status of statuses) {
      receiver.next({ status, headers: { location: 'http://127.0.0.1:1/elsewhere' } });
      const failure = failed(await deliver());
      assert.equal(failure.code, code, `${status}`);
      assert.deepEqual(
        [failure.disposition, failure.scope, failure.status, failure.untilRestart],
        [disposition, scope, status, false],
      );
      assert.match(failure.message, new RegExp(`^sink under-test: http://127\\.0\\.0\\.1:\\d+ answered ${status}: `));
      assert.match(failure.message, advice);
    }
    assert.equal(
      receiver.requests.length,
      statuses.length,
      'each delivery was one request, never repeated or redirected',
    );
  });
}

test('a 101 does not accept: retry', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  receiver.next((_response, socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: tea\r\n\r\n'),
  );
  assert.deepEqual(pick(failed(await deliver())), ['BRIDGE_SINK_UNAVAILABLE', 'retry', 101]);
});

test('interim answers (100, 103) are not the answer', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  receiver.next((response) => {
    response.writeContinue();
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    response.writeHead(400).end();
  });
  assert.deepEqual(pick(failed(await deliver())), ['BRIDGE_SINK_REFUSED', 'refused', 400]);
});

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);
const PAUSES: readonly (readonly [retryAfter: string, pauseMs: number | undefined])[] = [
  ['0', 0],
  ['7', 7000],
  ['3600', 3_600_000],
  ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
  ['Thursday, 01-Jan-26 12:00:30 GMT', 30_000],
  ['Thu Jan  1 12:00:30 2026', 30_000],
  ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
  ['99999999999999999999999', Number.MAX_SAFE_INTEGER],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e9', undefined],
  ['0x10', undefined],
  ['soon', undefined],
  ['', undefined],
  ['Thu, 99 Foo 2026 12:00:30 GMT', undefined],
];

for (const [retryAfter, pauseMs] of PAUSES) {
  test(`Retry-After "${retryAfter}" asks for ${pauseMs === undefined ? 'nothing' : `${pauseMs} ms`}`, async (t) => {
    const failure = await failureOf(t, { status: 503, headers: { 'retry-after': retryAfter } });
    assert.equal(failure.retryAfterMs, pauseMs);
    assert.equal(failure.disposition, 'retry');
  });
}

test('of two Retry-After headers the first counts', async (t) => {
  const failure = await failureOf(t, (response) =>
    response.writeHead(429, ['Retry-After', '5', 'Retry-After', '500']).end(),
  );
  assert.equal(failure.retryAfterMs, 5000);
});

test('a Retry-After on a slowly retried status counts too', async (t) => {
  assert.equal((await failureOf(t, { status: 403, headers: { 'retry-after': '7' } })).retryAfterMs, 7000);
});

test('a Retry-After on a status that is not retried has no effect', async (t) => {
  assert.equal((await failureOf(t, { status: 400, headers: { 'retry-after': '7' } })).retryAfterMs, undefined);
});

async function failureOf(t: TestContext, answer: Answer) {
  const { receiver, deliver } = await startWebhook(t, { time: new VirtualTime({ startMs: NOW }) });
  receiver.next(answer);
  return failed(await deliver());
}

function pick(failure: ReturnType<typeof failed>) {
  return [failure.code, failure.disposition, failure.status];
}
