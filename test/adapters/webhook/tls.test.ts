// https receivers → accepted only by one that proves who it is; what is said otherwise.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createWebhook } from './start-webhook.ts';

const run = promisify(execFile);
const never = new AbortController().signal;

/** A self-signed certificate for a name such as `IP:127.0.0.1`. */
async function certificate(t: TestContext, name: string) {
  const folder = await mkdtemp(join(tmpdir(), 'bridge-tls-'));
  t.after(() => rm(folder, { recursive: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=test'];
  await run('openssl', [...args, '-addext', `subjectAltName=${name}`, '-keyout', key, '-out', cert]);
  return { path: cert, key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
}

async function startTls(t: TestContext, name: string) {
  const tls = await certificate(t, name);
  const receiver = await WebhookReceiver.start({ tls });
  t.after(() => receiver.stop());
  return { receiver, path: tls.path };
}

async function deliverIn(url: string, ca: string): Promise<string> {
  const program = join(import.meta.dirname, 'deliver-once.ts');
  const { stdout } = await run(process.execPath, [program, url], { env: { ...process.env, NODE_EXTRA_CA_CERTS: ca } });
  return stdout.trim();
}

test('a receiver with a certificate that the machine trusts is delivered to', async (t) => {
  const { receiver, path } = await startTls(t, 'IP:127.0.0.1');
  assert.equal(await deliverIn(receiver.url, path), 'accepted');
  assert.equal(receiver.requests.length, 1);
});

test('a trusted certificate for another name is refused', async (t) => {
  const { receiver, path } = await startTls(t, 'DNS:other.test');
  assert.equal(await deliverIn(receiver.url, path), 'BRIDGE_WEBHOOK_TLS');
  assert.equal(receiver.requests.length, 0);
});

test('a self-signed certificate is refused by delivery and check, with what to do', async (t) => {
  const { receiver } = await startTls(t, 'IP:127.0.0.1');
  const { adapter } = createWebhook(t, { options: { url: receiver.url } });
  const [outcome] = await adapter.deliver([sampleDelivery()], never);
  const failure = failed(outcome);
  assert.deepEqual(
    [failure.code, failure.disposition, failure.scope, failure.status],
    ['BRIDGE_WEBHOOK_TLS', 'retry', 'sink', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  );
  assert.match(failure.message, /check its certificate/);
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_WEBHOOK_TLS' });
  assert.equal(receiver.requests.length, 0);
});

test('https to a receiver that speaks plain http is a TLS fault', async (t) => {
  await using receiver = await WebhookReceiver.start();
  const { adapter } = createWebhook(t, { options: { url: receiver.url.replace('http:', 'https:') } });
  const [outcome] = await adapter.deliver([sampleDelivery()], never);
  assert.equal(failed(outcome).code, 'BRIDGE_WEBHOOK_TLS');
});

test('plain http to a receiver that speaks https is a broken one', async (t) => {
  const { receiver } = await startTls(t, 'IP:127.0.0.1');
  const { adapter } = createWebhook(t, { options: { url: receiver.url.replace('https:', 'http:') } });
  const [outcome] = await adapter.deliver([sampleDelivery()], never);
  assert.equal(failed(outcome).disposition, 'retry');
});
