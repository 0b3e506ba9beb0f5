// ECS documents → compared with the fields and values that ECS 9.4 publishes.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { isObject } from '../../../src/formats/json-object.ts';
import { toEcs } from '../../../src/log-record/ecs.ts';
import { flatten } from '../../../src/log-record/formats.ts';
import type { LogRecord } from '../../../src/log-record/log-record.ts';
import { scheduledEvent } from '../../support/events.ts';
import { approvalChange, eventChange, sightChange } from '../cloudevents/changes.ts';
import { hostileRecord, recordOf, sampleRecords, withVm } from './samples.ts';

/** From the generated list of ECS 9.4: name and type of the fields that a record may use; `[]` if values are arrays. */
const FIELDS: Readonly<Record<string, string>> = {
  ...{
    '@timestamp': 'date',
    message: 'match_only_text',
    'ecs.version': 'keyword',
    'log.level': 'keyword',
    'user.name': 'keyword',
  },
  ...{
    'cloud.provider': 'keyword',
    'cloud.account.id': 'keyword',
    'cloud.account.name': 'keyword',
    'cloud.region': 'keyword',
  },
  ...{ 'cloud.availability_zone': 'keyword', 'cloud.instance.id': 'keyword', 'cloud.instance.name': 'keyword' },
  ...{ 'cloud.machine.type': 'keyword', 'cloud.project.id': 'keyword', 'cloud.service.name': 'keyword' },
  ...{ 'event.action': 'keyword', 'event.category': 'keyword[]', 'event.code': 'keyword', 'event.created': 'date' },
  ...{
    'event.dataset': 'keyword',
    'event.duration': 'long',
    'event.end': 'date',
    'event.hash': 'keyword',
    'event.id': 'keyword',
  },
  ...{ 'event.ingested': 'date', 'event.kind': 'keyword', 'event.module': 'keyword', 'event.original': 'keyword' },
  ...{
    'event.outcome': 'keyword',
    'event.provider': 'keyword',
    'event.reason': 'keyword',
    'event.reference': 'keyword',
  },
  ...{
    'event.sequence': 'long',
    'event.severity': 'long',
    'event.start': 'date',
    'event.timezone': 'keyword',
    'event.type': 'keyword[]',
  },
  ...{
    'event.url': 'keyword',
    'host.id': 'keyword',
    'host.name': 'keyword',
    'related.hosts': 'keyword[]',
    'related.user': 'keyword[]',
  },
  ...{ 'trace.id': 'keyword', 'span.id': 'keyword' },
};

/** ECS: custom fields are under a name that ECS does not use; labels are keywords by any name without a dot. */
const OWN = /^(?:cloudevents|scheduled_events|labels\.[^.]+$)/;

function fits(value: unknown, type: string | undefined): boolean {
  if (type?.endsWith('[]')) return Array.isArray(value) && value.every((member) => fits(member, type.slice(0, -2)));
  if (type === 'date') return typeof value === 'string' && !Number.isNaN(Date.parse(value));
  return type === 'long' ? Number.isSafeInteger(value) : type !== undefined && typeof value === 'string';
}

function strangers(record: LogRecord): readonly string[] {
  const members = flatten(toEcs(record), []).map(([path, value]) => [path.join('.'), value] as const);
  return members.filter(([name, value]) => !OWN.test(name) && !fits(value, FIELDS[name])).map(([name]) => name);
}

test('every field is one that ECS publishes, with a value of its type, or is under a name of our own', () => {
  for (const record of [...sampleRecords(), withVm()]) assert.deepEqual(strangers(record), []);
});

