// docs/schemas/ → every `data` that the bridge makes is valid, the examples too; a wrong one fails.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { toCloudEvent } from '../../../src/cloudevents/event.ts';
import type { Change } from '../../../src/model/events.ts';
import { VM_FIELDS } from '../../../src/model/vm-metadata.ts';
import { EVERY_CHANGE, eventChange, fullContext } from './changes.ts';

interface DescribedSchema {
  readonly $id: string;
  readonly examples: readonly unknown[];
}

function schema(name: string): DescribedSchema {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../../docs/schemas', name), 'utf8'));
}

const schemas = ['change.v1.json', 'approval.v1.json', 'source.v1.json'].map(schema);
const ajv = new Ajv2020({
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
  schemas: [...schemas],
});
formats.default(ajv);

function faults(id: string | undefined, data: unknown): string {
  const validate = ajv.getSchema(id ?? '');
  assert.ok(validate, `no schema ${id}`);
  return validate(data) ? '' : ajv.errorsText(validate.errors);
}

function produced(change: Change, name: string | null = 'WestNO_0') {
  return toCloudEvent(change, fullContext(name));
}

test('the data of every kind of CloudEvent is valid by the schema that it names', () => {
  for (const change of EVERY_CHANGE) {
    for (const name of ['WestNO_0', null]) {
      const event = produced(change, name);
      assert.equal(faults(event.dataschema, event.data), '', `${change.kind} ${change.phase}`);
    }
  }
});

test('the examples in the schemas are valid by them', () => {
  for (const { $id, examples } of schemas) {
    assert.ok(examples.length > 0);
    for (const example of examples) assert.equal(faults($id, example), '', $id);
  }
});

test('the schemas refuse what the bridge never makes', () => {
  const { data, dataschema } = produced(eventChange({ phase: 'ended', outcome: 'unknown' }));
  assert.ok(data && 'eventStatus' in data);
  const { outcome: _, ...withoutOutcome } = data;
  const wrong: unknown[] = [
    withoutOutcome,
    { ...data, eventStatus: 'Scheduled' },
    { ...data, notBefore: 'Mon, 11 Apr 2022 22:26:58 GMT' },
    { ...data, changedFields: ['eventId'] },
    { ...data, resources: 'WestNO_0' },
    { ...data, observer: { name: 'WestNO_0' } },
  ];
  for (const one of wrong) assert.notEqual(faults(dataschema, one), '', JSON.stringify(one));
});

test('every schema has exactly the fields that can be published of the VM', () => {
  for (const one of schemas) {
    const { properties } = one as unknown as {
      properties: { observer: { properties: { vm: { properties: object } } } };
    };
    assert.deepEqual(Object.keys(properties.observer.properties.vm.properties), [...VM_FIELDS, 'tags'], one.$id);
  }
});
