// Each way of TLS and of proof, on a real broker → what is right connects; no secret shows.
import assert from 'node:assert/strict';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { kafkaClients } from '../../../adapters/kafka/client/kafka-client.ts';
import type { KafkaConnectionOptions } from '../../../adapters/kafka/options/connection-options.ts';
import type { SaslOptions } from '../../../adapters/kafka/options/sasl-options.ts';
import { BridgeError, codeOf } from '../../../src/errors.ts';
import type { TlsOptions } from '../../../src/net/tls-options.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { FakeEntra } from '../../far-sides/entra-id.ts';
import { ScriptedBroker } from '../../far-sides/kafka/scripted-broker.ts';
import { USERS, unsecuredToken } from '../../far-sides/kafka/security.ts';
import { type Kafka, sharedKafka, withoutOurKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { folderOf } from '../../support/folder.ts';
import { adapterDeps } from '../adapter-deps.ts';

const skip = withoutOurKafka;

function brokersOf(addresses: readonly string[], host?: string) {
  return addresses.map((address) => {
    const [own = '', port] = address.split(':');
    return { host: host ?? own, port: Number(port) };
  });
}

function secretOf(text: string, file?: string): Secret {
  const secret = new Secret(file === undefined ? { env: 'SECRET' } : { file });
  secret.open(text, file ?? null);
  return secret;
}

/** Connects and asks for the topics. @returns what it failed with, null where it went well, and all that was logged */
async function attempt(
  t: TestContext,
  options: Partial<KafkaConnectionOptions>,
): Promise<{ readonly error: Error | null; readonly logged: string }> {
  const deps = adapterDeps();
  const kafka = await kafkaClients(
    { clientId: 'security', allowInsecure: false, timeout: 10_000, ...options },
    deps,
    'sinks.secure',
  )();
  const admin = kafka.admin();
  t.after(() => admin.disconnect());
  const error = await admin
    .connect()
    .then(() => admin.listTopics())
    .then(
      () => null,
      (error: Error) => error,
    );
  return {
    error: error?.name === 'KafkaJSNumberOfRetriesExceeded' ? (error.cause as Error) : error,
    logged: deps.logged(),
  };
}

const authority = (kafka: Kafka): TlsOptions => ({ ca: secretOf('', kafka.certificates.ca) });

test("TLS with the cluster's own authority connects, by address and by name", { skip }, async (t) => {
  const kafka = await sharedKafka(t);
  const addresses = kafka.listener('TLS');
  for (const host of ['127.0.0.1', 'localhost']) {
    assert.equal((await attempt(t, { brokers: brokersOf(addresses, host), ssl: authority(kafka) })).error, null, host);
  }
});

test('a certificate of an untrusted authority, or of another one than configured, is rejected', { skip }, async (t) => {
  const kafka = await sharedKafka(t);
  const brokers = brokersOf(kafka.listener('TLS'));
  assert.match(codeOf((await attempt(t, { brokers, ssl: true })).error) ?? '', /^(UNABLE_TO_|SELF_SIGNED_)/);
  const other = await CertificateAuthority.create(t);
  assert.match(
    codeOf((await attempt(t, { brokers, ssl: { ca: secretOf('', other.file) } })).error) ?? '',
    /^(UNABLE_TO_|CERT_SIGNATURE_FAILURE)/,
  );
});

test('a certificate for another name is rejected, and serverName sets the expected name', { skip }, async (t) => {
  const kafka = await sharedKafka(t);
  const brokers = brokersOf(kafka.listener('TLS'));
  const ssl = authority(kafka);
  assert.equal(
    codeOf((await attempt(t, { brokers, ssl: { ...ssl, serverName: 'broker.test' } })).error),
    'ERR_TLS_CERT_ALTNAME_INVALID',
  );
  assert.equal((await attempt(t, { brokers, ssl: { ...ssl, serverName: 'localhost' } })).error, null);
});

test('TLS to a port without TLS, and no TLS to a port with TLS, are reported as such', { skip }, async (t) => {
  const kafka = await sharedKafka(t);
  const tls = await attempt(t, { brokers: brokersOf(kafka.listener('PLAINTEXT')), ssl: authority(kafka) });
  assert.equal(tls.error?.name, 'KafkaJSConnectionError');
  const plain = await attempt(t, { brokers: brokersOf(kafka.listener('TLS')) });
  assert.equal(codeOf(plain.error), 'BROKER_SPEAKS_TLS');
});

test('a broker that requires a certificate accepts the configured one, and rejects a client without one', {
  skip,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const { certFile, keyFile } = kafka.certificates.client;
  const brokers = brokersOf(kafka.listener('MTLS'));
  const client = { cert: secretOf('', certFile), key: secretOf('', keyFile) };
  assert.equal((await attempt(t, { brokers, ssl: { ...authority(kafka), ...client } })).error, null);
  assert.match(
    codeOf((await attempt(t, { brokers, ssl: authority(kafka) })).error) ?? '',
    /CERTIFICATE_REQUIRED|BAD_CERTIFICATE/,
  );
});

test('new connections use changed files of ssl', { skip }, async (t) => {
  const kafka = await sharedKafka(t);
  const other = await CertificateAuthority.create(t);
  const file = join(folderOf(t), 'ca.pem');
  await copyFile(other.file, file);
  const deps = adapterDeps();
  // Files are looked at once a second.
  let elapsed = 0;
  const clock = { ...deps, elapsedMs: () => elapsed };
  const options = {
    clientId: 'c',
    allowInsecure: false,
    brokers: brokersOf(kafka.listener('TLS')),
    ssl: { ca: secretOf('', file) },
  };
  const client = await kafkaClients(options, clock, 'sinks.secure')();
  const [before, after] = [client.admin(), client.admin()];
  t.after(() => Promise.all([before.disconnect(), after.disconnect()]));
  await assert.rejects(before.connect());
  await copyFile(kafka.certificates.ca, file);
  elapsed += 1000;
  await after.connect();
});

test('files that were never usable are a fault of the configuration, and nothing is sent', { skip }, async (t) => {
  const kafka = await sharedKafka(t);
  const { error } = await attempt(t, {
    brokers: brokersOf(kafka.listener('TLS')),
    ssl: { ca: secretOf('nothing', '/nowhere/ca.pem') },
  });
  const { cause } = error ?? {};
  assert.ok(cause instanceof BridgeError);
  assert.deepEqual([cause.code, cause.disposition, cause.scope], ['BRIDGE_KAFKA_TLS_FILES', 'misconfigured', 'sink']);
  assert.match(cause.message, /^sinks\.secure\.ssl\.ca cannot be read \(ENOENT\): correct \/nowhere\/ca\.pem/);
});

const passwordLogin = (mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512', password: string): SaslOptions => ({
  mechanism,
  username: 'writer',
  password: secretOf(password),
});

