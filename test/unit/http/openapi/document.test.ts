// The OpenAPI document → the routes and problems that there are, and OpenAPI's own schema.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { GenericSchema } from 'valibot';
import packageJson from '../../../../package.json' with { type: 'json' };
import { ERROR_CODES } from '../../../../src/errors.ts';
import { openApiDocument } from '../../../../src/http/openapi/document.ts';
import { definitionOf, type SchemaNode } from '../../../../src/http/openapi/operation.ts';
import { type ApiRoute, NO_CONTENT } from '../../../../src/http/route.ts';
import { PROBLEMS } from '../../../../src/model/problems.ts';
import { type Operation, PATHS, validator } from '../../../far-sides/openapi-conformance.ts';
import { OPENAPI_DOCUMENT, ROUTES } from '../../../support/openapi-document.ts';
import { serve } from '../../../virtual/http-fixture.ts';

const ROOT = join(import.meta.dirname, '../../../..');
/** A source's messages alone meet it. */
const NOT_BY_HTTP = ['old'];
const BY_HTTP = Object.entries(PROBLEMS)
  .flatMap(([type, { status }]) => (NOT_BY_HTTP.includes(type) ? [] : [`${type} ${status}`]))
  .sort();

function readJson(path: string) {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}

/** Each object within a JSON value, with the value itself. */
function objectsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(objectsOf);
  return Array.isArray(value) ? inner : [value as Readonly<Record<string, unknown>>, ...inner];
}

/** Each named schema that a value refers to, with its reference. */
function* definitionsIn(
  value: unknown,
): Generator<readonly [reference: unknown, definition: SchemaNode | GenericSchema]> {
  if (typeof value !== 'object' || value === null) return;
  const definition = definitionOf(value);
  if (definition !== undefined) yield [(value as SchemaNode)['$ref'], definition];
  const inner = definition === undefined || '~standard' in definition ? value : definition;
  for (const member of Object.values(inner)) yield* definitionsIn(member);
}

test('beyond loopback it needs a token, as all of /v1 does', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  assert.equal((await fixture.send('GET', '/v1/openapi.json')).status, 401);
});

test('it is served to readers, with the version of the package', async (t) => {
  const fixture = await serve(t);
  const answer = await fixture.send('GET', '/v1/openapi.json');
  assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'application/json']);
  assert.deepEqual(answer.json, JSON.parse(JSON.stringify(OPENAPI_DOCUMENT)));
  assert.equal((answer.json['info'] as { version: string }).version, packageJson.version);
});

