// A webhook's keys → options, and every fault of them; none repeats a possible secret.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { webhookSink } from '../../../../adapters/webhook/webhook.ts';
import { webhookOptions } from '../../../../adapters/webhook/webhook-options.ts';
import { adapterDeps } from '../../../adapters/adapter-deps.ts';
import { openSecrets } from '../../../adapters/contract.ts';
import { type OptionFaults, testOptionFaults } from '../../../adapters/webhook/option-faults.ts';

const URL_OK = 'https://hooks.example.com/services/T0/B0';

test('a URL is enough; the rest has defaults', () => {
  const { headers, mode, timeout, allowInsecure, allowPrivate } = v.parse(webhookOptions, { url: URL_OK });
  assert.deepEqual(
    { headers, mode, timeout, allowInsecure, allowPrivate },
    { headers: {}, mode: 'structured', timeout: 10_000, allowInsecure: false, allowPrivate: [] },
  );
});

/** Faulty options beside a good `url` → the path that the fault names, and words of it. */
const FAULTS: OptionFaults = [
  [{ url: undefined }, 'url', /URL/],
  [{ url: 5 }, 'url', /URL, \{ env/],
  [{ url: '' }, 'url', /https:\/\//],
  [{ url: 'ftp://x.test/hidden' }, 'url', /https:\/\//],
  [{ url: 'file:///etc/passwd' }, 'url', /https:\/\//],
  [{ url: 'http://x.test/hidden' }, 'url', /allowInsecure/],
  [{ url: 'HTTP://x.test/hidden' }, 'url', /allowInsecure/],
  [{ url: 'https://' }, 'url', /complete URL/],
  [{ url: 'https://x.test:99999/hidden' }, 'url', /complete URL/],
  [{ url: 'https://user:hidden@x.test/' }, 'url', /user:password/],
  [{ url: 'https://hidden@x.test/' }, 'url', /user:password/],
  [{ url: { env: '' } }, 'url', /env/],
  [{ url: { env: 'A', file: 'B' } }, 'url', /env/],
  [{ mode: 'Binary' }, 'mode', /structured.*binary.*batch/],
  ...[0, 1001, 1.5, '100', null].map((maxBatch) => [{ maxBatch }, 'maxBatch', /whole number from 1 to 1000/] as const),
  ...[65_536, '64', '64KB', '-1KiB'].map(
    (maxBatchBytes) => [{ maxBatchBytes }, 'maxBatchBytes', /a size such as .*64KiB/] as const,
  ),
  ...['4095B', '65MiB'].map((maxBatchBytes) => [{ maxBatchBytes }, 'maxBatchBytes', /from 4KiB to 64MiB/] as const),
  [{ secrets: [] }, 'secrets', /must not be empty/],
  [{ secrets: Array.from({ length: 11 }, () => ({ env: 'S' })) }, 'secrets', /at most 10/],
  [{ secrets: ['whsec_hidden'] }, 'secrets.0', /\{ env: NAME \} or \{ file: PATH \}/],
  [{ secrets: { env: 'S' } }, 'secrets', /./],
  ...[
    'Host',
    'content-type',
    'Content-Length',
    'content-encoding',
    'ce-id',
    'CE-Type',
    'webhook-id',
    'Webhook-Signature',
  ].map(ours),
  ...['Connection', 'Transfer-Encoding', 'keep-alive', 'TE', 'Trailer', 'Upgrade', 'Expect', 'proxy-authorization'].map(
    ours,
  ),
  [{ headers: { 'a b': 'x' } }, 'headers.a b', /header name/],
  [{ headers: { '': 'x' } }, 'headers.', /header name/],
  [{ headers: { 'X-Ü': 'x' } }, 'headers.X-Ü', /header name/],
  [{ headers: { 'a\r\nb': 'x' } }, 'headers.a\r\nb', /header name/],
  [{ headers: { a: 'hidden\r\nInjected: yes' } }, 'headers.a', /control characters/],
  [{ headers: { a: 'hidden\nx' } }, 'headers.a', /control characters/],
  [{ headers: { a: 'hidden\u0000' } }, 'headers.a', /control characters/],
  [{ headers: { a: 'hidden\u007f' } }, 'headers.a', /control characters/],
  [{ headers: { a: 'hidden €' } }, 'headers.a', /ASCII/],
  [{ headers: { a: 5 } }, 'headers.a', /text, \{ env/],
  [{ headers: { 'X-A': '1', 'x-a': '2' } }, 'headers', /twice/],
  [{ timeout: 10 }, 'timeout', /./],
  [{ timeout: '10' }, 'timeout', /duration/],
  [{ timeout: '0s' }, 'timeout', /1ms/],
  [{ timeout: '5m' }, 'timeout', /4m/],
  [{ allowInsecure: 'yes' }, 'allowInsecure', /./],
  [{ allowPrivate: ['10.0.0.0/33'] }, 'allowPrivate.0', /range/],
  [{ allowPrivate: ['10.0.0.0/8', 'localhost'] }, 'allowPrivate.1', /range/],
  [{ allowPrivate: '10.0.0.0/8' }, 'allowPrivate', /./],
  ...['handshake', 'origin', 'ratePerMinute', 'brokers'].map((key) => [{ [key]: [] }, key, /./] as const),
];

function ours(name: string) {
  return [{ headers: { [name]: 'x' } }, `headers.${name}`, /remove it/] as const;
}

testOptionFaults(URL_OK, FAULTS);

test('every good spelling is taken', () => {
  for (const options of [
    { url: 'http://127.0.0.1:8080/x', allowInsecure: true },
    { url: { env: 'HOOK_URL' } },
    { url: { file: '/run/secrets/hook' } },
    { headers: { Authorization: { env: 'TOKEN' }, 'X-Team': 'ops team\tA' } },
    { timeout: '500ms', allowPrivate: ['10.0.0.0/8', '::1/128', '127.0.0.1'] },
    { mode: 'structured', type: 'webhook' },
    { mode: 'binary', secrets: [{ env: 'HOOK_SECRET' }, { file: '/run/secrets/hook.pem' }] },
    { mode: 'batch', maxBatch: 1000, maxBatchBytes: '4KiB' },
  ]) {
    assert.ok(v.is(webhookOptions, { url: URL_OK, ...options }), JSON.stringify(options));
  }
});

/** Values that only show once a secret is open. */
const SECRET_FAULTS: readonly (readonly [options: Record<string, unknown>, value: string, says: RegExp])[] = [
  [{ url: { env: 'X' } }, 'hidden', /^sinks\.under-test\.url .*https/],
  [{ url: { env: 'X' } }, 'http://hidden.test/', /^sinks\.under-test\.url .*allowInsecure/],
  [{ url: { env: 'X' } }, 'https://', /^sinks\.under-test\.url .*complete URL/],
  [{ url: { env: 'X' } }, 'https://user:hidden@x.test/', /^sinks\.under-test\.url .*user:password/],
  [
    { url: URL_OK, headers: { authorization: { env: 'X' } } },
    'Bearer hidden\r\nInjected: 1',
    /^sinks\.under-test\.headers\.authorization .*control/,
  ],
];

for (const [options, value, says] of SECRET_FAULTS) {
  test(`the secret ${JSON.stringify(value)} in ${Object.keys(options).at(-1)} is a fault that names the key and not the value`, () => {
    const parsed = v.parse(webhookOptions, options);
    openSecrets(parsed, { X: value });
    assert.throws(
      () => webhookSink.create(parsed, adapterDeps()),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'BRIDGE_CONFIG_INVALID');
        assert.match(error.message, says);
        assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)} ${error.cause}`, /hidden/);
        return true;
      },
    );
  });
}

test('secretFaults names every key at once, for `check`', () => {
  const options = { url: { env: 'URL' }, headers: { a: { env: 'A' }, b: 'fine', c: { env: 'C' } } };
  const parsed = v.parse(webhookOptions, options);
  openSecrets(parsed, { URL: 'hidden', A: 'hid\nden', C: 'fine' });
  assert.deepEqual(
    webhookSink.secretFaults?.(parsed).map(({ key }) => key),
    ['url', 'headers.a'],
  );
  assert.doesNotMatch(JSON.stringify(webhookSink.secretFaults?.(parsed)), /hid/);
});
