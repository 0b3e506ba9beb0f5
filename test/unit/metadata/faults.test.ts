// Failed requests to the metadata service → what the operator reads, and the label of the metric.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { mayHaveArrived, networkError, notTheService, resultLabel, statusError } from '../../../src/metadata/faults.ts';

const AZURE = 'http://169.254.169.254/metadata/scheduledevents';
const OTHER = 'http://user:secret@127.0.0.1:8080/metadata/scheduledevents';

function answered(status: number, headers: Record<string, string> = {}, method?: 'GET' | 'POST'): BridgeError {
  return statusError({ status, headers, body: new Uint8Array() }, AZURE, 0, method);
}

function broken(code: string, url = AZURE): BridgeError {
  return networkError(Object.assign(new Error('socket'), { code }), url);
}

test('an answer other than 200 names the service, the status and what to do', () => {
  const advice = (status: number, method?: 'GET' | 'POST') =>
    answered(status, {}, method).message.replace(
      `the metadata service at http://169.254.169.254 answered ${status}: `,
      '',
    );
  const rejected =
    'it rejected the api-version or the Metadata header: check metadata.apiVersion, and that nothing on the way removes headers';
  assert.equal(advice(400), rejected);
  assert.equal(advice(400, 'GET'), rejected);
  assert.equal(
    advice(400, 'POST'),
    'it does not list the event, or rejected the request: check which events it lists now',
  );
  assert.equal(advice(405, 'POST'), 'another service answers at this address: check metadata.endpoint');
  assert.equal(advice(500), 'a fault of the service; the bridge retries');
  for (const status of [204, 304, 499]) assert.equal(advice(status), 'an unexpected answer; the bridge retries');
  for (const status of [300, 399]) assert.match(advice(status), /^the service never redirects, .* are not followed$/);
});

test('an answer through a proxy says so, by its Via header or as an HTML page', () => {
  const proxy = '; the answer came through a proxy (it has a Via header): exclude the service from the proxy';
  const page = '; it sent an HTML page, so a proxy may have answered instead';
  const { message } = answered(500, { 'content-type': 'application/json' });
  assert.equal(answered(500, { via: '1.1 squid' }).message, `${message}${proxy}`);
  assert.equal(answered(500, { 'content-type': 'text/html; charset=utf-8' }).message, `${message}${page}`);
  assert.equal(answered(500, { via: '1.1 squid', 'content-type': 'text/html' }).message, `${message}${page}${proxy}`);
});

test('the error of an answer has its status, and the wait that a Retry-After asks for', () => {
  const { code, status, retryAfterMs } = answered(429, { 'retry-after': '7' });
  assert.deepEqual([code, status, retryAfterMs], ['BRIDGE_METADATA_STATUS', 429, 7_000]);
  assert.deepEqual([answered(429).status, answered(429).retryAfterMs], [429, undefined]);
});

test('an error of the network says if the service was not reached or the connection was cut, and what to check', () => {
  const listens = '(ECONNREFUSED): check metadata.endpoint, and that the service listens there';
  assert.equal(
    broken('ECONNREFUSED', OTHER).message,
    `cannot reach the metadata service at http://127.0.0.1:8080 ${listens}`,
  );
  assert.match(broken('ENETUNREACH').message, /^cannot reach .* \(ENETUNREACH\): check that this is an Azure VM/);
  for (const code of ['ECONNRESET', 'EPIPE', 'ECONNABORTED'])
    assert.match(broken(code).message, /^the connection to the metadata service at http:\S+ was closed early \(E/);
  assert.match(broken('ENOTFOUND', OTHER).message, /8080: .*, or metadata\.endpoint$/);
  const own = new BridgeError('BRIDGE_METADATA_TIMEOUT', 'too late');
  assert.equal(networkError(own, AZURE), own);
  assert.match(networkError(new Error('odd'), AZURE).message, /\(unknown error\)/);
});

test('an answer that is not HTTP, or has too many headers, is one of another service', () => {
  const text = (code: string, url: string) => {
    const error = broken(code, url);
    assert.equal(error.code, 'BRIDGE_METADATA_INVALID');
    assert.equal((error.cause as { readonly code: string }).code, code);
    return error.message;
  };
  const [from, check] = ['the answer of http://127.0.0.1:8080', ': check metadata.endpoint'];
  assert.equal(text('HPE_HEADER_OVERFLOW', OTHER), `${from} has more than 16 KiB of headers${check}`);
  assert.equal(text('HPE_INVALID_CONSTANT', OTHER), `${from} is not HTTP (HPE_INVALID_CONSTANT)${check}`);
  assert.equal(notTheService('nowhere', 'is empty').message, `the answer of the configured endpoint is empty${check}`);
});

test('a request may have arrived unless it was answered, or was never sent', () => {
  const closed = new BridgeError('BRIDGE_METADATA_CLOSED', 'closed');
  const never = [answered(400), closed, ...['ECONNREFUSED', 'ENETUNREACH'].map((code) => broken(code))];
  assert.deepEqual(never.map(mayHaveArrived), [false, false, false, false]);
  const perhaps = [new BridgeError('BRIDGE_METADATA_TIMEOUT', 'late'), broken('ECONNRESET'), broken('ECONNABORTED')];
  assert.deepEqual(perhaps.map(mayHaveArrived), [true, true, true]);
});

test('each failure has its label', () => {
  const labels = (errors: readonly BridgeError[]) => errors.map(resultLabel);
  assert.deepEqual(labels([300, 304, 399, 400, 404, 418, 500, 599, 600].map((status) => answered(status))), [
    ...['redirect', 'other', 'redirect', 'status_400', 'status_404', 'other', 'status_5xx', 'status_5xx', 'other'],
  ]);
  for (const code of ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'])
    assert.equal(resultLabel(broken(code)), 'refused', code);
  for (const code of ['ECONNRESET', 'EPIPE', 'ECONNABORTED']) assert.equal(resultLabel(broken(code)), 'reset', code);
  assert.equal(resultLabel(broken('ENOTFOUND')), 'other');
  assert.equal(resultLabel(broken('HPE_INVALID_CONSTANT')), 'invalid');
});
