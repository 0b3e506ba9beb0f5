// The keys of the way to a Kafka cluster → the client's settings, and each fault at its path.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import type { AdapterDefinition } from '../../../adapters/adapter.ts';
import {
  connectionRules,
  connectionSettings,
  type KafkaConnectionOptions,
  kafkaConnectionEntries,
  kafkaConnectionFaults,
} from '../../../adapters/kafka/options/connection-options.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { configOf, faultsOf, surroundings } from '../../support/config.ts';

const options = v.pipe(v.strictObject(kafkaConnectionEntries), connectionRules());

/** A sink that has the connection keys alone. */
const kafka: AdapterDefinition<KafkaConnectionOptions> = {
  type: 'kafka',
  options,
  secretFaults: kafkaConnectionFaults,
  create: () => {
    throw new Error('reading a configuration creates no adapter');
  },
};

const around = (env: Record<string, string> = {}, files: Record<string, string> = {}) => ({
  ...surroundings({ PASSWORD: 'hidden-password', ...env }, files),
  adapters: [kafka],
});
const sink = (keys: string) => `version: 1\nsinks: { s: { type: kafka, ${keys} } }`;
const optionsOf = (keys: string, surround = around()) =>
  configOf(sink(keys), surround).sinks['s']?.options as KafkaConnectionOptions;
const settingsOf = (keys: string, surround = around()) => connectionSettings(optionsOf(keys, surround));

const PLAIN = 'sasl: { mechanism: plain, username: u, password: { env: PASSWORD } }';
const AZURE = 'sasl: { mechanism: oauthbearer, azure: true';
const HUBS = 'brokers: [ns.servicebus.windows.net]';
const STRING = 'Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=aGlkZGVu+/8=';

const FAULTS: readonly (readonly [keys: string, fault: RegExp])[] = [
  ['clientId: x', /^sinks\.s: needs brokers, .*, or the connectionString/],
  ['connectionString: "Endpoint=sb://ns"', /^sinks\.s\.connectionString: must be \{ env: NAME \}/],
  ['brokers: []', /^sinks\.s\.brokers: must name at least one/],
  ['brokers: localhost:9092', /^sinks\.s\.brokers: must be a list/],
  ['brokers: [localhost]', /^sinks\.s\.brokers\[0\]: must be host:port: the port is missing/],
  ['brokers: ["localhost:9092,other:9092"]', /^sinks\.s\.brokers\[0\]: contains several brokers/],
  ['brokers: ["SASL_SSL://b:9092"]', /^sinks\.s\.brokers\[0\]: must be only host:port, without a scheme/],
  ['brokers: ["a:9092", "b:0"]', /^sinks\.s\.brokers\[1\]: .*port must be between 1 and 65535/],
  ['brokers: ["b:65536"]', /^sinks\.s\.brokers\[0\]: .*port must be between/],
  ['brokers: ["::1:9092"]', /^sinks\.s\.brokers\[0\]: .*needs brackets/],
  ['brokers: ["[fe80::1%eth0]:9092"]', /^sinks\.s\.brokers\[0\]: must be host:port/],
  ['brokers: ["300.1.1.1:9092"]', /^sinks\.s\.brokers\[0\]: must be host:port/],
  ['brokers: ["a b:9092"]', /^sinks\.s\.brokers\[0\]: must be host:port/],
  ['brokers: ["a:9092", "a:9092"]', /^sinks\.s\.brokers\[1\]: is listed twice/],
  ['brokers: ["169.254.169.254:9092"]', /^sinks\.s\.brokers\[0\]: is an address of the metadata service/],
  ['brokers: ["168.63.129.16:9092"]', /^sinks\.s\.brokers\[0\]: is an address of the metadata service/],
  ['brokers: ["[::ffff:169.254.169.254]:9092"]', /^sinks\.s\.brokers\[0\]: is an address of the metadata service/],
  ['brokers: ["b:9092"], clientId: "a b"', /^sinks\.s\.clientId: must contain only letters/],
  ['brokers: ["b:9092"], timeout: 5m', /^sinks\.s\.timeout: must be at most 4m/],
  ['brokers: ["b:9092"], preset: event-hubs, timeout: 19s', /^sinks\.s\.timeout: must be at least 20s/],
  ['brokers: ["b:9092"], preset: confluent', /^sinks\.s\.preset: is not an allowed value \(allowed: event-hubs\)/],
  ['brokers: ["b:9092"], ssl: yes-please', /^sinks\.s\.ssl: must be true, false, or a mapping/],
  ['brokers: ["b:9092"], ssl: { cert: cert.pem }', /^sinks\.s\.ssl\.key: is missing: cert needs its private key/],
  ['brokers: ["b:9092"], ssl: { serverName: 10.0.0.1 }', /^sinks\.s\.ssl\.serverName: must be a DNS name/],
  [
    'brokers: ["b:9092"], ssl: { pfx: x }',
    /^sinks\.s\.ssl\.pfx: is not a key of the configuration \(allowed: ca, cert, key, serverName\)/,
  ],
  [`brokers: ["b:9092"], ${PLAIN}`, /^sinks\.s\.sasl: would send its secret unencrypted/],
  [
    'brokers: ["b:9092"], sasl: { mechanism: oauthbearer, token: { env: PASSWORD } }',
    /^sinks\.s\.sasl: would send its secret unencrypted/,
  ],
  [
    `brokers: ["b:9092"], ssl: true, sasl: { mechanism: gssapi }`,
    /^sinks\.s\.sasl\.mechanism: is not an allowed value/,
  ],
  ['brokers: ["b:9092"], sasl: { mechanism: scram-sha-256, username: u }', /^sinks\.s\.sasl\.password: is missing/],
  [
    'brokers: ["b:9092"], sasl: { mechanism: scram-sha-256, username: u, password: hidden }',
    /^sinks\.s\.sasl\.password: must be \{ env: NAME \}/,
  ],
  [
    'brokers: ["b:9092"], sasl: { mechanism: scram-sha-256, username: u, password: { env: PASSWORD }, user: x }',
    /^sinks\.s\.sasl\.user: is not a key of the configuration/,
  ],
  [
    'brokers: ["b:9092"], ssl: true, sasl: { mechanism: oauthbearer }',
    /^sinks\.s\.sasl: needs either azure: true or token/,
  ],
  [
    'brokers: ["b:9092"], ssl: true, sasl: { mechanism: oauthbearer, azure: true, token: { env: PASSWORD } }',
    /^sinks\.s\.sasl: needs either azure: true or token/,
  ],
  [
    'brokers: ["b:9092"], ssl: true, sasl: { mechanism: oauthbearer, token: { env: PASSWORD }, clientId: x }',
    /^sinks\.s\.sasl\.clientId: has no effect without azure: true/,
  ],
  [
    'brokers: ["b:9092"], ssl: true, sasl: { mechanism: oauthbearer, token: { env: PASSWORD }, extensions: { auth: x } }',
    /^sinks\.s\.sasl\.extensions/,
  ],
  [
    `${HUBS}, ${AZURE}, credential: client-secret, tenantId: t, clientId: c }`,
    /^sinks\.s\.sasl\.clientSecret: is missing/,
  ],
  [
    `${HUBS}, ${AZURE}, clientSecret: { env: PASSWORD } }`,
    /^sinks\.s\.sasl\.clientSecret: has no effect with credential default/,
  ],
  [
    `${HUBS}, ${AZURE}, credential: managed-identity, tenantId: t }`,
    /^sinks\.s\.sasl\.tenantId: has no effect with credential managed-identity/,
  ],
  [`connectionString: { env: STRING }, ${PLAIN}`, /^sinks\.s\.sasl: follows from connectionString/],
  ['connectionString: { env: STRING }, timeout: 10s', /^sinks\.s\.timeout: must be at least 20s/],
];

