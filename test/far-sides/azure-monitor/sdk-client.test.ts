// Microsoft's client of the Logs Ingestion API → the tests' endpoint accepts its requests.
// Opt-in: MONITOR_INGESTION_SDK names a folder with @azure/monitor-ingestion 1.2.0 in its node_modules.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { CERTIFICATE, PRIVATE_KEY } from '../certificate.ts';
import { DataCollectionEndpoint, type Row, RULE, STREAM } from './data-collection-endpoint.ts';

const FOLDER = process.env['MONITOR_INGESTION_SDK'] ?? '';
const skip = FOLDER === '' && 'MONITOR_INGESTION_SDK names no folder';

/** The used part of the SDK. */
interface Sdk {
  readonly LogsIngestionClient: new (
    endpoint: string,
    credential: { getToken(scope: string | string[]): Promise<{ token: string; expiresOnTimestamp: number }> },
  ) => { upload(rule: string, stream: string, rows: readonly Row[]): Promise<void> };
}

async function start(t: TestContext) {
  const trusted = getCACertificates();
  setDefaultCACertificates([...trusted, CERTIFICATE]);
  t.after(() => setDefaultCACertificates(trusted));
  const endpoint = await DataCollectionEndpoint.start({ tls: { cert: CERTIFICATE, key: PRIVATE_KEY } });
  t.after(() => endpoint[Symbol.asyncDispose]());
  const { LogsIngestionClient } = createRequire(join(FOLDER, 'any.js'))('@azure/monitor-ingestion') as Sdk;
  const scopes: unknown[] = [];
  const client = new LogsIngestionClient(endpoint.url, {
    getToken: async (scope) => {
      scopes.push(scope);
      return { token: 'of-the-sdk', expiresOnTimestamp: Date.now() + 3_600_000 };
    },
  });
  return { endpoint, scopes, upload: (rows: readonly Row[], rule = RULE) => client.upload(rule, STREAM, rows) };
}

const ROW = { TimeGenerated: '2026-01-01T00:00:00Z', EventId: 'id', message: 'Wartung für „WestNO“ 💥' };

test('the endpoint accepts the SDK’s upload, with the same path, version, scope and compression as the sink’s', {
  skip,
}, async (t) => {
  const { endpoint, scopes, upload } = await start(t);
  await upload([ROW, ROW]);
  assert.deepEqual(endpoint.rows, [ROW, ROW]);
  const { path, headers } = endpoint.receiver.requests[0] ?? assert.fail('nothing arrived');
  const { pathname, searchParams } = new URL(path, endpoint.url);
  assert.deepEqual(
    [pathname, [...searchParams]],
    [`/dataCollectionRules/${RULE}/streams/${STREAM}`, [['api-version', '2023-01-01']]],
  );
  assert.deepEqual([headers['content-encoding'], headers.authorization], ['gzip', 'Bearer of-the-sdk']);
  assert.equal(String(scopes[0]), 'https://monitor.azure.com/.default');
});

test('the SDK keeps its bodies within the limit of the endpoint', { skip }, async (t) => {
  const { endpoint, upload } = await start(t);
  await upload(
    Array.from({ length: 2500 }, (_, index) => ({ ...ROW, EventId: String(index), padding: 'x'.repeat(1000) })),
  );
  assert.equal(endpoint.rows.length, 2500);
  assert.ok(endpoint.sizes.length >= 3 && Math.max(...endpoint.sizes) <= endpoint.maxBytes);
});

test('the SDK waits for Retry-After, and gives up after 403, 404 or 413', { skip }, async (t) => {
  const { endpoint, upload } = await start(t);
  endpoint.receiver.next({ status: 429, headers: { 'retry-after': '1' } });
  await upload([ROW]);
  assert.equal(endpoint.receiver.requests.length, 2);
  await assert.rejects(upload([ROW], 'dcr-0'), { name: 'AggregateLogsUploadError' });
  endpoint.hasRole = false;
  await assert.rejects(upload([ROW]));
  endpoint.hasRole = true;
  endpoint.tooLarge = '[';
  await assert.rejects(upload([ROW]));
  assert.equal(endpoint.rows.length, 1);
});
