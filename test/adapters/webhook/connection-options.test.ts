// The keys of TLS and proxies → every fault of them, of the schema and of files and secrets.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import { webhookOptions } from '../../../adapters/webhook/webhook-options.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { configOf, faultsOf, surroundings } from '../../support/config.ts';
import { type OptionFaults, testOptionFaults } from './option-faults.ts';

const URL_OK = 'https://hooks.example.com/hook';

const SCHEMA_FAULTS: OptionFaults = [
  [{ tls: { cert: 'cert.pem' } }, 'tls.key', /cert needs its private key/],
  [{ tls: { key: 'key.pem' } }, 'tls.cert', /key needs its certificate/],
  [{ tls: { ca: '' } }, 'tls.ca', /empty/],
  [{ tls: { ca: { file: 'ca.pem' } } }, 'tls.ca', /./],
  [{ tls: { serverName: '' } }, 'tls.serverName', /DNS name/],
  [{ tls: { serverName: '127.0.0.1' } }, 'tls.serverName', /DNS name/],
  [{ tls: { serverName: 'a b' } }, 'tls.serverName', /DNS name/],
  [{ tls: { serverName: '::1' } }, 'tls.serverName', /DNS name/],
  [{ tls: { pfx: 'x' } }, 'tls.pfx', /./],
  [{ proxy: 5 }, 'proxy', /URL, \{ env/],
  [{ proxy: '' }, 'proxy', /http:\/\/host:port/],
  [{ proxy: 'proxy.test:3128' }, 'proxy', /http:\/\/host:port/],
  [{ proxy: 'socks5://proxy.test:1080' }, 'proxy', /http:\/\/host:port/],
  [{ proxy: 'http://proxy.test:3128/path' }, 'proxy', /without a path, query or fragment/],
  [{ proxy: 'http://proxy.test:3128/?hidden' }, 'proxy', /without a path, query or fragment/],
  [{ proxy: 'http://proxy.test:99999' }, 'proxy', /http:\/\/host:port/],
  [{ proxy: 'http://user:hidden@proxy.test:3128' }, 'proxy', /\{ env: NAME \}/],
  [{ proxy: 'http://hidden@proxy.test:3128' }, 'proxy', /\{ env: NAME \}/],
];

testOptionFaults(URL_OK, SCHEMA_FAULTS);

test('every valid spelling is accepted', () => {
  for (const options of [
    { tls: {} },
    { tls: { ca: 'ca.pem' } },
    { tls: { cert: 'cert.pem', key: 'key.pem', serverName: 'inside.example.com' } },
    { tls: { serverName: 'localhost' } },
    { proxy: 'http://proxy.test:3128' },
    { proxy: 'HTTPS://proxy.test/' },
    { proxy: 'http://[::1]:3128' },
    { proxy: { env: 'PROXY' } },
    { proxy: { file: '/run/secrets/proxy' } },
  ]) {
    assert.ok(v.is(webhookOptions, { url: URL_OK, ...options }), JSON.stringify(options));
  }
});

/** A configuration with one webhook, its files in /etc/bridge. */
function around(files: Readonly<Record<string, string>> = {}, env: Record<string, string> = {}) {
  const absolute = Object.fromEntries(Object.entries(files).map(([name, text]) => [`/etc/bridge/${name}`, text]));
  return { ...surroundings(env, absolute), adapters: [webhookSink] };
}

const sink = (keys: string, url = URL_OK) =>
  `version: 1\nsinks: { hooks: { type: webhook, url: "${url}", allowInsecure: true, ${keys} } }`;

async function pems(t: TestContext) {
  const authority = await CertificateAuthority.create(t);
  const [one, other] = [await authority.issue('DNS:a.test'), await authority.issue('DNS:b.test')];
  const locked = execFileSync('openssl', ['pkey', '-in', one.keyFile, '-aes256', '-passout', 'pass:typed'], {
    encoding: 'utf8',
  });
  const torn = `${authority.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
  return {
    'ca.pem': authority.cert,
    'cert.pem': one.cert,
    'key.pem': one.key,
    'other.pem': other.key,
    'locked.pem': locked,
    'torn.pem': torn,
  };
}

test('matching TLS files are accepted, relative to the folder of the configuration', async (t) => {
  const text = sink('tls: { ca: ca.pem, cert: cert.pem, key: /etc/bridge/key.pem }');
  const { sinks } = configOf(text, around(await pems(t)));
  const options = sinks['hooks']?.options as v.InferOutput<typeof webhookOptions> | undefined;
  assert.equal(options?.tls?.cert?.file, '/etc/bridge/cert.pem');
  assert.doesNotMatch(JSON.stringify(sinks), /BEGIN/);
});

/** Keys of a sink → the faults that check shows of them. */
const FILE_FAULTS: Readonly<Record<string, readonly string[]>> = {
  'tls: { ca: missing.pem }': ['sinks.hooks.tls.ca: the file /etc/bridge/missing.pem cannot be read (ENOENT)'],
  'tls: { ca: key.pem }': ['sinks.hooks.tls.ca: is not a file with certificates in PEM format'],
  'tls: { ca: torn.pem }': ['sinks.hooks.tls.ca: is not a file with certificates in PEM format'],
  'tls: { cert: ca.pem, key: key.pem }': ['sinks.hooks.tls.key: is not the key of the certificate in tls.cert'],
  'tls: { cert: cert.pem, key: other.pem }': ['sinks.hooks.tls.key: is not the key of the certificate in tls.cert'],
  'tls: { cert: key.pem, key: cert.pem }': [
    'sinks.hooks.tls.cert: is not a file with a certificate in PEM format',
    'sinks.hooks.tls.key: is not a file with a private key in PEM format, without a passphrase',
  ],
  'tls: { cert: cert.pem, key: locked.pem }': [
    'sinks.hooks.tls.key: is encrypted, and the bridge cannot ask for the passphrase: use a key without one, readable only by the bridge',
  ],
};

for (const [keys, faults] of Object.entries(FILE_FAULTS)) {
  test(`check says of \`${keys}\` what is wrong`, async (t) => {
    assert.deepEqual(faultsOf(sink(keys), around(await pems(t))), faults);
  });
}

