// deploy/azure/sentinel → its columns are those of the sink, and all that it names is there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { azureMonitorOptions } from '../../adapters/azure-monitor/azure-monitor.ts';
import { toColumns } from '../../src/log-record/columns.ts';
import { CHANGE_NAMES } from '../../src/model/change-names.ts';
import { constants, fieldsByMember } from '../unit/log-record/field-table.ts';
import { sampleRecords, withVm } from '../unit/log-record/samples.ts';
import { queryNames } from './query-names.ts';
import { expressionsOf } from './template-expressions.ts';

const ROOT = join(import.meta.dirname, '../..');
const TEXT = readFileSync(join(ROOT, 'deploy/azure/sentinel/azuredeploy.json'), 'utf8');
const README = readFileSync(join(ROOT, 'deploy/azure/sentinel/README.md'), 'utf8');
const PAGE = readFileSync(join(ROOT, 'docs/operate/azure-monitor.md'), 'utf8');

const columns = v.array(v.strictObject({ name: v.string(), type: v.string() }));
const texts = v.array(v.string());
const resource = v.looseObject({
  type: v.string(),
  apiVersion: v.string(),
  name: v.string(),
  dependsOn: v.optional(texts, []),
});
const item = v.looseObject({
  type: v.number(),
  name: v.string(),
  content: v.looseObject({ query: v.optional(v.string()) }),
});
const template = v.parse(
  v.strictObject({
    $schema: v.string(),
    contentVersion: v.string(),
    metadata: v.object({ description: v.string() }),
    parameters: v.record(
      v.string(),
      v.looseObject({ type: v.string(), metadata: v.object({ description: v.string() }) }),
    ),
    variables: v.strictObject({
      table: v.string(),
      monitoringMetricsPublisher: v.string(),
      transformation: v.string(),
      withoutApproval: texts,
      blindBridges: texts,
      workbook: v.looseObject({ version: v.string(), items: v.array(item), $schema: v.string() }),
    }),
    resources: v.array(resource),
    outputs: v.record(v.string(), v.object({ type: v.string(), value: v.string() })),
  }),
  JSON.parse(TEXT),
);
const { variables, resources } = template;

function propertiesOf<Schema extends v.GenericSchema>(type: string, schema: Schema): v.InferOutput<Schema> {
  return v.parse(schema, resources.find((each) => each.type === type)?.['properties']);
}

const table = propertiesOf(
  'Microsoft.OperationalInsights/workspaces/tables',
  v.looseObject({ schema: v.object({ name: v.string(), columns }) }),
).schema.columns;
const rule = propertiesOf(
  'Microsoft.Insights/dataCollectionRules',
  v.looseObject({
    streamDeclarations: v.record(v.string(), v.object({ columns })),
    destinations: v.object({ logAnalytics: v.array(v.object({ name: v.string(), workspaceResourceId: v.string() })) }),
    dataFlows: v.array(
      v.strictObject({ streams: texts, destinations: texts, transformKql: v.string(), outputStream: v.string() }),
    ),
  }),
);
const STREAM = 'Custom-ScheduledEvents';
const stream = rule.streamDeclarations[STREAM]?.columns ?? [];
const names = (all: v.InferOutput<typeof columns>) => all.map(({ name }) => name).sort();

test('the stream declares exactly the columns that the sink can send', () => {
  const sent = new Set([...fieldsByMember('Azure Monitor').values()].flat());
  for (const name of [...constants('Azure Monitor').keys(), 'message']) sent.add(name);
  assert.deepEqual(names(stream), [...sent].sort());
});

/** Whether a column of that type takes a value as it is. */
const TAKES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  int: (value) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31,
  long: Number.isSafeInteger,
  datetime: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  dynamic: (value) => typeof value === 'object',
};

test('each column takes the values that the sink sends', () => {
  const types = new Map(stream.map(({ name, type }) => [name, type]));
  for (const record of [...sampleRecords(), withVm()])
    for (const [name, value] of Object.entries(toColumns(record)).filter(([, each]) => each !== null))
      assert.ok(
        TAKES[types.get(name) ?? '']?.(value),
        `${name} of type ${types.get(name)} gets ${JSON.stringify(value)}`,
      );
});