/** Nothing of it, in no spelling that a log could have. */
function assertHidden(logged: string, secret: string): void {
  const bytes = Buffer.from(secret);
  for (const spelling of [secret, bytes.toString('base64'), bytes.toString('hex'), [...bytes].join(',')]) {
    assert.ok(!logged.includes(spelling), `the log holds ${secret}`);
  }
  assert.doesNotMatch(logged, /"data"|"payload"|"sasl"|"password"|"stack"/);
}

for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512'] as const) {
  test(`${mechanism} logs in, with TLS and on loopback without TLS, and its password is never logged`, {
    skip,
  }, async (t) => {
    const kafka = await sharedKafka(t);
    const sasl = passwordLogin(mechanism, USERS.writer);
    const secure = await attempt(t, { brokers: brokersOf(kafka.listener('SASL_TLS')), ssl: authority(kafka), sasl });
    assert.equal(secure.error, null);
    const plain = await attempt(t, { brokers: brokersOf(kafka.listener('SASL')), sasl });
    assert.equal(plain.error, null);
    assert.match(plain.logged, /Sasl/, 'the log is at its finest');
    assertHidden(secure.logged + plain.logged, USERS.writer);
  });

  test(`${mechanism} with a wrong password or an unknown user is reported as such`, { skip }, async (t) => {
    const kafka = await sharedKafka(t);
    const brokers = brokersOf(kafka.listener('SASL'));
    const wrong = await attempt(t, { brokers, sasl: passwordLogin(mechanism, 'wrong-secret-0815') });
    assert.equal(wrong.error?.name, 'KafkaJSSASLAuthenticationError');
    assertHidden(wrong.logged + wrong.error?.message, 'wrong-secret-0815');
    const nobody = { ...passwordLogin(mechanism, USERS.writer), username: 'nobody' } as SaslOptions;
    assert.equal((await attempt(t, { brokers, sasl: nobody })).error?.name, 'KafkaJSSASLAuthenticationError');
  });
}

test('a token logs in, and is read from its file for each connection', { skip }, async (t) => {
  const kafka = await sharedKafka(t);
  const file = join(folderOf(t), 'token');
  const brokers = brokersOf(kafka.listener('SASL'));
  const token = unsecuredToken('writer');
  await writeFile(file, `${unsecuredToken('writer', { nowMs: 0 })}\n`);
  const sasl = { mechanism: 'oauthbearer', token: secretOf('stale', file), extensions: { traceId: 'x' } } as const;
  const expired = await attempt(t, { brokers, sasl });
  assert.equal(expired.error?.name, 'KafkaJSSASLAuthenticationError');
  assert.match(expired.error?.message ?? '', /OAUTHBEARER authentication failed/);
  await writeFile(file, `${token}\n`);
  const { error, logged } = await attempt(t, { brokers, sasl });
  assert.equal(error, null);
  assertHidden(logged, token);
  await writeFile(file, 'spoilt by an editor');
  const spoilt = (await attempt(t, { brokers, sasl })).error;
  assert.ok(spoilt instanceof BridgeError);
  assert.deepEqual([spoilt.code, spoilt.disposition], ['BRIDGE_KAFKA_TOKEN', 'misconfigured']);
  assert.doesNotMatch(spoilt.message, /spoilt by/);
});

