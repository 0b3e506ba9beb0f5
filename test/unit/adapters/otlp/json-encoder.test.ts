// Records → a request in OTLP's JSON, field by field.
import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeJson } from '../../../../adapters/otlp/json-encoder.ts';
import { resourceGroups } from '../../../../adapters/otlp/resource-groups.ts';
import { deliveryOf } from '../../../adapters/otlp/deliveries.ts';
import { eventChange } from '../../cloudevents/changes.ts';

test('a record follows the specification: times and integers as texts, ids in hex', () => {
  const request = JSON.parse(encodeJson(resourceGroups([deliveryOf(eventChange())])));
  const [{ resource, scopeLogs }] = request.resourceLogs;
  assert.deepEqual(resource, {
    attributes: [
      { key: 'cloud.provider', value: { stringValue: 'azure' } },
      { key: 'cloud.platform', value: { stringValue: 'azure.vm' } },
      {
        key: 'cloud.resource_id',
        value: {
          stringValue: '/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachines/westno_0',
        },
      },
      { key: 'cloud.account.id', value: { stringValue: 's' } },
      { key: 'host.name', value: { stringValue: 'WestNO_0' } },
      { key: 'service.name', value: { stringValue: 'scheduled-events-bridge' } },
    ],
  });
  const [{ scope, logRecords }] = scopeLogs;
  assert.deepEqual(scope, { name: 'scheduled-events-bridge' });
  const [{ attributes, body, ...record }] = logRecords;
  assert.deepEqual(record, {
    timeUnixNano: `${Date.parse('2022-04-11T22:00:01.234Z')}000000`,
    observedTimeUnixNano: record.timeUnixNano,
    severityNumber: 9,
    severityText: 'INFO',
    traceId: 'c7061bacafdc4513b24baa5f13a16123',
    spanId: record.spanId,
    eventName: 'io.github.scheduled-events-bridge.scheduled.v1',
  });
  assert.match(record.spanId, /^[0-9a-f]{16}$/);
  assert.match(body.stringValue, /^Platform will freeze WestNO_0 and WestNO_1, not before /);
  const by = new Map(attributes.map(({ key, value }: { key: string; value: unknown }) => [key, value]));
  assert.deepEqual(by.get('scheduled_events.duration_in_seconds'), { intValue: '5' });
  assert.deepEqual(by.get('scheduled_events.observer.affected'), { boolValue: true });
  assert.deepEqual(by.get('scheduled_events.resources'), {
    arrayValue: { values: [{ stringValue: 'WestNO_0' }, { stringValue: 'WestNO_1' }] },
  });
});
