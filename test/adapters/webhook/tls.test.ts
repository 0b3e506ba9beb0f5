// https receivers → accepted where both sides prove who they are; what is said otherwise.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { type ReceiverOptions, WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createWebhook, type WebhookSetup } from './start-webhook.ts';

const run = promisify(execFile);
const never = new AbortController().signal;
const LOOPBACK = 'IP:127.0.0.1';

async function startTls(t: TestContext, tls: ReceiverOptions['tls']): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.start(tls === undefined ? {} : { tls });
  t.after(() => receiver.stop());
  return receiver;
}

/**
 * An authority, a receiver with one of its certificates, and what a delivery with these options comes to; the same for
 * a check.
 */
async function fixture(t: TestContext, { name = LOOPBACK, expired = false } = {}) {
  const authority = await CertificateAuthority.create(t);
  const receiver = await startTls(t, await authority.issue(name, { expired }));
  const deliver = async (options: Record<string, unknown>, setup: WebhookSetup = {}) => {
    const { adapter } = createWebhook(t, { ...setup, options: { url: receiver.url, ...options } });
    const [outcome] = await adapter.deliver([sampleDelivery()], never);
    const check = await adapter.check(never).catch((error: unknown) => error);
    return { outcome, check };
  };
  return { authority, receiver, deliver };
}

async function deliverIn(url: string, env: Readonly<Record<string, string>>): Promise<string> {
  const program = join(import.meta.dirname, 'deliver-once.ts');
  const { stdout } = await run(process.execPath, [program, url], { env: { ...process.env, ...env } });
  return stdout.trim();
}

test('a receiver with a certificate that the machine trusts gets deliveries', async (t) => {
  const { receiver, authority } = await fixture(t);
  assert.equal(await deliverIn(receiver.url, { NODE_EXTRA_CA_CERTS: authority.file }), 'accepted');
  assert.equal(receiver.requests.length, 1);
});

test('an environment variable cannot disable verification', async (t) => {
  const { receiver } = await fixture(t);
  assert.equal(await deliverIn(receiver.url, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }), 'BRIDGE_SINK_TLS');
  assert.equal(receiver.requests.length, 0);
});

test('only tls.ca is trusted', async (t) => {
  const { receiver, deliver, authority } = await fixture(t);
  const { outcome, check } = await deliver({ tls: { ca: authority.file } });
  assert.deepEqual([outcome, check instanceof Error], ['accepted', false]);
  const other = await CertificateAuthority.create(t);
  assert.equal(failed((await deliver({ tls: { ca: other.file } })).outcome).code, 'BRIDGE_SINK_TLS');
  assert.equal(receiver.requests.length, 1);
});