test('a token of Microsoft Entra ID logs in, and is requested for the namespace of the brokers', {
  skip,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const entra = await FakeEntra.start(t);
  const token = unsecuredToken('writer');
  entra.answer = () => ({
    status: 200,
    body: { access_token: token, token_type: 'Bearer', expires_in: 3600, expires_on: '4102444800' },
  });
  const sasl = { mechanism: 'oauthbearer', azure: true, credential: 'managed-identity' } as const;
  const { error, logged } = await attempt(t, { brokers: brokersOf(kafka.listener('SASL')), sasl });
  assert.equal(error, null);
  assert.equal(entra.requests[0]?.url.searchParams.get('resource'), 'https://127.0.0.1');
  assert.equal(entra.requests.length, 1);
  assertHidden(logged, token);
});

test('with a private name the token is requested for the name of the certificates', { skip }, async (t) => {
  const kafka = await sharedKafka(t);
  const entra = await FakeEntra.start(t);
  entra.answer = () => ({ status: 400, body: { error: 'invalid_request', error_description: 'enough' } });
  const sasl = { mechanism: 'oauthbearer', azure: true, credential: 'managed-identity' } as const;
  const ssl = { ca: secretOf('', kafka.certificates.ca), serverName: 'localhost' };
  await attempt(t, { brokers: brokersOf(kafka.listener('SASL_TLS')), ssl, sasl });
  assert.equal(entra.requests[0]?.url.searchParams.get('resource'), 'https://localhost');
});

test('an identity without a token is reported as such, and the message does not blame the brokers', async (t) => {
  const broker = await ScriptedBroker.start(t);
  const entra = await FakeEntra.start(t);
  entra.answer = () => ({ status: 400, body: { error: 'invalid_request', error_description: 'Identity not found' } });
  const sasl = { mechanism: 'oauthbearer', azure: true, credential: 'managed-identity', clientId: 'another' } as const;
  const { error } = await attempt(t, { brokers: [broker.broker], sasl });
  assert.ok(error instanceof BridgeError);
  assert.deepEqual([error.code, error.disposition], ['BRIDGE_AZURE_REFUSED', 'misconfigured']);
  assert.match(
    error.message,
    /^sinks\.secure\.sasl: the credential managed-identity gave no token \(Identity not found\)/,
  );
});

test('a connection string of Event Hubs logs in by PLAIN, as the whole password', async (t) => {
  const broker = await ScriptedBroker.start(t);
  const text = 'Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=aGlkZGVu';
  const { error, logged } = await attempt(t, {
    brokers: [broker.broker],
    ssl: false,
    connectionString: secretOf(text),
    timeout: 20_000,
  });
  assert.equal(error, null);
  const said = broker.requests.find(({ api }) => api === 'saslAuthenticate')?.bytes.toString('latin1') ?? '';
  assert.ok(said.endsWith(`\0$ConnectionString\0${text}`), 'user and password');
  assertHidden(logged, text);
});

test('a login at a port without one, and no login at a port that requires one, fail', { skip }, async (t) => {
  const kafka = await sharedKafka(t);
  const login = await attempt(t, {
    brokers: brokersOf(kafka.listener('PLAINTEXT')),
    sasl: passwordLogin('plain', USERS.writer),
  });
  assert.notEqual(login.error, null);
  const none = await attempt(t, { brokers: brokersOf(kafka.listener('SASL')) });
  assert.notEqual(none.error, null);
});

test('no password leaves this machine without TLS, even if a cluster on loopback advertises other brokers', async (t) => {
  const { error } = await attempt(t, {
    brokers: [{ host: '192.0.2.1', port: 9092 }],
    sasl: passwordLogin('plain', 'hidden'),
  });
  const { cause } = error ?? {};
  assert.ok(cause instanceof BridgeError);
  assert.deepEqual([cause.code, cause.disposition], ['BRIDGE_KAFKA_INSECURE', 'misconfigured']);
});

test('the sink never connects to the addresses of the metadata service, even if a cluster advertises them', async (t) => {
  const { error } = await attempt(t, { brokers: [{ host: '169.254.169.254', port: 9092 }] });
  const { cause } = error ?? {};
  assert.ok(cause instanceof BridgeError);
  assert.deepEqual([cause.code, cause.disposition], ['BRIDGE_KAFKA_FORBIDDEN_ADDRESS', 'misconfigured']);
});