test('tls with an http:// url is a fault, unless it is for an https:// proxy', async (t) => {
  const files = await pems(t);
  const url = 'http://hooks.example.com/hook';
  const fault = ['sinks.hooks.tls: has no effect with an http:// url: use https://, or remove it'];
  assert.deepEqual(faultsOf(sink('tls: { ca: ca.pem }', url), around(files)), fault);
  assert.deepEqual(faultsOf(sink('tls: { ca: ca.pem }, proxy: "http://proxy.test:3128"', url), around(files)), fault);
  assert.deepEqual(faultsOf(sink('tls: { ca: ca.pem }, proxy: "https://proxy.test:3128"', url), around(files)), []);
});

for (const [value, says] of [
  ['nonsense-hidden', /http:\/\/host:port/],
  ['http://user:hidden@proxy.test:3128/hidden', /without a path, query or fragment/],
  ['http://user:hidden%@proxy.test:3128', /percent-encoding/],
  ['http://user:hidden@169.254.169.254:80', /metadata service/],
  ['http://[::ffff:168.63.129.16]', /metadata service/],
  ['http://0xa9fea9fe/', /metadata service/],
] as const) {
  test(`a secret proxy ${value} is a fault that does not repeat it`, () => {
    const faults = faultsOf(sink('proxy: { env: PROXY }'), around({}, { PROXY: value }));
    assert.equal(faults.length, 1);
    assert.match(faults[0] ?? '', /^sinks\.hooks\.proxy: /);
    assert.match(faults[0] ?? '', says);
    assert.doesNotMatch(faults.join(), /hidden/);
  });
}

test('a secret proxy may contain a user and a password', () => {
  assert.deepEqual(
    faultsOf(sink('proxy: { env: PROXY }'), around({}, { PROXY: 'http://user:password@10.0.0.1:3128' })),
    [],
  );
});
