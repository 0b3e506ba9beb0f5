// Instance metadata and `cloudevents.observer` → the VM in the CloudEvents.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as v from 'valibot';
import { eventData, toObservedVm } from '../../../src/cloudevents/data.ts';
import { toCloudEvent, toJournalEntry } from '../../../src/cloudevents/event.ts';
import { cloudeventsSection } from '../../../src/cloudevents/options.ts';
import type { Change } from '../../../src/model/events.ts';
import { VM_FIELDS, type VmMetadata } from '../../../src/model/vm-metadata.ts';
import { scheduledEvent } from '../../support/events.ts';
import { approvalChange, context, eventChange, sightChange } from './changes.ts';

const METADATA: VmMetadata = {
  location: 'westeurope',
  vmSize: 'Standard_D2s_v5',
  tags: { Team: 'shop', 'cost.center': '7', owner: 'ann' },
};
const CHANGES: readonly Change[] = [eventChange(), approvalChange(), sightChange()];

function fault(observer: unknown): string | undefined {
  return v.safeParse(cloudeventsSection, { observer }).issues?.[0].message;
}

test('fields and tags are in the order of the configuration, and those that the service does not give are absent', () => {
  assert.equal(
    JSON.stringify(
      toObservedVm(METADATA, ['tags.cost.center', 'vmSize', 'zone', 'tags.team', 'tags.none', 'location']),
    ),
    '{"vmSize":"Standard_D2s_v5","location":"westeurope","tags":{"cost.center":"7","team":"shop"}}',
  );
});

test('only what the configuration wants is published: a field alone brings no tags, not even one with the end of its name', () => {
  const metadata: VmMetadata = { location: 'westeurope', tags: { Team: 'shop', ion: 'secret' } };
  assert.deepEqual(toObservedVm(metadata, ['location']), { location: 'westeurope' });
  assert.deepEqual(toObservedVm(metadata, ['location', 'tags.team']), {
    location: 'westeurope',
    tags: { team: 'shop' },
  });
});

test('without wanted or known fields the result is null', () => {
  assert.equal(toObservedVm(METADATA, []), null);
  assert.equal(toObservedVm(METADATA, ['zone', 'tags.none']), null);
  assert.equal(toObservedVm(null, ['zone', 'tags.team']), null);
  assert.equal(toObservedVm(METADATA, ['tags', 'constructor', 'tags.__proto__']), null);
});

test('every CloudEvent has the VM after the name of its observer, with the same id and attributes as without it', () => {
  const vm = { location: 'westeurope', tags: { team: 'shop' } };
  for (const change of CHANGES) {
    const plain = toCloudEvent(change, context);
    const telling = toCloudEvent(change, { ...context, observer: { ...context.observer, vm } });
    assert.deepEqual(telling.data?.observer, { ...plain.data?.observer, vm });
    assert.deepEqual({ ...telling, data: null }, { ...plain, data: null });
  }
});

test('without it, the bytes do not change', () => {
  const texts = CHANGES.map((change) => new TextDecoder().decode(toJournalEntry(change, context).bytes));
  assert.deepEqual(
    texts.map((text) => text.slice(text.indexOf('"observer"'))),
    [
      '"observer":{"name":"WestNO_0","documentIncarnation":3,"affected":true}}}',
      '"observer":{"name":"WestNO_0","affected":true}}}',
      '"observer":{"name":"WestNO_0"}}}',
    ],
  );
});

test('a known event of the HTTP interface has it, too', () => {
  const observer = { ...context.observer, vm: { zone: '2' } };
  assert.deepEqual(eventData(scheduledEvent(), { previousStatus: null, incarnation: 3, observer }).observer, {
    ...{ name: 'WestNO_0', vm: { zone: '2' }, documentIncarnation: 3, affected: true },
  });
});

test('the configuration accepts every field and every tag that Azure can have; the default is none', () => {
  const observer = [...VM_FIELDS, 'tags.team', 'tags.cost center', 'tags.a.b', `tags.${'x'.repeat(512)}`];
  assert.deepEqual(v.parse(cloudeventsSection, { observer }).observer, observer);
  assert.deepEqual(v.parse(cloudeventsSection, {}).observer, []);
  assert.equal(fault(['tags.stra\u00dfe', 'tags.strasse']), undefined, 'two tags, though upper case makes them one');
});

test('another name is a fault that lists the valid ones, and no name is allowed twice', () => {
  for (const name of ['name', 'Location', 'tags', 'tags.', 'tags.a/b', 'tags.a\nb', `tags.${'x'.repeat(513)}`, ''])
    assert.match(fault([name]) ?? '', /^must be one of location, zone, vmSize, .*azEnvironment, or tags\.NAME$/, name);
  assert.match(fault(['zone', 'zone']) ?? '', /twice/);
  assert.match(fault(['tags.team', 'tags.Team']) ?? '', /twice/);
  assert.ok(fault('location'));
  const tags = Array.from({ length: VM_FIELDS.length + 51 }, (_, index) => `tags.t${index}`);
  assert.equal(fault(tags.slice(1)), undefined);
  assert.equal(fault(tags), `must have at most ${tags.length - 1} members`);
});