/** What is wrong with a receiver's certificate → the code of OpenSSL or node, and the cure that the message names. */
const UNPROVEN = {
  'of an unknown authority': [{}, false, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', /does not trust.*tls\.ca/],
  'that has expired': [{ expired: true }, true, 'CERT_HAS_EXPIRED', /has expired: renew it/],
  'for another name': [
    { name: 'DNS:other.test' },
    true,
    'ERR_TLS_CERT_ALTNAME_INVALID',
    /another name: .*tls\.serverName/,
  ],
} as const;

for (const [what, [certificate, isTrusted, status, cure]] of Object.entries(UNPROVEN)) {
  test(`a delivery and a check reject a certificate ${what}, with the remedy`, async (t) => {
    const { receiver, deliver, authority } = await fixture(t, certificate);
    const { outcome, check } = await deliver(isTrusted ? { tls: { ca: authority.file } } : {});
    const failure = failed(outcome);
    assert.deepEqual(
      [failure.code, failure.disposition, failure.scope, failure.status],
      ['BRIDGE_SINK_TLS', 'retry', 'sink', status],
    );
    assert.match(failure.message, cure);
    assert.ok(check instanceof Error && check.message === failure.message, 'a check says the same');
    assert.equal(receiver.requests.length, 0);
  });
}

test('the name in tls.serverName is requested and verified instead of the host', async (t) => {
  const { receiver, deliver, authority } = await fixture(t, { name: 'DNS:inside.test' });
  const asked: unknown[] = [];
  receiver.default = (response, socket) => {
    asked.push((socket as TLSSocket).servername);
    response.writeHead(204).end();
  };
  assert.equal((await deliver({ tls: { ca: authority.file, serverName: 'inside.test' } })).outcome, 'accepted');
  assert.deepEqual(asked, ['inside.test']);
  const wrong = await deliver({ tls: { ca: authority.file, serverName: 'outside.test' } });
  assert.equal(failed(wrong.outcome).status, 'ERR_TLS_CERT_ALTNAME_INVALID');
});

test('a host with a final dot is requested and verified without it', async (t) => {
  const { receiver, deliver, authority } = await fixture(t, { name: 'DNS:named.test' });
  const resolve: WebhookSetup['resolve'] = (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);
  const options = { url: `https://named.test.:${receiver.port}/hook`, tls: { ca: authority.file } };
  assert.equal((await deliver(options, { resolve })).outcome, 'accepted');
});

test('a receiver that requires a certificate gets that of tls.cert; without one, delivery and check report what is missing', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const { certFile, keyFile } = await authority.issue('DNS:bridge.test');
  const wants = { requestCert: true, rejectUnauthorized: true, ca: [authority.cert] };
  const receiver = await startTls(t, { ...(await authority.issue(LOOPBACK)), ...wants });
  const shown: string[] = [];
  receiver.default = (response, socket) => {
    shown.push((socket as TLSSocket).getPeerCertificate().subjectaltname ?? '');
    response.writeHead(204).end();
  };
  const { adapter } = createWebhook(t, {
    options: { url: receiver.url, tls: { ca: authority.file, cert: certFile, key: keyFile } },
  });
  await adapter.check(never);
  assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
  assert.deepEqual(shown, ['DNS:bridge.test']);

  const { adapter: anonymous } = createWebhook(t, { options: { url: receiver.url, tls: { ca: authority.file } } });
  const [outcome] = await anonymous.deliver([sampleDelivery()], never);
  assert.match(failed(outcome).message, /tls\.cert and tls\.key/);
  await assert.rejects(anonymous.check(never), {
    code: 'BRIDGE_SINK_TLS',
    status: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  });
});

test('a check of a receiver without session resumption passes if it does not reject the certificate within a time limit', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const { certFile, keyFile } = await authority.issue(LOOPBACK);
  const server = spawn('openssl', [
    's_server',
    '-accept',
    '127.0.0.1:0',
    '-num_tickets',
    '0',
    '-cert',
    certFile,
    '-key',
    keyFile,
  ]);
  t.after(() => server.kill());
  let said = '';
  server.stdout.on('data', (chunk) => {
    said += chunk;
  });
  await poll(() => /ACCEPT .*:\d+/.test(said), 'the server to listen');
  const time = new VirtualTime();
  const url = `https://127.0.0.1:${said.match(/ACCEPT .*:(\d+)/)?.[1]}/`;
  const { adapter } = createWebhook(t, { options: { url, tls: { ca: authority.file } }, time });
  const checking = adapter.check(never);
  await poll(() => time.pending === 2, 'the handshake to be done');
  await time.advance(500);
  await checking;
});

test('https to a receiver with plain http is reported as a TLS fault', async (t) => {
  const receiver = await startTls(t, undefined);
  const { adapter } = createWebhook(t, { options: { url: receiver.url.replace('http:', 'https:') } });
  const [outcome] = await adapter.deliver([sampleDelivery()], never);
  assert.equal(failed(outcome).code, 'BRIDGE_SINK_TLS');
  assert.match(failed(outcome).message, /does not use TLS at this port/);
});

test('plain http to a receiver with https is a broken connection', async (t) => {
  const { receiver } = await fixture(t);
  const { adapter } = createWebhook(t, { options: { url: receiver.url.replace('https:', 'http:') } });
  const [outcome] = await adapter.deliver([sampleDelivery()], never);
  assert.equal(failed(outcome).disposition, 'retry');
});
