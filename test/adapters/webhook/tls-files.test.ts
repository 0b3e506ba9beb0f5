// Files of `tls` that change while a sink works → the certificate shown, and what the log says.
import assert from 'node:assert/strict';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { BridgeError } from '../../../src/errors.ts';
import { TlsFiles } from '../../../src/net/tls-files.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { CertificateAuthority, type Issued } from '../../far-sides/certificate-authority.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createWebhook } from './start-webhook.ts';

const never = new AbortController().signal;

/** A receiver that records whose certificate it saw, and a sink whose files the test replaces, on virtual time. */
async function rotation(t: TestContext) {
  const authority = await CertificateAuthority.create(t);
  const wants = { requestCert: true, rejectUnauthorized: true, ca: [authority.cert] };
  const receiver = await WebhookReceiver.start({ tls: { ...(await authority.issue('IP:127.0.0.1')), ...wants } });
  t.after(() => receiver.stop());
  const shown: string[] = [];
  receiver.default = (response, socket) => {
    shown.push((socket as TLSSocket).getPeerCertificate().subjectaltname ?? '');
    response.writeHead(204).end();
  };
  const folder = folderOf(t);
  const files = { ca: authority.file, cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const use = async ({ certFile, keyFile }: Issued) => {
    await copyFile(certFile, files.cert);
    await copyFile(keyFile, files.key);
  };
  await use(await authority.issue('DNS:first.test'));
  const time = new VirtualTime();
  const { adapter, deps } = createWebhook(t, { options: { url: receiver.url, tls: files }, time });
  const deliver = async () => (await adapter.deliver([sampleDelivery()], never))[0];
  const warned = () =>
    deps
      .logged()
      .split('\n')
      .filter((line) => line.includes('"level":40'));
  return { authority, receiver, shown, files, use, time, adapter, deliver, warned, logged: deps.logged };
}

test('new connections use a new certificate within a second, and idle old ones are closed', async (t) => {
  const { authority, receiver, shown, use, time, deliver, logged } = await rotation(t);
  assert.equal(await deliver(), 'accepted');
  await use(await authority.issue('DNS:second.test'));
  assert.equal(await deliver(), 'accepted', 'the files are not looked at before a second has passed');
  await time.advance(1000);
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(shown, ['DNS:first.test', 'DNS:first.test', 'DNS:second.test']);
  await poll(() => receiver.open === 1, 'the old connection to close');
  assert.equal(receiver.connections, 2);
  assert.match(logged(), /the tls files changed and were read again/);
});

test('a running request ends on its old connection when certificates change, which is then closed', async (t) => {
  const { authority, receiver, use, time, deliver } = await rotation(t);
  const { default: answer } = receiver;
  let release = () => {};
  receiver.next((response) => {
    release = () => void response.writeHead(204).end();
  });
  const running = deliver();
  await receiver.waitFor(1);
  await use(await authority.issue('DNS:second.test'));
  await time.advance(1000);
  receiver.default = answer;
  assert.equal(await deliver(), 'accepted');
  release();
  assert.equal(await running, 'accepted');
  await poll(() => receiver.open === 1, 'the old connection to close');
});

test('a half-written pair keeps the old one in use, is logged once, and is read again when it matches', async (t) => {
  const { authority, shown, files, use, time, deliver, warned } = await rotation(t);
  assert.equal(await deliver(), 'accepted');
  const second = await authority.issue('DNS:second.test');
  await copyFile(second.certFile, files.cert);
  for (let round = 0; round < 3; round += 1) {
    await time.advance(1000);
    assert.equal(await deliver(), 'accepted');
  }
  assert.equal(warned().length, 1);
  assert.match(warned()[0] ?? '', /sinks\.under-test\.tls\.key is not the key of the certificate in tls\.cert/);
  await use(second);
  await time.advance(1000);
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(new Set(shown), new Set(['DNS:first.test', 'DNS:second.test']));
  assert.equal(warned().length, 1);
});

for (const [what, spoil] of Object.entries({
  'is deleted': (file: string) => rm(file),
  'is empty': (file: string) => writeFile(file, ''),
  'holds something else': (file: string) => writeFile(file, 'hello'),
  'became a folder': (file: string) => rm(file).then(() => mkdir(file)),
})) {
  test(`a file that ${what} at run time keeps the old one in use, and the log names it`, async (t) => {
    const { files, time, deliver, warned } = await rotation(t);
    assert.equal(await deliver(), 'accepted');
    await spoil(files.key);
    await time.advance(1000);
    assert.equal(await deliver(), 'accepted');
    assert.match(warned().join(), /tls\.key (cannot be read|is not a file)/);
    assert.ok(warned().join().includes(files.key), 'its path is shown');
  });
}

test('files that disappear between the start and the first delivery are used as read', async (t) => {
  const { files, deliver, warned } = await rotation(t);
  await rm(files.cert);
  assert.equal(await deliver(), 'accepted');
  assert.equal(warned().length, 1);
});

test('files that were never usable are reported as a wrong configuration, with their paths', async () => {
  const [cert, key] = [new Secret({ file: 'cert.pem' }), new Secret({ file: 'key.pem' })];
  cert.open('no certificate', '/nowhere/cert.pem');
  key.open('no key', '/nowhere/key.pem');
  const files = new TlsFiles(
    { cert, key },
    { owner: 'sinks.under-test', section: 'tls', code: 'BRIDGE_SINK_TLS_FILES' },
    adapterDeps(),
  );
  assert.throws(
    () => files.context(),
    (error) => {
      const { code, disposition, scope, message } = failed(error as BridgeError);
      assert.deepEqual([code, disposition, scope], ['BRIDGE_SINK_TLS_FILES', 'misconfigured', 'sink']);
      assert.match(
        message,
        /sinks\.under-test\.tls\.cert cannot be read \(ENOENT\): correct \/nowhere\/cert\.pem, \/nowhere\/key\.pem/,
      );
      return true;
    },
  );
});