for (const [keys, fault] of FAULTS) {
  test(`${keys} is one fault with its path and without secrets`, () => {
    const faults = faultsOf(sink(keys), around({ STRING }));
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0] ?? '', fault);
    assert.doesNotMatch(faults.join('\n'), /hidden/);
  });
}

for (const [what, text, fault] of [
  ['no connection string', 'hidden', /connectionString: must be Endpoint=sb/],
  ['one of HTTP', 'Endpoint=https://ns.test/;SharedAccessKeyName=n;SharedAccessKey=hidden', /must be Endpoint=sb/],
  ['one without a key', 'Endpoint=sb://ns.test/;SharedAccessKeyName=hidden', /must be Endpoint=sb/],
  ['a signature', 'Endpoint=sb://ns.test/;SharedAccessSignature=hidden', /contains a SharedAccessSignature/],
  [
    'the metadata service',
    'Endpoint=sb://169.254.169.254/;SharedAccessKeyName=n;SharedAccessKey=hidden',
    /address of the metadata service/,
  ],
] as const) {
  test(`${what} as connectionString is a fault that does not repeat it`, () => {
    const faults = faultsOf(sink('connectionString: { env: STRING }'), around({ STRING: text }));
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0] ?? '', fault);
    assert.doesNotMatch(faults.join('\n'), /hidden/);
  });
}

test('a connection string in the configuration itself is a fault that does not repeat it', () => {
  const faults = faultsOf(sink('connectionString: "Endpoint=hidden"'), around()).join('\n');
  assert.match(faults, /^sinks\.s\.connectionString: must be \{ env: NAME \}/);
  assert.doesNotMatch(faults, /hidden/);
});

test('a connection string without TLS is accepted only for loopback', () => {
  const faults = faultsOf(sink('connectionString: { env: STRING }, ssl: false'), around({ STRING }));
  assert.match(faults.join('\n'), /connectionString: would send its secret unencrypted/);
  const emulator = 'brokers: ["localhost:9092"], connectionString: { env: STRING }, ssl: false';
  assert.equal(settingsOf(emulator, around({ STRING })).tls, null);
});

