// `check --connect` with a fault of receiver, certificate, name or proxy → a line with the cure.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import { checkConnections } from '../../../src/bridge/connections.ts';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { ConnectProxy } from '../../far-sides/connect-proxy.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { configOf } from '../../support/config.ts';
import { adapterDeps } from '../adapter-deps.ts';

/** No name of the DNS has so long a part, so nobody is asked. */
const UNRESOLVABLE = `${'x'.repeat(64)}.test`;

/** What the lines of `check --connect` say of these sinks, by name; null for one that can be reached. */
async function linesOf(
  sinks: Readonly<Record<string, Record<string, unknown>>>,
): Promise<Record<string, string | null>> {
  const typed = Object.entries(sinks).map(([name, sink]) => [
    name,
    { type: 'webhook', allowPrivate: ['127.0.0.0/8'], ...sink },
  ]);
  const file = { version: 1, metadata: { endpoint: 'http://127.0.0.1:1' }, sinks: Object.fromEntries(typed) };
  const readFile = (path: string) => readFileSync(path, 'utf8');
  const config = configOf(JSON.stringify(file), { adapters: [webhookSink], env: {}, readFile, directory: '/' });
  const deps = adapterDeps();
  const parts = { deps, logger: deps.logger, stdout: new PassThrough(), signal: new AbortController().signal, env: {} };
  const lines: Record<string, string | null> = {};
  for await (const { name, error } of checkConnections(config, parts)) lines[name.replace('sinks.', '')] = error;
  return lines;
}

async function secured(t: TestContext, name: string, { expired = false } = {}) {
  const authority = await CertificateAuthority.create(t);
  const receiver = await WebhookReceiver.start({ tls: await authority.issue(name, { expired }) });
  t.after(() => receiver.stop());
  return { url: receiver.url, receiver, ca: authority.file };
}

test('check --connect reports the fault of each sink, and no fault of the others', async (t) => {
  const [good, expired, misnamed, unknown] = await Promise.all([
    secured(t, 'IP:127.0.0.1'),
    secured(t, 'IP:127.0.0.1', { expired: true }),
    secured(t, 'DNS:other.test'),
    secured(t, 'IP:127.0.0.1'),
  ]);
  const [through, refusing] = await Promise.all([ConnectProxy.start(t), ConnectProxy.start(t)]);
  refusing.default = 407;
  const away = await ConnectProxy.start(t);
  const { url: awayUrl } = away;
  away.stop();
  const found = await linesOf({
    good: { url: good.url, tls: { ca: good.ca } },
    proxied: { url: good.url, tls: { ca: good.ca }, proxy: through.url },
    expired: { url: expired.url, tls: { ca: expired.ca } },
    misnamed: { url: misnamed.url, tls: { ca: misnamed.ca } },
    unknown: { url: unknown.url },
    nameless: { url: `https://${UNRESOLVABLE}/` },
    refused: { url: good.url, tls: { ca: good.ca }, proxy: refusing.url },
    away: { url: good.url, tls: { ca: good.ca }, proxy: awayUrl },
    forbidden: { url: 'https://localhost:9/', allowPrivate: [] },
  });
  const expected: Readonly<Record<string, RegExp | null>> = {
    good: null,
    proxied: null,
    expired: /^sink expired: https:\/\/127\.0\.0\.1:\d+ shows a certificate that has expired/,
    misnamed: /^sink misnamed: .*for another name: correct the host in the url/,
    unknown: /^sink unknown: .*does not trust: .*tls\.ca/,
    nameless:
      /^sink nameless: https:\/\/x{64}\.test cannot be reached: the name x{64}\.test could not be resolved \((ENOTFOUND|EAI_[A-Z]+): /,
    refused: /^sink refused: the proxy http:\/\/127\.0\.0\.1:\d+ answered 407 .*user and a password/,
    away: /^sink away: the proxy http:\/\/127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/,
    forbidden: /^sink forbidden does not connect to https:\/\/localhost:9: .*allowPrivate/,
  };
  for (const [name, says] of Object.entries(expected)) {
    if (says === null) assert.equal(found[name], null);
    else assert.match(found[name] ?? '', says);
  }
  assert.deepEqual(
    [good, expired, misnamed, unknown].map(({ receiver }) => receiver.requests.length),
    [0, 0, 0, 0],
  );
});
