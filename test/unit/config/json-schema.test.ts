// jsonSchema → the same keys as readConfig takes and docs/operate/configuration.md names.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { ADAPTERS as REAL_ADAPTERS } from '../../../adapters/index.ts';
import { jsonSchema } from '../../../src/config/json-schema.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';
import { ADAPTERS, configOf, faultsOf, OTHER_TOKEN, surroundings, TOKEN } from '../../support/config.ts';

const validate = new Ajv({ strict: false, allErrors: true }).compile(jsonSchema(ADAPTERS));
const DOC = readFileSync(new URL('../../../docs/operate/configuration.md', import.meta.url), 'utf8');

/** Every section of the configuration (behaviour 2), with a sink of each kind. */
const EXAMPLE = `
version: 1
metadata:
  endpoint: http://169.254.169.254
  apiVersion: 2020-07-01
  pollInterval: 1s
  timeout: 10s
  firstTimeout: 130s
  settle: 5m
cloudevents:
  source: ~
  typePrefix: io.github.scheduled-events-bridge
  observer: [location, zone, vmSize, tags.team]
publish:
  resources: all
store:
  path: /var/lib/scheduled-events-bridge
  retain: 30d
http:
  listen: 127.0.0.1:8700
  tls: { cert: FILE, key: FILE }
  readers: { grafana: { token: { env: READ_TOKEN } } }
  health: 0.0.0.0:8701
approvals:
  approvers:
    orders: { token: { env: ORDERS_TOKEN } }
  required: any
sinks:
  audit:  { type: stdout }
  hooks:  { type: webhook, url: https://example.com/hook, mode: structured, secrets: [{ env: HOOK_SECRET }] }
`;
const AROUND = surroundings(
  { READ_TOKEN: TOKEN, ORDERS_TOKEN: OTHER_TOKEN, HOOK_SECRET: 'whsec' },
  { '/etc/bridge/FILE': `${CERTIFICATE}${PRIVATE_KEY}`, '/etc/bridge/billing.token': 'a-third-horse-a-third-staple' },
);

test("the example with every section and the documentation's are accepted by the schema and by readConfig", () => {
  const documented = /```yaml\n(.*?)```/s.exec(DOC)?.[1] ?? assert.fail('no example in the documentation');
  for (const text of [EXAMPLE, documented]) {
    assert.equal(validate(parse(text)), true, JSON.stringify(validate.errors));
    assert.deepEqual(Object.keys(configOf(text, AROUND).sinks), ['audit', 'hooks']);
  }
});

const REFUSED = [
  'store: {}',
  '{ version: 2 }',
  '{ version: 1, metadat: {} }',
  '{ version: 1, metadata: { timeout: 10 } }',
  '{ version: 1, metadata: { apiVersion: latest } }',
  '{ version: 1, store: ~ }',
  '{ version: 1, http: { listen: localhost } }',
  '{ version: 1, http: { tls: { cert: a } } }',
  '{ version: 1, approvals: { approvers: { a: { token: literal } } } }',
  '{ version: 1, approvals: { approvers: { "a b": { token: { env: T } } } } }',
  '{ version: 1, approvals: { required: 0 } }',
  '{ version: 1, sinks: {} }',
  '{ version: 1, sinks: { a: { type: nothing } } }',
  '{ version: 1, sinks: { a: { type: stdout, url: x } } }',
  '{ version: 1, sinks: { a: { type: webhook } } }',
  '{ version: 1, sinks: { a: { type: stdout, filter: { changes: [] } } } }',
];
for (const text of REFUSED) {
  test(`the schema and readConfig both reject ${text}`, () => {
    assert.equal(validate(parse(text)), false);
    assert.notDeepEqual(faultsOf(text), []);
  });
}

interface Node {
  readonly description?: string;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
}

/**
 * Every key that holds no others, and every list of mappings, by its path; names that the user chooses are NAME, places
 * in a list N.
 */
function leaves(node: Node, path = ''): [path: string, node: Node][] {
  if (typeof node.additionalProperties === 'object') return leaves(node.additionalProperties, `${path}.NAME`);
  const list = [node, ...(node.anyOf ?? [])].find(({ items }) => items?.properties)?.items;
  if (list) return [[path, node], ...leaves(list, `${path}[N]`)];
  if (!node.properties) return [[path, node]];
  return Object.entries(node.properties).flatMap(([key, member]) =>
    leaves(member, path === '' ? key : `${path}.${key}`),
  );
}