test('it is an OpenAPI 3.1 document by the schema of the OpenAPI Initiative', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addFormat('media-range', /^[^\s/]+\/[^\s/]+$/);
  // Ajv looks for this anchor at the root; it stands at one place alone, so a plain reference says the same.
  const text = readFileSync(join(ROOT, 'test/fixtures/openapi-3.1/schema.json'), 'utf8');
  const validate = ajv.compile(JSON.parse(text.replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"')));
  assert.ok(validate(OPENAPI_DOCUMENT), ajv.errorsText(validate.errors?.slice(0, 5)));
  assert.equal(validate({ ...OPENAPI_DOCUMENT, openapi: '3.0.0' }), false);
});

test('its paths are those of the routes, with one operation for each method', () => {
  const route = (method: 'GET' | 'DELETE'): ApiRoute => ({
    ...{ method, path: '/v1/holds/:eventId', callers: 'admins', handle: () => NO_CONTENT },
    operation: {
      operationId: method,
      tag: 'operation',
      summary: 'A summary.',
      answers: {},
      problems: ['unknown-sink'],
    },
  });
  const { paths } = openApiDocument([route('GET'), route('DELETE')]);
  assert.deepEqual(Object.keys(paths), ['/v1/holds/{eventId}']);
  const operations = paths['/v1/holds/{eventId}'] as unknown as Readonly<Record<string, Operation>>;
  assert.deepEqual(Object.keys(operations), ['get', 'delete']);
  assert.deepEqual(Object.keys(operations['delete']?.responses ?? {}), [
    '400',
    '401',
    '403',
    '404',
    '429',
    '500',
    '503',
  ]);
  assert.deepEqual(operations['delete']?.security, [{ bearer: [] }, { certificate: [] }]);
});

test('each error code that it shows is one of the closed list', () => {
  const shown = [...JSON.stringify(OPENAPI_DOCUMENT).matchAll(/BRIDGE_[A-Z_]+/g)].map(([code]) => code);
  assert.ok(shown.length > 0);
  for (const code of shown) assert.ok((ERROR_CODES as readonly string[]).includes(code), code);
});

test('no two of its schemas have the same name', () => {
  const definitions = [...definitionsIn(ROUTES.map(({ operation }) => operation))];
  const names = Map.groupBy(definitions, ([reference]) => reference);
  assert.equal(names.size, Object.keys(OPENAPI_DOCUMENT.components.schemas).length - 1, 'all but Problem');
  for (const [name, own] of names) assert.equal(new Set(own.map(([, definition]) => definition)).size, 1, String(name));
});

test('its problem types and their statuses are exactly those of the code', () => {
  const described = objectsOf(OPENAPI_DOCUMENT).flatMap(({ type, status }) => {
    const [types, code] = [
      (type as { enum?: string[] } | undefined)?.enum,
      (status as { const?: number } | undefined)?.const,
    ];
    return types && code ? types.map((each) => `${each} ${code}`) : [];
  });
  assert.deepEqual([...new Set(described)].sort(), BY_HTTP);
});

test('every schema and every reference resolves, and every example is as its schema says', () => {
  const media = objectsOf(OPENAPI_DOCUMENT).filter((own) => typeof own['schema'] === 'object');
  assert.ok(media.length > 30);
  for (const { schema, example, examples = {} } of media) {
    const faultOf = validator(schema as object);
    const given = [
      ...(example === undefined ? [] : [example]),
      ...Object.values(examples as object).map(({ value }) => value),
    ];
    for (const value of given) assert.equal(faultOf(value), '', JSON.stringify(value));
  }
  for (const schema of Object.keys(OPENAPI_DOCUMENT.components.schemas))
    validator({ $ref: `#/components/schemas/${schema}` });
});

test('every operation has a unique name, a summary, and an example of each answer in JSON', () => {
  const operations = Object.values(PATHS).flatMap((own) => Object.values(own));
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
  for (const { operationId, responses } of operations) {
    const answers = Object.entries(responses).flatMap(([, { content }]) =>
      content?.['application/json'] ? [content['application/json']] : [],
    );
    for (const answer of answers)
      assert.ok('example' in answer || ['getOpenApi', 'getAsyncApi'].includes(operationId), operationId);
  }
});

test('what it says of an event is what docs/schemas/change.v1.json says', () => {
  const event = (OPENAPI_DOCUMENT.components.schemas['Event'] as { properties: object }).properties;
  const change: { properties: object } = readJson('docs/schemas/change.v1.json');
  const onlyOfChanges = ['changedFields', 'outcome'];
  assert.deepEqual(
    Object.keys(event)
      .filter((name) => !['approval', 'cloudEventId', 'nextStep', 'heldBackBy', 'rule'].includes(name))
      .sort(),
    Object.keys(change.properties)
      .filter((name) => !onlyOfChanges.includes(name))
      .sort(),
  );
});

test('what it says of a body is what is taken: requests that it forbids are no approvals', () => {
  const faultOf = validator({ $ref: '#/components/schemas/Approvals' });
  assert.equal(faultOf({ StartRequests: [{ EventId: 'A', Seen: 'a:scheduled' }], DocumentIncarnation: 3 }), '');
  for (const body of [
    [],
    {},
    { StartRequests: [] },
    { StartRequests: [{ EventId: '' }] },
    { StartRequests: [{ EventId: 'A' }], Holds: [] },
  ]) {
    assert.notEqual(faultOf(body), '', JSON.stringify(body));
  }
});

test('docs/operate/http.md has exactly its routes with their statuses, and its problem types', () => {
  const page = readFileSync(join(ROOT, 'docs/operate/http.md'), 'utf8');
  // 500 stands below for all.
  const statusesOf = ({ responses }: Operation) => Object.keys(responses).filter((status) => status !== '500');
  const routes = Object.entries(PATHS).flatMap(([path, own]) =>
    Object.entries(own).map(
      ([method, operation]) => `${method.toUpperCase()} ${path}: ${statusesOf(operation).join(', ')}`,
    ),
  );
  const written = [...page.matchAll(/^\| `([A-Z]+ \/\S*)` \| \w+ \| ([\d, ]+) \|$/gm)].map(
    ([, route, statuses]) => `${route}: ${statuses}`,
  );
  assert.deepEqual(written.sort(), routes.sort());
  const problems = [...page.matchAll(/^\| (\d{3}) \| `([a-z-]+)` \|/gm)].map(([, status, type]) => `${type} ${status}`);
  assert.deepEqual(problems.sort(), BY_HTTP);
});
