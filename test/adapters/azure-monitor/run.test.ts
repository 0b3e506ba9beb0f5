// The built command, an Azure Monitor sink and the simulator → the rows of a whole maintenance.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DataCollectionEndpoint } from '../../far-sides/azure-monitor/data-collection-endpoint.ts';
import { CERTIFICATE } from '../../far-sides/certificate.ts';
import { FakeEntra } from '../../far-sides/entra-id.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { run } from '../../support/program.ts';
import { bridgeFolder, startRun } from '../../support/running-bridge.ts';
import { optionsFor, TLS } from './start-azure-monitor.ts';

async function started(t: TestContext) {
  const entra = await FakeEntra.start(t);
  const endpoint = await DataCollectionEndpoint.start({ tls: TLS });
  t.after(() => endpoint[Symbol.asyncDispose]());
  const azure = await localSimulator(t);
  const ca = join(folderOf(t), 'ca.pem');
  writeFileSync(ca, CERTIFICATE);
  const folder = bridgeFolder(t, azure.url, {
    sinks: { logs: { type: 'azure-monitor', ...optionsFor(endpoint.url), tls: { ca } } },
  });
  const env = Object.fromEntries(
    ['IDENTITY_ENDPOINT', 'IDENTITY_HEADER'].map((name) => [name, process.env[name] ?? '']),
  );
  return { entra, endpoint, azure, folder, env };
}

test('a whole maintenance is found by its EventId, although a token was rejected and the endpoint was away', async (t) => {
  const { endpoint, azure, folder, env } = await started(t);
  const told = () =>
    endpoint.rows.map(({ CloudEventType, dataEventStatus }) => [
      String(CloudEventType).split('.').at(-2),
      dataEventStatus,
    ]);
  const bridge = await startRun(t, folder, { env });
  const { EventId } = await azure.schedule({});
  await poll(() => told().length === 1, 'the notice');
  endpoint.revoked.add('token-1');
  await azure.start(EventId);
  await poll(() => told().length === 2, 'the start');
  await endpoint.receiver.stop();
  await azure.end(EventId);
  await poll(() => bridge.stderr.includes('cannot be reached'), 'the log to tell');
  await endpoint.receiver.start();
  await poll(() => told().length === 3, 'the end');
  assert.deepEqual(told(), [
    ['scheduled', 'Scheduled'],
    ['started', 'Started'],
    ['ended', 'Ended'],
  ]);
  assert.ok(endpoint.rows.every(({ dataEventId }) => dataEventId === EventId));
  const { code, stderr } = await bridge.end('SIGTERM');
  assert.equal(code, 0);
  assert.doesNotMatch(stderr, /token-\d/);
});

test('check --connect gets a token, connects and posts nothing; without a token it reports the cause', async (t) => {
  const { entra, endpoint, folder, env } = await started(t);
  const check = () => run(t, ['check', '--connect', '--config', folder.config], { env });
  const { code, stdout } = await check();
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'metadata: can be reached\nsinks.logs: can be reached\n' });
  entra.answer = () => ({ status: 400, body: { error: 'invalid_request', error_description: 'Identity not found' } });
  const without = await check();
  assert.equal(without.code, 1);
  assert.match(without.stdout, /\nsinks\.logs: .*gave no token \(Identity not found\): assign a managed identity/);
  assert.deepEqual(endpoint.receiver.requests, []);
});