test('an invalid user name, password or token is a fault without its value', () => {
  const say = (keys: string, secret: string) =>
    faultsOf(sink(`brokers: ["b:9092"], ssl: true, ${keys}`), around({ SECRET: secret })).join('\n');
  const user = 'sasl: { mechanism: plain, username: { env: SECRET }, password: { env: PASSWORD } }';
  assert.match(say(user, 'hid\0den'), /sasl\.username: must not contain line breaks or other control characters/);
  assert.match(
    say('sasl: { mechanism: plain, username: u, password: { env: SECRET } }', 'a\nb'),
    /sasl\.password: must not contain line breaks/,
  );
  assert.match(
    say('sasl: { mechanism: oauthbearer, token: { env: SECRET } }', 'not a token'),
    /sasl\.token: is not a valid bearer token/,
  );
});

test('mismatched files of ssl and of an application are faults of their keys', async (t) => {
  const { files } = await pems(t);
  const say = (keys: string) => faultsOf(sink(`${HUBS}, ${keys}`), around({}, files)).join('\n');
  assert.match(say('ssl: { ca: key.pem }'), /^sinks\.s\.ssl\.ca: is not a file with certificates in PEM format/);
  assert.match(
    say('ssl: { cert: cert.pem, key: other.pem }'),
    /^sinks\.s\.ssl\.key: is not the key of the certificate in ssl\.cert/,
  );
  assert.match(
    say('ssl: { ca: missing.pem }'),
    /^sinks\.s\.ssl\.ca: the file \/etc\/bridge\/missing\.pem cannot be read \(ENOENT/,
  );
  const application = `${AZURE}, credential: client-certificate, tenantId: t, clientId: c, certificate:`;
  assert.match(
    say(`${application} cert.pem }`),
    /^sinks\.s\.sasl\.certificate: is not a PEM file with a certificate and its private key/,
  );
  assert.match(say(`${application} both.pem }`), /^sinks\.s\.sasl\.certificate: must contain an RSA key/);
  assert.equal(say('ssl: { ca: ca.pem, cert: cert.pem, key: key.pem, serverName: broker.test }'), '');
});

test('without more than brokers there is neither TLS nor a login, and every default', () => {
  assert.deepEqual(settingsOf('brokers: [localhost:9092, "[2001:DB8::1]:9093"]'), {
    brokers: [
      { host: 'localhost', port: 9092 },
      { host: '2001:DB8::1', port: 9093 },
    ],
    clientId: 'scheduled-events-bridge',
    timeoutMs: 10_000,
    idleMs: 540_000,
    metadataMaxAgeMs: 300_000,
    maxRequestBytes: 1_048_576,
    isEventHubs: false,
    tls: null,
  });
});

const HUBS_SETTINGS = {
  brokers: [{ host: 'ns.servicebus.windows.net', port: 9093 }],
  clientId: 'scheduled-events-bridge',
  timeoutMs: 60_000,
  idleMs: 180_000,
  metadataMaxAgeMs: 180_000,
  maxRequestBytes: 1_046_528,
  isEventHubs: true,
  tls: {},
};

for (const keys of [
  `${HUBS}, preset: event-hubs, ${PLAIN}`,
  `${HUBS}, ${AZURE} }`,
  'connectionString: { env: STRING }',
  'connectionString: { env: STRING }, ssl: true, preset: event-hubs',
]) {
  test(`${keys} applies the rules of Event Hubs: TLS, port, times and sizes`, () => {
    assert.deepEqual(settingsOf(keys, around({ STRING })), HUBS_SETTINGS);
  });
}

test('with the preset any host counts as Event Hubs, and a configured port is kept', () => {
  const { brokers, isEventHubs, tls } = settingsOf('brokers: ["hubs.test:443"], preset: event-hubs');
  assert.deepEqual([brokers, isEventHubs, tls], [[{ host: 'hubs.test', port: 443 }], true, {}]);
});

test('plain and tokens need no TLS on loopback, nor with allowInsecure; SCRAM needs none anywhere', () => {
  const scram = 'sasl: { mechanism: scram-sha-512, username: u, password: { env: PASSWORD } }';
  for (const keys of [
    `brokers: ["127.0.0.1:9092", "[::1]:9092"], ${PLAIN}`,
    `brokers: ["b:9092"], allowInsecure: true, ${PLAIN}`,
  ]) {
    assert.equal(settingsOf(keys).tls, null);
  }
  assert.equal(settingsOf(`brokers: ["b:9092"], ${scram}`).tls, null);
});

async function pems(t: TestContext) {
  const authority = await CertificateAuthority.create(t);
  const [one, other] = [await authority.issue('DNS:a.test'), await authority.issue('DNS:b.test')];
  const texts = {
    'ca.pem': authority.cert,
    'cert.pem': one.cert,
    'key.pem': one.key,
    'other.pem': other.key,
    'both.pem': one.key + one.cert,
  };
  return { files: Object.fromEntries(Object.entries(texts).map(([name, text]) => [`/etc/bridge/${name}`, text])) };
}
