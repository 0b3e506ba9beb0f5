// docs/approve/who-may-approve.md → its configuration and certificates; its approvers are known.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { pino } from 'pino';
import type { Approvals } from '../../src/approvals/approvals.ts';
import { type HttpInterface, openHttpInterface } from '../../src/bridge/http-interface.ts';
import type { ApprovalOrigin } from '../../src/model/approvals.ts';
import { systemDeps } from '../../src/time/system.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../far-sides/certificate.ts';
import { Issuer } from '../far-sides/token-issuer.ts';
import { configOf, surroundings } from '../support/config.ts';
import { folderOf } from '../support/folder.ts';
import { HttpFixture, NO_EVENTS } from '../virtual/http-fixture.ts';
import { codeBlocksOf } from './markdown-page.ts';

const run = promisify(execFile);
const blocks = codeBlocksOf('docs/approve/who-may-approve.md');
const TOKEN = 'orders-token-from-a-file';
const TENANT = 'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555';
const API = '99999999-8888-7777-6666-555555555555';

/**
 * The page's configuration with the keys of an issuer on loopback, listening there, with the page's certificates made.
 */
async function serve(t: TestContext) {
  const folder = folderOf(t);
  const [make, ask] = blocks.filter(({ heading, language }) => heading === 'Client certificates' && language === 'sh');
  const yaml = blocks.find(({ language }) => language === 'yaml')?.text;
  assert.ok(make && ask && yaml);
  writeFileSync(join(folder, 'server.pem'), CERTIFICATE);
  writeFileSync(join(folder, 'server-key.pem'), PRIVATE_KEY);
  writeFileSync(join(folder, 'orders.token'), `${TOKEN}\n`);
  await run('sh', ['-ec', make.text], { cwd: folder });

  const issuer = await Issuer.start(t);
  const local = yaml
    .replace('0.0.0.0:8700', '127.0.0.1:0')
    .replace(/jwks: \S+/, `jwks: "${issuer.url}"\n    allowInsecure: true\n    allowPrivate: [127.0.0.1]`);
  const readFile = (path: string) => readFileSync(path, 'utf8');
  const config = configOf(`version: 1\n${local}`, { ...surroundings(), directory: folder, readFile });
  const { heard, http } = await open(t, config);
  const { port } = new URL(http.url);
  const curl = async (text: string) =>
    (await run('sh', ['-ec', text.replace('localhost:8700', `localhost:${port}`)], { cwd: folder })).stdout;
  const withHeader = (header: string) =>
    curl(ask.text.replace('--cert billing.pem --key billing-key.pem', `-H '${header}'`));
  return { issuer, heard, curl, ask: ask.text, withHeader };
}

function servedByNobody() {
  const { operations, streams } = new HttpFixture();
  return { operations, streams };
}

async function open(t: TestContext, config: Parameters<typeof openHttpInterface>[0]['config']) {
  const heard: ApprovalOrigin[] = [];
  const approvals = {
    request: async (origin: ApprovalOrigin) => {
      heard.push(origin);
      return { kind: 'results', status: 200, results: [] };
    },
  } as unknown as Approvals;
  const http: HttpInterface = await openHttpInterface({
    config,
    onUnauthorized: () => {},
    onConnectionDropped: () => {},
    events: () => NO_EVENTS,
    approvals: () => approvals,
    reload: async () => ({ kind: 'no-file' }),
    ...servedByNobody(),
    drills: () => null,
    readiness: () => ({ ready: true, reasons: [], details: {} }),
    drain: () => null,
    asyncApi: async () => Buffer.of(),
    metrics: async () => ({ contentType: 'text/plain', body: '' }),
    deps: systemDeps(),
    logger: pino({ level: 'silent' }),
  });
  t.after(() => http[Symbol.asyncDispose]());
  return { heard, http };
}

test('each approver of the page is authenticated by its credential, and the record says how', async (t) => {
  const { issuer, heard, curl, ask, withHeader } = await serve(t);
  assert.equal(await curl(ask), '{"results":[]}');
  await withHeader(`Authorization: Bearer ${TOKEN}`);
  const token = await issuer.token(Date.now(), { iss: `${TENANT}/v2.0`, aud: API, roles: ['Maintenance.Approve'] });
  await withHeader(`Authorization: Bearer ${token}`);
  assert.deepEqual(heard, [
    { approver: 'billing', via: 'certificate', isShared: false },
    { approver: 'orders', via: 'token', isShared: false },
    { approver: 'ops', via: 'jwt', isShared: false },
  ]);
});

test('callers without a credential, or with a wrong one, are rejected', async (t) => {
  const { issuer, heard, withHeader } = await serve(t);
  const other = await issuer.token(Date.now(), { iss: `${TENANT}/v2.0`, aud: API, roles: ['Other'] });
  for (const header of ['X-Nothing: 1', 'Authorization: Bearer wrong-token-000001', `Authorization: Bearer ${other}`]) {
    assert.equal(JSON.parse(await withHeader(header)).status, 401);
  }
  assert.deepEqual(heard, []);
});

test('while the identity provider is away its tokens get 503 with the time to wait, and others notice nothing', async (t) => {
  const { issuer, heard, curl, ask, withHeader } = await serve(t);
  issuer.misbehave = (response) => response.destroy();
  const token = await issuer.token(Date.now(), { iss: `${TENANT}/v2.0`, aud: API, roles: ['Maintenance.Approve'] });
  const refused = JSON.parse(await withHeader(`Authorization: Bearer ${token}`));
  assert.deepEqual([refused.status, refused.type], [503, 'unavailable']);
  assert.match(refused.detail, /BRIDGE_JWT_KEYS/);
  await curl(ask);
  await withHeader(`Authorization: Bearer ${TOKEN}`);
  assert.deepEqual(
    heard.map(({ via }) => via),
    ['certificate', 'token'],
  );
});