test('the table has the columns of the stream, with their types, and the one of the transformation', () => {
  assert.deepEqual([...queryNames(variables.transformation).defined], ['Change']);
  assert.deepEqual(
    table.filter(({ name }) => name !== 'Change'),
    stream,
  );
  assert.deepEqual(
    table.find(({ name }) => name === 'Change'),
    { name: 'Change', type: 'string' },
  );
});

test('every column has a name that Azure Monitor takes, once', () => {
  const reserved = [
    'type',
    'title',
    'tenantid',
    'id',
    'uniqueid',
    'rawdata',
    '_resourceid',
    '_subscriptionid',
    '_itemid',
    '_isbillable',
  ];
  for (const { name } of table) {
    assert.match(name, /^[A-Za-z]\w{0,44}$/);
    assert.ok(!reserved.includes(name.toLowerCase()), name);
  }
  assert.equal(new Set(table.map(({ name }) => name.toLowerCase())).size, table.length);
});

test('the flow leads from the stream of the sink to the table, and the page configures that stream', () => {
  const [flow] = rule.dataFlows;
  assert.deepEqual([flow?.streams, flow?.outputStream], [[STREAM], `Custom-${variables.table}`]);
  assert.deepEqual(
    flow?.destinations,
    rule.destinations.logAnalytics.map(({ name }) => name),
  );
  assert.equal(flow?.transformKql, "[variables('transformation')]");
  assert.equal(template.outputs['stream']?.value, STREAM);
  assert.ok(PAGE.includes(`stream: ${STREAM}\n`));
  assert.deepEqual(Object.keys(template.outputs), ['endpoint', 'rule', 'stream']);
  assert.ok(v.is(azureMonitorOptions, { endpoint: 'https://x.y', rule: 'dcr-0', stream: STREAM }));
});

test('the transformation finds the change in every type, with any prefix', () => {
  const [, pattern = ''] = /extract\(@'(.*)', 1, CloudEventType\)$/.exec(variables.transformation) ?? [];
  for (const prefix of ['io.github.scheduled-events-bridge', 'com.example', 'x', 'com.approval', 'com.scheduled'])
    for (const change of CHANGE_NAMES) assert.equal(new RegExp(pattern).exec(`${prefix}.${change}.v1`)?.[1], change);
  assert.equal(new RegExp(pattern).exec('com.example.other.v1'), null);
});

const QUERIES: readonly (readonly [what: string, query: string])[] = [
  ['the rule on approvals', variables.withoutApproval.join('\n')],
  ['the rule on sight', variables.blindBridges.join('\n')],
  ...variables.workbook.items.flatMap(({ name, content }) =>
    content.query === undefined ? [] : [[`the workbook's ${name}`, content.query] as const],
  ),
  ...[...PAGE.matchAll(/```kusto\n([\s\S]*?)```/g)].map(([, query = '']) => ['the query of the page', query] as const),
];

for (const [what, query] of QUERIES)
  test(`${what} names the table and columns of it alone, and changes that there are`, () => {
    const known = new Set([variables.table, ...names(table)]);
    const { used } = queryNames(query);
    assert.ok(used.has(variables.table));
    assert.deepEqual(
      [...used].filter((name) => !known.has(name)),
      [],
    );
    for (const [, list = ''] of query.matchAll(/Change (?:in|==) (\(.*?\)|'.*?')/g))
      for (const [, change = ''] of list.matchAll(/'(.*?)'/g))
        assert.ok(
          CHANGE_NAMES.some((name) => name === change),
          change,
        );
  });

test('what the analytics rules show of a row, their queries have', () => {
  const alert = v.looseObject({
    query: v.string(),
    customDetails: v.record(v.string(), v.string()),
    entityMappings: v.array(v.object({ fieldMappings: v.array(v.object({ columnName: v.string() })) })),
    incidentConfiguration: v.looseObject({ groupingConfiguration: v.looseObject({ groupByCustomDetails: texts }) }),
  });
  const rules = resources.filter(({ type }) => type === 'Microsoft.SecurityInsights/alertRules');
  assert.equal(rules.length, 2);
  for (const { properties } of rules.map((each) => v.parse(v.looseObject({ properties: alert }), each))) {
    const [, name = ''] = /^\[join\(variables\('(\w+)'\), '\n'\)\]$/.exec(properties.query) ?? [];
    assert.ok(name === 'withoutApproval' || name === 'blindBridges');
    const shown = new Set((/^\| project (.*)$/.exec(variables[name].at(-1) ?? '')?.[1] ?? '').split(', '));
    const mapped = properties.entityMappings.flatMap(({ fieldMappings }) =>
      fieldMappings.map(({ columnName }) => columnName),
    );
    for (const column of [...Object.values(properties.customDetails), ...mapped]) assert.ok(shown.has(column), column);
    assert.deepEqual(
      properties.incidentConfiguration.groupingConfiguration.groupByCustomDetails,
      Object.keys(properties.customDetails),
    );
  }
});

