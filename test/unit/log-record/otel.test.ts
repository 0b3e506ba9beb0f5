// A log record → OpenTelemetry's data model.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { otelRecord } from '../../../src/log-record/otel.ts';
import { scheduledEvent } from '../../support/events.ts';
import { eventChange, sightChange } from '../cloudevents/changes.ts';
import { hostileRecord, recordOf, sampleRecords, withVm } from './samples.ts';

test('the CloudEvent has the five names of the semantic conventions, and everything else has names of our own in their style', () => {
  assert.deepEqual(Object.fromEntries(otelRecord(recordOf(eventChange())).attributes), {
    'cloudevents.event_spec_version': '1.0',
    'cloudevents.event_id': 'c7061bac-afdc-4513-b24b-aa5f13a16123:scheduled',
    'cloudevents.event_source': '/subscriptions/s/resourcegroups/g',
    'cloudevents.event_type': 'io.github.scheduled-events-bridge.scheduled.v1',
    'cloudevents.event_subject': 'scheduledevents/c7061bac-afdc-4513-b24b-aa5f13a16123',
    'scheduled_events.datacontenttype': 'application/json',
    'scheduled_events.dataschema': 'https://scheduled-events-bridge.github.io/schemas/change.v1.json',
    'scheduled_events.partitionkey': 'c7061bac-afdc-4513-b24b-aa5f13a16123',
    'scheduled_events.correlationid': 'c7061bac-afdc-4513-b24b-aa5f13a16123',
    'scheduled_events.impact': 'freeze',
    'scheduled_events.initiator': 'platform',
    'scheduled_events.expirytime': '2022-04-11T22:26:58Z',
    'scheduled_events.event_id': 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    'scheduled_events.event_type': 'Freeze',
    'scheduled_events.event_status': 'Scheduled',
    'scheduled_events.resource_type': 'VirtualMachine',
    'scheduled_events.resources': ['WestNO_0', 'WestNO_1'],
    'scheduled_events.not_before': '2022-04-11T22:26:58Z',
    'scheduled_events.description': scheduledEvent().description,
    'scheduled_events.event_source': 'Platform',
    'scheduled_events.duration_in_seconds': 5,
    'scheduled_events.observer.name': 'WestNO_0',
    'scheduled_events.observer.document_incarnation': 3,
    'scheduled_events.observer.affected': true,
  });
});

test('time, severity, name, body and trace are in the fields that the data model has for them', () => {
  const record = recordOf(eventChange());
  const { resource: _, attributes: __, ...told } = otelRecord(record);
  const ns = BigInt(Date.parse(record.time)) * 1_000_000n;
  const [, traceId, spanId] = String(record.attributes['traceparent']).split('-');
  assert.deepEqual(told, {
    ...{ timeUnixNano: ns, observedTimeUnixNano: ns, severityNumber: 9, severityText: 'INFO' },
    ...{ body: record.message, eventName: 'io.github.scheduled-events-bridge.scheduled.v1', traceId, spanId },
  });
  assert.equal(traceId, 'c7061bacafdc4513b24baa5f13a16123');
  const blind = otelRecord(recordOf(sightChange()));
  assert.deepEqual([blind.traceId, blind.spanId], [null, null]);
});

test('the resource is the VM, with its id from instance metadata, or else from the scope and its name', () => {
  assert.deepEqual(otelRecord(withVm()).resource, {
    'cloud.provider': 'azure',
    'cloud.platform': 'azure.vm',
    'cloud.resource_id': '/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/WestNO_0',
    'cloud.account.id': 's',
    'cloud.region': 'westeurope',
    'cloud.availability_zone': '2',
    'host.id': '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
    'host.name': 'WestNO_0',
    'host.type': 'Standard_D2s_v5',
    'service.name': 'scheduled-events-bridge',
  });
  const resourceId = (source: string, name: string | null = 'Web_0') => {
    const named = recordOf(eventChange(), { source, observer: { name, id: 'id' } });
    return otelRecord(named).resource['cloud.resource_id'];
  };
  const compute = '/subscriptions/s/resourcegroups/g/providers/microsoft.compute';
  assert.equal(resourceId('/subscriptions/s/resourcegroups/g'), `${compute}/virtualmachines/web_0`);
  assert.equal(
    resourceId('/subscriptions/s/resourcegroups/g/virtualmachines/web_0'),
    `${compute}/virtualmachines/web_0`,
  );
  const web = `${compute}/virtualmachinescalesets/web`;
  assert.equal(resourceId(web), `${web}/virtualmachines/0`);
  for (const name of ['web_1a2b3c4d', 'web_12345678', 'other_0', 'web'])
    assert.equal(resourceId(web, name), `${compute}/virtualmachines/${name}`, 'flexible orchestration');
  assert.equal(resourceId('https://example.com/vms'), undefined);
  assert.equal(resourceId(web, null), undefined);
});

test('a tag keeps its own name', () => {
  const { attributes } = otelRecord(withVm());
  assert.equal(attributes.get('scheduled_events.observer.vm.tags.team'), 'shop');
  assert.equal(attributes.get('scheduled_events.observer.vm.tags.cost.center'), '=7|');
  assert.equal(attributes.get('scheduled_events.observer.vm.vm_size'), 'Standard_D2s_v5');
});

test('no attribute is null or an object', () => {
  for (const record of sampleRecords())
    for (const [name, value] of otelRecord(record).attributes)
      assert.ok(['string', 'number', 'boolean'].includes(typeof value) || Array.isArray(value), name);
});

test('hostile texts do not change', () => {
  fc.assert(
    fc.property(hostileRecord, (record) => {
      const { attributes, body, resource } = otelRecord(record);
      assert.equal(attributes.get('scheduled_events.description'), record.data['description']);
      assert.deepEqual(attributes.get('scheduled_events.resources'), record.data['resources']);
      assert.deepEqual([body, resource['host.name']], [record.message, record.host]);
    }),
  );
});