/** Every key of the top level, and every key below it that holds named keys, by its path. */
function sections(node: Node, path = ''): [path: string, node: Node][] {
  return Object.entries(node.properties ?? {}).flatMap(([key, member]): [string, Node][] => {
    const within = sections(member, `${path}${key}.`);
    return path === '' || member.properties ? [[`${path}${key}`, member], ...within] : within;
  });
}

test('every section has a description, also one within another', () => {
  const found = sections(jsonSchema(ADAPTERS) as Node);
  assert.ok(found.some(([path]) => path === 'approvals.jwt.tls'));
  assert.deepEqual(
    found.filter(([, { description = '' }]) => description === '').map(([path]) => path),
    [],
  );
});

test('every key has a description', () => {
  const described = leaves(jsonSchema([])).filter(
    ([, node]) => node.description === undefined || node.description === '',
  );
  assert.deepEqual(
    described.map(([path]) => path),
    [],
  );
});

test("the description after a duration appears in the schema of an adapter's key", () => {
  const { oneOf } = (jsonSchema(ADAPTERS).properties?.['sinks']?.additionalProperties ?? {}) as { oneOf: Node[] };
  assert.equal(oneOf[1]?.properties?.['timeout']?.description, 'How long.');
});

test('the documentation lists every key with its default, and no key that does not exist', () => {
  const rows = [...DOC.matchAll(/^\| `([A-Za-z.[\]]+)` \| `?([^|`]*)`? \|/gm)].map(
    ([, path, value]) => [path, value?.trim()] as const,
  );
  const schema = leaves(jsonSchema([]));
  assert.deepEqual(rows.map(([path]) => path).sort(), schema.map(([path]) => path).sort());
  const documented = new Map(rows);
  for (const [path, node] of schema) {
    if (node.default === undefined) continue;
    assert.equal(documented.get(path), shown(node.default), path);
  }
});

/** As the pages write a default. */
function shown(value: unknown): string {
  if (value === null) return '~';
  return (Array.isArray(value) && value.length > 0 ? `[${value.join(', ')}]` : String(value)) || 'none';
}

/** The kinds of entry that a section may hold. */
function kindsOf(section: Node | undefined): readonly Node[] {
  return ((section?.additionalProperties ?? {}) as { oneOf?: Node[] }).oneOf ?? [];
}

test("each adapter's README lists its own keys, those of its source too, and none that does not exist", () => {
  const common = new Set(['type', 'retry', 'filter', 'approver']);
  const { sinks, approvals } = jsonSchema(REAL_ADAPTERS).properties as Record<string, Node>;
  const oneOf = kindsOf(sinks);
  assert.equal(oneOf.length, REAL_ADAPTERS.length);
  for (const [index, { type }] of REAL_ADAPTERS.entries()) {
    const readme = readFileSync(new URL(`../../../adapters/${type}/README.md`, import.meta.url), 'utf8');
    const listed = [...readme.matchAll(/^\| `([a-zA-Z0-9]+)` \|.*\|.*\|$/gm)].map(([, key]) => key);
    const source = kindsOf(approvals?.properties?.['sources']).find(
      ({ properties }) => properties?.['type']?.const === type,
    );
    const properties = { ...source?.properties, ...oneOf[index]?.properties };
    const keys = Object.keys(properties).filter((key) => !common.has(key));
    assert.deepEqual(listed.sort(), keys.sort(), type);
    assert.deepEqual(
      keys.filter((key) => !properties[key]?.description),
      [],
      `${type}: keys without a description`,
    );
  }
});

test('the documented example is valid with the real adapters, and their faults have the right paths', () => {
  const around = { ...AROUND, adapters: REAL_ADAPTERS };
  const documented = /```yaml\n(.*?)```/s.exec(DOC)?.[1] ?? assert.fail('no example in the documentation');
  const accepts = new Ajv({ strict: false }).compile(jsonSchema(REAL_ADAPTERS));
  assert.equal(accepts(parse(documented)), true, JSON.stringify(accepts.errors));
  assert.deepEqual(Object.keys(configOf(documented, around).sinks), ['audit', 'hooks']);
  assert.deepEqual(
    faultsOf('{ version: 1, sinks: { a: { type: webhook, url: "https://a.example", hadnshake: true } } }', around).map(
      (line) => line.split(':')[0],
    ),
    ['sinks.a.hadnshake'],
  );
});