const FUNCTIONS = [
  'parameters',
  'variables',
  'resourceId',
  'subscriptionResourceId',
  'resourceGroup',
  'reference',
  'format',
  'guid',
  'join',
];
/** As Microsoft publishes them. */
const VERSIONS: Readonly<Record<string, string>> = {
  'Microsoft.OperationalInsights/workspaces/tables': '2022-10-01',
  'Microsoft.Insights/dataCollectionEndpoints': '2023-03-11',
  'Microsoft.Insights/dataCollectionRules': '2023-03-11',
  'Microsoft.Authorization/roleAssignments': '2022-04-01',
  'Microsoft.SecurityInsights/alertRules': '2023-11-01',
  'Microsoft.Insights/workbooks': '2022-04-01',
};

test('every expression is balanced, names what is there, and nothing is there that none names', () => {
  const calls = expressionsOf(template).flatMap((expression) => expression.calls);
  assert.ok(calls.length > 40);
  assert.deepEqual(
    calls.filter(({ name }) => ![...FUNCTIONS, 'string'].includes(name)),
    [],
  );
  for (const kind of ['parameters', 'variables'] as const) {
    const named = new Set(calls.filter(({ name }) => name === kind).map(({ args }) => args[0]?.slice(1, -1)));
    assert.deepEqual([...named].sort(), Object.keys(template[kind]).sort());
  }
  for (const { args } of calls.filter(({ name }) => name === 'resourceId')) {
    const type = (args[0] ?? '').slice(1, -1);
    assert.equal(args.length - 1, type.split('/').length - 1, `a name for each part of ${type}`);
  }
});

test('each resource is of a published version, and waits for resources of the template alone', () => {
  assert.equal(template.$schema, 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#');
  assert.match(template.contentVersion, /^\d+(\.\d+){3}$/);
  assert.deepEqual(
    new Map(resources.map(({ type, apiVersion }) => [type, apiVersion])),
    new Map(Object.entries(VERSIONS)),
  );
  for (const { dependsOn } of resources)
    for (const { calls } of expressionsOf(dependsOn)) {
      const needed = calls.find(({ name }) => name === 'resourceId')?.args[0]?.slice(1, -1);
      assert.ok(
        resources.some(({ type }) => type === needed),
        needed,
      );
    }
});

test('the workbook is one, and its queries are by the time range that it asks for', () => {
  const { version, items } = variables.workbook;
  assert.equal(version, 'Notebook/1.0');
  assert.equal(new Set(items.map(({ name }) => name)).size, items.length);
  assert.deepEqual(
    items.filter(({ type, content }) => type === 3 && content['timeContextFromParameter'] !== 'TimeRange'),
    [],
  );
  assert.deepEqual(JSON.parse(JSON.stringify(variables.workbook)), variables.workbook);
  assert.deepEqual(expressionsOf(variables.workbook), [], 'the service would evaluate it');
});

test('the README lists every parameter with its default', () => {
  const rows = [...README.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name, given]) => [
    name,
    given?.replaceAll('`', ''),
  ]);
  const defaults = Object.entries(template.parameters).map(([name, { defaultValue = 'required' }]) => [
    name,
    defaultValue === '[resourceGroup().location]' ? 'that of the resource group' : String(defaultValue),
  ]);
  assert.deepEqual(rows, defaults);
});

test('the commands of both pages are commands of a shell, and give parameters that there are', () => {
  const blocks = [PAGE, README].flatMap((page) =>
    [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block),
  );
  assert.equal(blocks.length, 3);
  for (const block of blocks) {
    execFileSync('bash', ['-n', '-c', block]);
    for (const [, given = ''] of block.matchAll(/--parameters ([^\n]*)/g))
      for (const [, name = ''] of given.matchAll(/(\w+)=/g)) assert.ok(Object.hasOwn(template.parameters, name), name);
  }
});
