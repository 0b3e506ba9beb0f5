// The certificates of a configuration, their files and the time → expiry, warnings and log lines.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { ADAPTERS } from '../../../adapters/index.ts';
import { CertificateWatch } from '../../../src/bridge/certificate-watch.ts';
import { readRegularFile } from '../../../src/secrets/regular-file.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';
import { configOf, surroundings } from '../../support/config.ts';
import { folderOf } from '../../support/folder.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const EXPIRES_AT = '2126-10-28T12:19:22Z';
const EXPIRES_MS = Date.parse(EXPIRES_AT);
/** Expires a day later. */
const RENEWED = readRegularFile(join(import.meta.dirname, '../../fixtures/certificates/application-1.pem'));

function watchOf(t: TestContext, yaml: (folder: string) => string, startMs: number) {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'cert.pem'), CERTIFICATE);
  writeFileSync(join(folder, 'key.pem'), PRIVATE_KEY);
  const config = (text: string) =>
    configOf(text, { ...surroundings(), adapters: ADAPTERS, readFile: readRegularFile, directory: folder });
  const time = new VirtualTime({ startMs });
  const lines: { level: number; path: string; msg: string; expiresAt: string }[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
  const watch = new CertificateWatch({ config: config(yaml(folder)), deps: time, logger });
  t.after(() => watch.stop());
  return { folder, config, time, lines, watch };
}

const LISTENER = `{ version: 1, http: { tls: { cert: cert.pem, key: key.pem } } }`;

test('every file with certificates that the configuration names is listed with its user', (t) => {
  const { watch } = watchOf(
    t,
    () => `
version: 1
http: { tls: { cert: cert.pem, key: key.pem, clientCa: cert.pem } }
approvals:
  jwt: { issuer: "https://id.example.com", audience: bridge, jwks: "https://id.example.com/keys", tls: { ca: cert.pem } }
  approvers: { ops: { subject: ops } }
  sources:
    queue: { type: kafka, brokers: [kafka.example.com:9093], topic: approvals, approver: ops, ssl: { ca: cert.pem } }
sinks:
  hooks: { type: webhook, url: "https://hooks.example.com/", tls: { ca: cert.pem, cert: cert.pem, key: key.pem } }
  bus: { type: service-bus, namespace: ns.servicebus.windows.net, topic: t, tls: { ca: cert.pem } }
  logs: { type: syslog, server: "tls://logs.example.com:6514", tls: { ca: cert.pem } }
`,
    EXPIRES_MS - 31 * DAY_MS,
  );
  assert.deepEqual(
    watch.all().map(({ usedBy, name, expiresAtMs }) => [usedBy, name, expiresAtMs === EXPIRES_MS]),
    [
      ['listener', 'http.tls.cert', true],
      ['listener', 'http.tls.clientCa', true],
      ['listener', 'approvals.jwt.tls.ca', true],
      ['sink', 'sinks.hooks.tls.ca', true],
      ['sink', 'sinks.hooks.tls.cert', true],
      ['sink', 'sinks.bus.tls.ca', true],
      ['sink', 'sinks.logs.tls.ca', true],
      ['source', 'approvals.sources.queue.ssl.ca', true],
    ],
  );
  assert.deepEqual(watch.expiring(), []);
});

test('the log has one warning 30 days before, one 7 days before and an error at the end', async (t) => {
  const { time, lines, watch } = watchOf(t, () => LISTENER, EXPIRES_MS - 30 * DAY_MS - MINUTE_MS);
  watch.start();
  assert.equal(lines.length, 0);
  for (const jumpMs of [0, 23 * DAY_MS, 7 * DAY_MS]) {
    time.jumpWall(jumpMs);
    await time.advance(3 * MINUTE_MS);
  }
  const words = lines.map(({ level, path, expiresAt, msg }) => [level, path, expiresAt, msg.split(', at ')[0]]);
  assert.deepEqual(words, [
    [40, 'http.tls.cert', EXPIRES_AT, 'http.tls.cert: the certificate expires in 30 days'],
    [40, 'http.tls.cert', EXPIRES_AT, 'http.tls.cert: the certificate expires in 6 days'],
    [50, 'http.tls.cert', EXPIRES_AT, 'http.tls.cert: the certificate expired less than a day ago'],
  ]);
  assert.deepEqual(watch.expiring(), [
    { usedBy: 'listener', name: 'http.tls.cert', subject: 'CN=localhost', expiresAt: EXPIRES_AT },
  ]);
});

test('a renewed file is read again without a restart, and a file that is away keeps its last expiry', async (t) => {
  const { folder, time, lines, watch } = watchOf(t, () => LISTENER, EXPIRES_MS - 30 * DAY_MS);
  watch.start();
  const [expiring] = watch.expiring();
  assert.equal(expiring?.expiresAt, EXPIRES_AT);
  rmSync(join(folder, 'cert.pem'));
  await time.advance(MINUTE_MS);
  assert.deepEqual(watch.expiring(), [expiring]);
  writeFileSync(join(folder, 'cert.pem'), RENEWED);
  await time.advance(2 * MINUTE_MS);
  assert.deepEqual([watch.expiring(), watch.all()[0]?.expiresAtMs], [[], Date.parse('2126-10-29T14:16:42Z')]);
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg.replace(/expires in .*/, 'expires')]),
    [
      [40, 'http.tls.cert: the certificate expires'],
      [30, 'the certificate in http.tls.cert was renewed'],
    ],
  );
});

test('a reload takes the certificates of the new configuration, and repeats no warning', async (t) => {
  const { config, time, lines, watch } = watchOf(t, () => LISTENER, EXPIRES_MS - DAY_MS);
  watch.start();
  watch.reload(config(LISTENER));
  assert.equal(lines.length, 1);
  watch.reload(config('{ version: 1 }'));
  assert.deepEqual(watch.all(), []);
  await time.advance(MINUTE_MS);
  assert.equal(time.pending, 0);
});
