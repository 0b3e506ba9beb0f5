// Configurations of Azure Monitor sinks → their defaults, or each fault at its key.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { azureMonitorOptions, azureMonitorSink } from '../../../../adapters/azure-monitor/azure-monitor.ts';
import { configOf, faultsOf, surroundings } from '../../../support/config.ts';

const RIGHT = {
  endpoint: 'https://x.westeurope-1.ingest.monitor.azure.com',
  rule: 'dcr-0123',
  stream: 'Custom-ScheduledEvents',
};

test('only endpoint, rule and stream are required', () => {
  const { maxBatch, maxBatchBytes, timeout, headers } = v.parse(azureMonitorOptions, RIGHT);
  assert.deepEqual([maxBatch, maxBatchBytes, timeout, headers], [500, 1_048_576, 10_000, {}]);
});

const WRONG: readonly (readonly [options: Readonly<Record<string, unknown>>, path: string, says: RegExp])[] = [
  [{ endpoint: 'http://x.ingest.monitor.azure.com' }, 'endpoint', /must start with https:\/\//],
  [{ endpoint: 'x.ingest.monitor.azure.com' }, 'endpoint', /must start with https:\/\//],
  [{ endpoint: 'https://hidden:hidden@x.ingest.monitor.azure.com' }, 'endpoint', /must not contain user:password@/],
  [{ url: 'https://x.ingest.monitor.azure.com' }, 'url', /key/],
  [{ rule: 'scheduled-events' }, 'rule', /immutable id of a data collection rule/],
  [{ rule: 'dcr-1/streams/hidden' }, 'rule', /immutable id/],
  [{ stream: 'ScheduledEvents_CL' }, 'stream', /a stream that the rule declares/],
  [{ stream: 'Custom-a?hidden' }, 'stream', /a stream/],
  [{ maxBatchBytes: '2MiB' }, 'maxBatchBytes', /from 4KiB to 1MiB/],
  [
    { credential: 'managed-identity', tenantId: 'hidden' },
    'tenantId',
    /has no effect with credential managed-identity/,
  ],
  [{ credential: 'client-certificate', tenantId: 't', clientId: 'c' }, 'certificate', /is missing/],
  [
    { headers: { Authorization: 'hidden' } },
    'headers',
    /contains authorization, which the sink sets from its Microsoft Entra ID token/,
  ],
];

for (const [options, path, says] of WRONG)
  test(`${JSON.stringify(options)} is a fault of ${path}`, () => {
    const { issues } = v.safeParse(azureMonitorOptions, { ...RIGHT, ...options });
    assert.equal(issues?.length, 1);
    assert.equal(v.getDotPath(issues[0]), path);
    assert.match(issues[0].message, says);
    assert.doesNotMatch(issues[0].message, /hidden/);
  });

const AROUND = { ...surroundings({ DCE: 'http://10.1.2.3' }), adapters: [azureMonitorSink] };
const sink = (options: object) =>
  JSON.stringify({ version: 1, sinks: { logs: { type: 'azure-monitor', ...RIGHT, ...options } } });

test('faults in resolved secrets name the key endpoint, not url', () => {
  const opened = faultsOf(sink({ endpoint: { env: 'DCE' } }), AROUND);
  assert.equal(opened.length, 2);
  assert.ok(opened.every((fault) => fault.includes('sinks.logs.endpoint')));
  const [literal] = faultsOf(sink({ endpoint: 'https://169.254.169.254' }), AROUND);
  assert.match(literal ?? '', /sinks\.logs\.endpoint.* is an address of the metadata service/);
  const plain = faultsOf(
    sink({ endpoint: 'http://example.com', allowInsecure: true, tls: { serverName: 'x' } }),
    AROUND,
  );
  assert.match(plain.join(), /has no effect with an http:\/\/ endpoint/);
  assert.ok(configOf(sink({}), AROUND));
});
