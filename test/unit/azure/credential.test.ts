// Each kind of credential → whom it asks for Entra ID tokens, how often, and what failures say.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type AzureCredentialOptions, azureCredentialFaults } from '../../../src/azure/options.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { FakeEntra, setEnvironment } from '../../far-sides/entra-id.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { SECRET, start } from '../../virtual/credential-fixture.ts';

function secretOf(text: string, file: string | null = null): Secret {
  const secret = new Secret({ env: 'SECRET' });
  secret.open(text, file);
  return secret;
}

const application = {
  credential: 'client-secret',
  tenantId: 'tenant',
  clientId: 'application',
  clientSecret: secretOf(SECRET),
} as const;

test('concurrent callers share one request, and its token is used until shortly before it expires', async (t) => {
  const entra = await FakeEntra.start(t);
  const { time, ask, scope } = start(t, { credential: 'managed-identity' });
  entra.wallMs = time.wallMs;
  entra.answer = () => entra.good(200);
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ['token-1', 'token-1', 'token-1']);
  assert.equal(entra.requests[0]?.at, 'identity');
  assert.equal(entra.requests[0]?.url.searchParams.get('resource'), scope.replace('/.default', ''));
  await time.advance(175_000);
  assert.equal(await ask(), 'token-1');
  await time.advance(6_000);
  assert.equal(await ask(), 'token-2');
  assert.equal(entra.requests.length, 2);
});

test('a machine that slept, or with a changed clock, requests a new token', async (t) => {
  const entra = await FakeEntra.start(t);
  const { time, ask } = start(t, { credential: 'managed-identity' });
  entra.wallMs = time.wallMs;
  entra.answer = () => entra.good(200);
  assert.equal(await ask(), 'token-1');
  time.jumpWall(185_000);
  assert.equal(await ask(), 'token-2');
});

test('a user-assigned identity is named by its client id', async (t) => {
  const entra = await FakeEntra.start(t);
  await start(t, { credential: 'managed-identity', clientId: 'my-identity' }).ask();
  assert.equal(entra.requests[0]?.url.searchParams.get('client_id'), 'my-identity');
});

test('after a failure no request is sent for a pause, which doubles up to a minute', async (t) => {
  const entra = await FakeEntra.start(t);
  const { time, fails } = start(t, { credential: 'managed-identity' });
  entra.answer = () => ({ status: 500, body: {} });
  const first = await fails();
  assert.deepEqual([first.code, first.disposition], ['BRIDGE_AZURE_UNAVAILABLE', 'retry']);
  for (let round = 0; round < 50; round += 1) assert.equal(await fails(), first);
  assert.equal(entra.requests.length, 1);
  const pauses: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const before: number = entra.requests.length;
    let waitedMs = 0;
    for (; entra.requests.length === before; waitedMs += 250) {
      await time.advance(250);
      await fails();
    }
    pauses.push(waitedMs);
  }
  const most = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000];
  for (const [index, pause] of pauses.entries()) {
    const limit = most[index] ?? 0;
    assert.ok(pause >= limit / 2 && pause <= limit + 250, `${pause} of ${limit}`);
  }
});

test('the first token after failures ends the pause', async (t) => {
  const entra = await FakeEntra.start(t);
  const { time, ask, fails } = start(t, { credential: 'managed-identity' });
  entra.answer = () => ({ status: 429, body: {} });
  await fails();
  entra.answer = () => entra.good();
  await time.advance(1000);
  assert.equal(await ask(), 'token-1');
});

test('a token that cannot be renewed is used until it expires', async (t) => {
  const entra = await FakeEntra.start(t);
  const { time, ask, fails } = start(t, { credential: 'managed-identity' });
  entra.wallMs = time.wallMs;
  entra.answer = () => entra.good(200);
  await ask();
  entra.answer = () => ({ status: 500, body: {} });
  await time.advance(181_000);
  assert.equal(await ask(), 'token-1');
  assert.equal(entra.requests.length, 2);
  await time.advance(14_000);
  assert.equal((await fails()).code, 'BRIDGE_AZURE_UNAVAILABLE');
});

test('an aborted caller returns at once, and the next caller gets the answer', async (t) => {
  const entra = await FakeEntra.start(t);
  const { ask } = start(t, { credential: 'managed-identity' });
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const controller = new AbortController();
  const leaving = ask(controller.signal);
  const staying = gate.then(() => ask());
  controller.abort(new Error('no time'));
  await assert.rejects(leaving, /no time/);
  release();
  assert.equal(await staying, 'token-1');
  assert.equal(entra.requests.length, 1);
});