test('kind, category, type and outcome are values that ECS allows, and types are those that it expects in the category host', () => {
  const ended = ['completed', 'canceled', 'unknown'].map((outcome) =>
    recordOf(eventChange({ phase: 'ended', outcome: outcome as 'unknown' })),
  );
  const approvals = (['recorded', 'submitted', 'failed'] as const).map((phase) => recordOf(approvalChange({ phase })));
  const events = (['scheduled', 'updated', 'started'] as const).map((phase) => recordOf(eventChange({ phase })));
  const told = [
    ...events,
    ...ended,
    ...approvals,
    recordOf(sightChange()),
    recordOf(sightChange({ phase: 'restored' })),
  ].map((record) => {
    const { event } = toEcs(record) as { event: Record<string, unknown> };
    assert.deepEqual([event['kind'], event['category']], ['event', ['host']]);
    return [event['action'], event['type'], event['outcome']];
  });
  assert.deepEqual(told, [
    ['scheduled', ['info'], undefined],
    ['updated', ['change'], undefined],
    ['started', ['start'], undefined],
    ['ended', ['end'], 'success'],
    ['ended', ['end'], undefined],
    ['ended', ['end'], 'unknown'],
    ['approval.recorded', ['info'], undefined],
    ['approval.submitted', ['info'], 'success'],
    ['approval.failed', ['info'], 'failure'],
    ['source.blind', ['info'], undefined],
    ['source.restored', ['info'], undefined],
  ]);
});

test('a reason that is too long for an indexed keyword is cut; the message and the data have all of it', () => {
  for (const description of ['x'.repeat(1024), 'x'.repeat(1025), '💥'.repeat(32 * 1024)]) {
    const record = recordOf(eventChange({ event: scheduledEvent({ description }) }));
    const {
      event,
      message,
      scheduled_events: data,
    } = toEcs(record) as { event: { reason: string }; message: string; scheduled_events: object };
    assert.ok(event.reason.length <= 1024 && event.reason.isWellFormed());
    assert.equal(event.reason.endsWith('…'), description.length > 1024);
    assert.ok(message.endsWith(description));
    assert.equal((data as { description: string }).description, description);
  }
  const lost = toEcs(recordOf(sightChange({ reason: 'y'.repeat(2000) }))) as { event: { reason: string } };
  assert.equal(lost.event.reason, `${'y'.repeat(1023)}…`);
});

test('the VM that saw the event is the host and the instance, with the fields of its metadata', () => {
  const ecs = toEcs(withVm());
  assert.deepEqual(ecs['cloud'], {
    provider: 'azure',
    account: { id: 's' },
    region: 'westeurope',
    availability_zone: '2',
    instance: { id: '02aab8a4-74ef-476e-8182-f6d2ba4166a6', name: 'WestNO_0' },
    machine: { type: 'Standard_D2s_v5' },
  });
  assert.deepEqual(ecs['host'], { name: 'WestNO_0', id: '02aab8a4-74ef-476e-8182-f6d2ba4166a6' });
  assert.deepEqual(ecs['labels'], { team: 'shop', cost_center: '=7|' });
  assert.deepEqual(ecs['related'], { hosts: ['WestNO_0', 'WestNO_1'] });
});

test('a document has no field of a VM that is not known', () => {
  const ecs = toEcs(recordOf(sightChange(), { observer: { name: null, id: 'x' }, source: 'urn:example' }));
  assert.deepEqual(
    [ecs['cloud'], ecs['host'], ecs['related'], ecs['labels'], ecs['trace']],
    [{ provider: 'azure' }, ...Array(4).fill(undefined)],
  );
});

test('all attributes and all data are under names of our own, except the tags, which are labels', () => {
  const record = withVm();
  const ecs = toEcs(record);
  assert.deepEqual(ecs['cloudevents'], record.attributes);
  const { observer } = ecs['scheduled_events'] as { observer: { vm: object } };
  assert.ok(isObject(observer) && !('tags' in observer.vm) && 'vmSize' in observer.vm);
  const plain = recordOf(eventChange({ event: scheduledEvent() }));
  assert.deepEqual(toEcs(plain)['scheduled_events'], plain.data);
});

test('hostile texts do not change', () => {
  fc.assert(
    fc.property(hostileRecord, (record) => {
      const back = JSON.parse(JSON.stringify(toEcs(record)));
      assert.deepEqual(back.scheduled_events, record.data);
      assert.equal(back.message, record.message);
      assert.deepEqual(strangers(record), []);
    }),
  );
});
