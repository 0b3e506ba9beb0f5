// Webhook addresses under `check` → forbidden literals refused, names left to the connection.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhookSink } from '../../../../adapters/webhook/webhook.ts';
import { configOf, faultsOf, surroundings } from '../../../support/config.ts';

const PRIVATE = 'is not a public address: correct it, or list the range in allowPrivate if you trust it';
const METADATA = 'is an address of the metadata service, which the bridge never sends events to: correct it';

const AROUND = {
  ...surroundings({ URL: 'https://10.1.2.3/secret', ID: 'id', SECRET: 'secret' }),
  adapters: [webhookSink],
};

const hook = (options: object) =>
  JSON.stringify({ version: 1, sinks: { hook: { type: 'webhook', url: 'https://example.com', ...options } } });

const REFUSED: Readonly<Record<string, string>> = {
  'https://127.0.0.1/': PRIVATE,
  'https://10.1.2.3:8443/x': PRIVATE,
  'https://2130706433/': PRIVATE,
  'https://0x7f.1/': PRIVATE,
  'https://100.64.0.1/': PRIVATE,
  'https://0.0.0.0/': PRIVATE,
  'https://[::1]/': PRIVATE,
  'https://[fe80::1]/': PRIVATE,
  'https://[fd00::1]/': PRIVATE,
  'https://[::ffff:192.168.0.1]/': PRIVATE,
  'https://169.254.1.1/': PRIVATE,
  'https://169.254.169.254/metadata': METADATA,
  'https://168.63.129.16/': METADATA,
  'https://[64:ff9b::a9fe:a9fe]/': METADATA,
};

for (const [url, message] of Object.entries(REFUSED)) {
  test(`check refuses ${url} as url and as token URL`, () => {
    assert.deepEqual(faultsOf(hook({ url }), AROUND), [`sinks.hook.url: ${message}`]);
    const oauth2 = { tokenUrl: url, clientId: 'bridge', clientSecret: { env: 'SECRET' } };
    assert.deepEqual(faultsOf(hook({ oauth2 }), AROUND), [`sinks.hook.oauth2.tokenUrl: ${message}`]);
  });
}

test('check refuses a private address in a secret URL without showing it', () => {
  assert.deepEqual(faultsOf(hook({ url: { env: 'URL' } }), AROUND), [`sinks.hook.url: ${PRIVATE}`]);
});

test('check takes private literals that allowPrivate lists, those of the metadata service never', () => {
  const allowPrivate = ['127.0.0.0/8', '::1/128', '0.0.0.0/0', '::/0'];
  for (const url of ['https://127.0.0.1/', 'https://[::1]/', 'https://10.1.2.3/'])
    configOf(hook({ url, allowPrivate }), AROUND);
  for (const url of ['https://169.254.169.254/', 'https://[::ffff:168.63.129.16]/'])
    assert.deepEqual(faultsOf(hook({ url, allowPrivate }), AROUND), [`sinks.hook.url: ${METADATA}`]);
});

test('check takes public literals, and names, whose addresses show when they are resolved', () => {
  for (const url of [
    'https://203.0.113.5/',
    'https://[2001:4860::1]/',
    'https://localhost/',
    'https://internal.example/',
  ])
    configOf(hook({ url }), AROUND);
});

test('check takes a proxy at a private address, none at one of the metadata service', () => {
  configOf(hook({ proxy: 'http://10.0.0.1:3128' }), AROUND);
  assert.deepEqual(faultsOf(hook({ proxy: 'http://169.254.169.254:80' }), AROUND), [
    'sinks.hook.proxy: is an address of the metadata service, which is not a proxy',
  ]);
});