test('a request without an answer ends after 30 s', async (t) => {
  const entra = await FakeEntra.start(t);
  const { time, fails } = start(t, { credential: 'managed-identity' });
  entra.answer = () => 'never';
  const failing = fails();
  await poll(() => entra.requests.length === 1, 'the request');
  await time.advance(30_000);
  const { code, status, message } = await failing;
  assert.deepEqual([code, status], ['BRIDGE_AZURE_UNAVAILABLE', 'timeout']);
  assert.match(message, /^sinks\.stream\.sasl: the credential managed-identity gave no token within 30s/);
});

for (const [kind, options] of [
  ['managed-identity', { credential: 'managed-identity' }],
  ['client-secret', application],
] as const)
  test(`an answer to ${kind} with more than 64 KiB is not read, and asked for again`, async (t) => {
    const entra = await FakeEntra.start(t);
    const { time, ask, fails } = start(t, options);
    entra.answer = () => {
      const good = entra.good();
      return good === 'never' ? good : { ...good, body: { ...good.body, more: 'x'.repeat(64 * 1024) } };
    };
    const { code, disposition } = await fails();
    assert.deepEqual([code, disposition], ['BRIDGE_AZURE_UNAVAILABLE', 'retry']);
    entra.answer = () => entra.good();
    await time.advance(1000);
    assert.match(await ask(), /^token-/);
  });

test('a missing identity is reported with a remedy', async (t) => {
  const entra = await FakeEntra.start(t);
  const { fails } = start(t, { credential: 'managed-identity' });
  entra.answer = () => ({ status: 400, body: { error: 'invalid_request', error_description: 'Identity not found' } });
  const { code, disposition, message } = await fails();
  assert.deepEqual([code, disposition], ['BRIDGE_AZURE_REFUSED', 'misconfigured']);
  assert.match(message, /gave no token \(Identity not found\): assign a managed identity to this machine/);
});

test('an application authenticates with its secret, which appears nowhere else', async (t) => {
  const entra = await FakeEntra.start(t);
  const { ask, scope } = start(t, application);
  assert.equal(await ask(), 'token-1');
  const { at, form } = entra.requests[0] ?? assert.fail();
  assert.deepEqual(
    [at, form.get('client_id'), form.get('client_secret'), form.get('scope')],
    ['entra', 'application', SECRET, scope],
  );
});

test("a wrong secret is reported with Entra's message, but without the secret", async (t) => {
  const entra = await FakeEntra.start(t);
  const { fails } = start(t, application);
  const why = `AADSTS7000215: Invalid client secret provided: ${SECRET}`;
  entra.answer = () => ({ status: 401, body: { error: 'invalid_client', error_description: why } });
  const { code, disposition, message } = await fails();
  assert.deepEqual([code, disposition], ['BRIDGE_AZURE_REFUSED', 'misconfigured']);
  assert.match(
    message,
    /AADSTS7000215: Invalid client secret provided: \[secret\].*value of a secret that has not expired/,
  );
});

test('a failure of Entra is not reported as a wrong secret', async (t) => {
  const entra = await FakeEntra.start(t);
  const { fails } = start(t, application);
  entra.answer = () => ({
    status: 503,
    body: { error: 'temporarily_unavailable', error_description: 'AADSTS90033: A transient error.' },
  });
  assert.equal((await fails()).code, 'BRIDGE_AZURE_UNAVAILABLE');
});

for (const [kind, options] of [
  ['managed identity', { credential: 'managed-identity' }],
  ['user-assigned identity', { credential: 'managed-identity', clientId: 'refused' }],
  ['application', application],
  ['default', { credential: 'default' }],
] as const)
  test(`a rejected token is removed from every cache: the next one is new (${kind})`, async (t) => {
    const entra = await FakeEntra.start(t);
    const { ask, credential, scope } = start(t, options);
    assert.equal(await ask(), 'token-1');
    credential.refused(scope, 'token-of-long-ago');
    assert.equal(await ask(), 'token-1');
    credential.refused(scope, 'token-1');
    assert.deepEqual(await Promise.all([ask(), ask()]), ['token-2', 'token-2']);
    credential.refused(scope, 'token-1');
    assert.equal(await ask(), 'token-2');
    assert.equal(entra.requests.length, 2);
  });

/** Key and certificate, valid for a hundred years; Entra takes no other keys than RSA. */
const [FIRST, SECOND] = ['application-1.pem', 'application-2.pem'].map((name) =>
  readFileSync(new URL(`../../fixtures/certificates/${name}`, import.meta.url), 'utf8'),
) as [string, string];

