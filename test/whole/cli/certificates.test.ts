// A certificate that expires in two days → the words of `check`, `run`, `status` and the metric.
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { run } from '../../support/program.ts';
import { bridgeFolder, startRun, urlOf } from '../../support/running-bridge.ts';

const WORDS =
  /sinks\.hooks\.tls\.ca: the certificate expires in (?:1 day|less than a day), at \d{4}-.*: renew the file/;

test('check, log, status and metric show a certificate that expires soon; a renewed file counts at once', async (t) => {
  const azure = await localSimulator(t);
  const authority = await CertificateAuthority.create(t);
  const ca = join(folderOf(t), 'ca.pem');
  copyFileSync(authority.file, ca);
  const sinks = { hooks: { type: 'webhook', url: 'https://hooks.example.com/', tls: { ca } } };
  const files = bridgeFolder(t, azure.url, { sinks });

  const check = await run(t, ['check', '--config', files.config]);
  assert.equal(check.code, 0, check.stderr);
  assert.match(check.stderr, WORDS);

  const program = await startRun(t, files);
  await program.logs('"expiresAt"');
  assert.match(program.stderr, WORDS);
  const expiry = async () => {
    const text = await (await fetch(`${urlOf(program)}/metrics`)).text();
    const sample = /certificate_expiry_timestamp_seconds\{used_by="sink",name="sinks\.hooks\.tls\.ca"\} (\d+)/.exec(
      text,
    );
    return Number(sample?.[1]) * 1000;
  };
  const before = await expiry();
  assert.ok(before > Date.now() && before < Date.now() + 3 * 86_400_000, String(before));
  const shown = await run(t, ['status', '--bridge', urlOf(program)]);
  const { certificates } = JSON.parse(shown.stdout) as { certificates: readonly object[] };
  const expiresAt = new Date(before).toISOString().replace('.000Z', 'Z');
  assert.deepEqual(certificates, [{ usedBy: 'sink', name: 'sinks.hooks.tls.ca', subject: 'CN=authority', expiresAt }]);

  const { certFile } = await authority.issue(null, { subject: '/CN=authority', expired: true });
  copyFileSync(certFile, ca);
  await poll(async () => (await expiry()) < Date.now(), 'the expiry of the new file');
});
