// JSON Schemas → schemas for generators: named objects and enums, nothing that generators misread.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Components, pascal } from '../../../src/asyncapi/components.ts';
import { named, object, optional } from '../../../src/http/openapi/operation.ts';

function converted(schema: object): { readonly whole: unknown; readonly schemas: object } {
  const components = new Components();
  const whole = components.convert(schema as Record<string, unknown>, 'Whole');
  return { whole, schemas: components.schemas };
}

test('each object and each enum is named by its place', () => {
  const { whole, schemas } = converted(object({ kind: { enum: ['a'] }, inner: object({ text: { type: 'string' } }) }));
  assert.deepEqual(whole, { $ref: '#/components/schemas/Whole' });
  assert.deepEqual(schemas, {
    WholeKind: { title: 'WholeKind', enum: ['a'], type: 'string' },
    WholeInner: { title: 'WholeInner', type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
    Whole: {
      ...{ title: 'Whole', type: 'object', required: ['kind', 'inner'] },
      properties: {
        kind: { $ref: '#/components/schemas/WholeKind' },
        inner: { $ref: '#/components/schemas/WholeInner' },
      },
    },
  });
});

test('a schema of the OpenAPI document keeps its name', () => {
  assert.deepEqual(Object.keys(converted(object({ a: optional(named('Part', object({}))) })).schemas), [
    'Part',
    'Whole',
  ]);
});

test('constants become patterns, closed lists with null and lists of words become texts', () => {
  const properties = {
    version: { const: '1.0' },
    drill: { const: true },
    status: { enum: ['a', null] },
    fields: { type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } },
  };
  const { schemas } = converted({ type: 'object', properties, if: {}, then: {}, else: {}, propertyNames: {} });
  assert.deepEqual((schemas as { Whole: object }).Whole, {
    ...{ title: 'Whole', type: 'object' },
    properties: {
      version: { type: 'string', pattern: '^1\\.0$', examples: ['1.0'] },
      drill: { type: 'boolean', examples: [true] },
      status: { type: ['string', 'null'], examples: ['a', null] },
      fields: { type: 'array', items: { type: 'string', examples: ['a', 'b'] } },
    },
  });
});

test('the discriminator of a class stays a constant', () => {
  const { schemas } = converted({ ...object({ type: { const: 'a' }, other: { const: 'b' } }), discriminator: 'type' });
  const { properties } = (schemas as { Whole: { properties: { type: object; other: object } } }).Whole;
  assert.deepEqual(properties.type, { type: 'string', const: 'a' });
  assert.ok(!('const' in properties.other));
  assert.deepEqual(Object.keys(schemas), ['CloudEvent', 'Whole']);
});

test('two schemas with one title must be equal', () => {
  const components = new Components();
  components.add('Same', { type: 'string' });
  components.add('Same', { type: 'string' });
  assert.throws(() => components.add('Same', { type: 'integer' }), /Same/);
});

test('names become PascalCase', () => {
  assert.deepEqual(['approval.recorded', 'eventStatus', 'service-bus', ''].map(pascal), [
    'ApprovalRecorded',
    'EventStatus',
    'ServiceBus',
    '',
  ]);
});
