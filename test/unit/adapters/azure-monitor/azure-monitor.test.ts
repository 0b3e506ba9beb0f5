// CloudEvents of every type → the size of their records; clouds → the authority of tokens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { azureMonitorOptions, LogsIngestion, scopeOf } from '../../../../adapters/azure-monitor/azure-monitor.ts';
import { sampleEvents } from '../../../../adapters/webhook/template/template-samples.ts';
import { azureAuthorityOf } from '../../../../src/azure/options.ts';
import { toJournalEntry } from '../../../../src/cloudevents/event.ts';
import { adapterDeps } from '../../../adapters/adapter-deps.ts';
import { sampleDelivery } from '../../../adapters/sample-deliveries.ts';
import { scheduledEvent } from '../../../support/events.ts';
import { context, eventChange } from '../../cloudevents/changes.ts';
import { hostileText } from '../../log-record/samples.ts';

const endpoint = 'https://x.ingest.monitor.azure.com';
const sink = new LogsIngestion(
  v.parse(azureMonitorOptions, { endpoint, rule: 'dcr-0', stream: 'Custom-X' }),
  adapterDeps(),
);

/** Returns the bytes of an event in the array, with its comma. */
function growthOf(bytes: Uint8Array): number {
  const body = sink.encode([{ ...sampleDelivery(), bytes }]).body;
  return (Buffer.byteLength(body) - 1) / bytes.byteLength;
}

test('no CloudEvent grows by more than the factor `growth`', () => {
  const encoder = new TextEncoder();
  for (const { change, event } of sampleEvents())
    assert.ok(growthOf(encoder.encode(JSON.stringify(event))) < sink.growth, change);
  fc.assert(
    fc.property(fc.array(hostileText, { size: 'large' }), hostileText, fc.nat(20), (resources, description, times) => {
      const event = scheduledEvent({ description: description.repeat(times), resources });
      assert.ok(growthOf(toJournalEntry(eventChange({ event }), context).bytes) < sink.growth);
    }),
  );
});

for (const [host, scope, authorityHost] of [
  ['x.westeurope-1.ingest.monitor.azure.com', 'https://monitor.azure.com/.default', undefined],
  [
    'x.usgovvirginia-1.ingest.monitor.azure.us',
    'https://monitor.azure.us/.default',
    'https://login.microsoftonline.us',
  ],
  ['X.ChinaEast2-1.Ingest.Monitor.Azure.CN.', 'https://monitor.azure.cn/.default', 'https://login.chinacloudapi.cn'],
  ['azure.us.example.com', 'https://monitor.azure.com/.default', undefined],
  ['logs.example.com', 'https://monitor.azure.com/.default', undefined],
] as const)
  test(`for ${host} the token comes from ${authorityHost ?? 'the authority in the environment'}, for ${scope}`, () => {
    assert.deepEqual([scopeOf(host), azureAuthorityOf(host).authorityHost], [scope, authorityHost]);
  });
