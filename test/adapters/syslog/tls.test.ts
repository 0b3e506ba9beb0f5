// TLS to a syslog server → certificates checked and presented; no message before that.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import type { SyslogServerOptions } from '../../far-sides/syslog/syslog-server.ts';
import { poll } from '../../support/poll.ts';
import { failed } from '../contract.ts';
import { startSyslog } from './start-syslog.ts';

type Tls = NonNullable<SyslogServerOptions['tls']>;

async function secured(t: TestContext, tls: Tls, options: Readonly<Record<string, unknown>>) {
  return await startSyslog(t, { server: { transport: 'tls', tls }, options: { settle: '300ms', ...options } });
}

test('untrusted, misnamed and expired certificates have different messages, are retried, and get no event', async (t) => {
  const [ours, foreign] = [await CertificateAuthority.create(t), await CertificateAuthority.create(t)];
  const rows = [
    [await foreign.issue('IP:127.0.0.1'), /a CA that this machine does not trust.*tls\.ca/],
    [await ours.issue('DNS:named.test'), /certificate for another name.*host in server/],
    [await ours.issue('IP:127.0.0.1', { expired: true }), /has expired/],
  ] as const;
  for (const [{ cert, key }, words] of rows) {
    const { server, deliver, adapter } = await secured(t, { cert, key }, { tls: { ca: ours.file } });
    const failure = failed((await deliver())[0]);
    assert.deepEqual([failure.code, failure.disposition, failure.scope], ['BRIDGE_SYSLOG_TLS', 'retry', 'sink']);
    assert.match(failure.message, words);
    await assert.rejects(adapter.check(new AbortController().signal), { code: 'BRIDGE_SYSLOG_TLS' });
    assert.ok(server.connections.every((bytes) => bytes === 0));
  }
});

test('the certificate must be for the name in serverName', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const { cert, key } = await authority.issue('DNS:named.test');
  const { deliver } = await secured(t, { cert, key }, { tls: { ca: authority.file, serverName: 'named.test' } });
  assert.deepEqual(await deliver(), ['accepted']);
});

test('a server that requires a certificate gets that of the bridge; without one a delivery and a check fail', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const [{ cert, key }, client] = [await authority.issue('IP:127.0.0.1'), await authority.issue('DNS:bridge.test')];
  const tls = { cert, key, ca: authority.cert, requestCert: true, rejectUnauthorized: true };
  const known = await secured(t, tls, { tls: { ca: authority.file, cert: client.certFile, key: client.keyFile } });
  assert.deepEqual(await known.deliver(), ['accepted']);
  await poll(() => known.server.messages.length === 1, 'the message');
  const unknown = await secured(t, tls, { tls: { ca: authority.file } });
  const failure = failed((await unknown.deliver())[0]);
  assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_SYSLOG_TLS', 'retry']);
  assert.match(failure.message, /requires one: set tls\.cert and tls\.key to a certificate that it trusts/);
  await assert.rejects(unknown.adapter.check(new AbortController().signal), { code: 'BRIDGE_SYSLOG_TLS' });
});

test('the message names a port without TLS', async (t) => {
  const { server } = await startSyslog(t);
  server.behaviour = { answer: 'this is no TLS' };
  const { deliver: securely } = await startSyslog(t, { options: { server: server.url.replace('tcp:', 'tls:') } });
  const failure = failed((await securely())[0]);
  assert.equal(failure.code, 'BRIDGE_SYSLOG_TLS');
  assert.match(failure.message, /does not use TLS at this port/);
});