test('an application authenticates with a certificate, and with a new one after its file has changed', async (t) => {
  const entra = await FakeEntra.start(t);
  const file = join(folderOf(t), 'application.pem');
  await writeFile(file, FIRST);
  const options = { credential: 'client-certificate', tenantId: 'tenant', clientId: 'application' } as const;
  const { time, ask } = start(t, { ...options, certificate: secretOf(FIRST, file) });
  entra.wallMs = time.wallMs;
  entra.answer = () => entra.good(200);
  await ask();
  await writeFile(file, SECOND);
  await time.advance(185_000);
  await ask();
  const shown = entra.requests.map(({ form }) => (form.get('client_assertion') ?? '').split('.')[0]);
  assert.equal(new Set(shown).size, 2);
  assert.ok(!shown.includes(''));
});

test('a workload sends the token of its platform', async (t) => {
  const file = join(folderOf(t), 'federated');
  await writeFile(file, 'federated-token');
  const env = { AZURE_CLIENT_ID: 'workload', AZURE_TENANT_ID: 'tenant', AZURE_FEDERATED_TOKEN_FILE: file };
  const entra = await FakeEntra.start(t, env);
  assert.equal(await start(t, { credential: 'workload-identity' }).ask(), 'token-1');
  const { form } = entra.requests[0] ?? assert.fail();
  assert.deepEqual([form.get('client_id'), form.get('client_assertion')], ['workload', 'federated-token']);
});

test('an environment with an application is enough, and an empty one is reported', async (t) => {
  await FakeEntra.start(t);
  const nothing = await start(t, { credential: 'environment' }).fails();
  assert.match(
    nothing.message,
    /credential environment gave no token .* set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET/,
  );
  const entra = await FakeEntra.start(t, {
    AZURE_TENANT_ID: 'tenant',
    AZURE_CLIENT_ID: 'env-app',
    AZURE_CLIENT_SECRET: SECRET,
  });
  assert.equal(await start(t, { credential: 'environment' }).ask(), 'token-1');
  assert.equal(entra.requests[0]?.form.get('client_id'), 'env-app');
});

test('a workload without the data of its platform is reported each time, until the data exists', async (t) => {
  await FakeEntra.start(t);
  const { time, fails, ask } = start(t, { credential: 'workload-identity' });
  assert.match((await fails()).message, /federated with/);
  const file = join(folderOf(t), 'federated');
  await writeFile(file, 'federated-token');
  await FakeEntra.start(t, { AZURE_CLIENT_ID: 'late', AZURE_TENANT_ID: 'tenant', AZURE_FEDERATED_TOKEN_FILE: file });
  await time.advance(1000);
  assert.equal(await ask(), 'token-1');
});

test('default uses the first available credential', async (t) => {
  const entra = await FakeEntra.start(t);
  assert.equal(await start(t, { clientId: 'assigned' }).ask(), 'token-1');
  assert.deepEqual(
    [entra.requests[0]?.at, entra.requests[0]?.url.searchParams.get('client_id')],
    ['identity', 'assigned'],
  );
});

test('each kind of credential reports missing and unused keys', () => {
  const keys = (options: AzureCredentialOptions) => azureCredentialFaults(options).map(({ key }) => key);
  assert.deepEqual(keys({}), []);
  assert.deepEqual(keys({ credential: 'client-secret' }), ['tenantId', 'clientId', 'clientSecret']);
  assert.deepEqual(keys({ credential: 'client-certificate', tenantId: 't', clientId: 'c' }), ['certificate']);
  assert.deepEqual(keys({ credential: 'managed-identity', tenantId: 't', clientSecret: secretOf('x') }), [
    'tenantId',
    'clientSecret',
  ]);
  assert.deepEqual(keys({ credential: 'environment', clientId: 'c' }), ['clientId']);
  assert.deepEqual(keys({ credential: 'workload-identity', clientId: 'c', tenantId: 't' }), []);
});

test('the authority of a national cloud is used, for any environment', async (t) => {
  const entra = await FakeEntra.start(t);
  const authorityHost = process.env['AZURE_AUTHORITY_HOST'] ?? '';
  setEnvironment(t, { AZURE_AUTHORITY_HOST: 'https://localhost:1' });
  const clientSecret = secretOf(SECRET);
  const { ask } = start(t, {
    credential: 'client-secret',
    tenantId: 'tenant',
    clientId: 'app',
    clientSecret,
    authorityHost,
  });
  assert.equal(await ask(), 'token-1');
  assert.equal(entra.requests[0]?.at, 'entra');
});
