// The index template and the documents → fields of ECS by their published types and values.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { sampleEvents } from '../../../adapters/webhook/template/template-samples.ts';
import { isObject } from '../../../src/formats/json-object.ts';
import { toEcs } from '../../../src/log-record/ecs.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Parents of members without a field in ECS, and of labels. */
const OURS = /^(cloudevents|scheduled_events|labels)\b/;

interface Field {
  readonly type: string;
  readonly isArray: boolean;
  /** Empty if any value is allowed. */
  readonly values: readonly string[];
}

interface Mapping {
  readonly type?: string;
  readonly ignore_above?: number;
  readonly properties?: Readonly<Record<string, Mapping>>;
}

const PUBLISHED: ReadonlyMap<string, Field> = new Map(
  readFileSync(join(ROOT, 'test/fixtures/ecs-9.4.0/fields.txt'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([name = '', type = '', values]) => [
      name,
      { type: type.replace('[]', ''), isArray: type.endsWith('[]'), values: values?.split(',') ?? [] },
    ]),
);
const TEMPLATE = JSON.parse(readFileSync(join(ROOT, 'deploy/elasticsearch/index-template.json'), 'utf8'));

function mappedFields(
  { properties = {}, ...own }: Mapping,
  path: string,
): readonly (readonly [name: string, mapping: Mapping])[] {
  if (Object.keys(properties).length === 0) return [[path, own]];
  return Object.entries(properties).flatMap(([name, member]) =>
    mappedFields(member, path === '' ? name : `${path}.${name}`),
  );
}

function fieldsOf(value: unknown, path: string): readonly (readonly [name: string, value: unknown])[] {
  if (!isObject(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, member]) => fieldsOf(member, path === '' ? name : `${path}.${name}`));
}

const mapped = mappedFields(TEMPLATE.template.mappings, '');
const documents = sampleEvents().map(({ event }) => toEcs(logRecord(new TextEncoder().encode(JSON.stringify(event)))));

test('every ECS field of the template has its published type', () => {
  const ofEcs = mapped.filter(([name]) => !OURS.test(name));
  assert.ok(ofEcs.length > 25);
  assert.deepEqual(
    ofEcs.map(([name, { type }]) => [name, type]),
    ofEcs.map(([name]) => [name, PUBLISHED.get(name)?.type]),
  );
});

test('every keyword of the template has ignore_above 1024', () => {
  for (const [name, { type, ignore_above: most }] of mapped) if (type === 'keyword') assert.equal(most, 1024, name);
});

test('every ECS field of a document is published, mapped, and has an allowed value', () => {
  const names = new Set(mapped.map(([name]) => name));
  assert.ok(documents.length > 10);
  for (const [name, value] of documents
    .flatMap((document) => fieldsOf(document, ''))
    .filter(([each]) => !OURS.test(each))) {
    const field = PUBLISHED.get(name) ?? assert.fail(`${name} is no field of ECS ${TEMPLATE._meta.ecs_version}`);
    assert.ok(names.has(name), `${name} is not in the template`);
    assert.equal(Array.isArray(value), field.isArray, name);
    const { values } = field;
    if (values.length > 0)
      for (const each of [value].flat()) assert.ok(values.includes(String(each)), `${name}: ${String(each)}`);
  }
});

test('documents name the tested version of ECS', () => {
  for (const document of documents) assert.deepEqual(document['ecs'], { version: TEMPLATE._meta.ecs_version });
});
