// A configuration with `body` → faults of its keys, of the template's file, of what it gives.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as v from 'valibot';
import { ADAPTERS } from '../../../../../adapters/index.ts';
import { loadTemplate, renderBody, templateScope } from '../../../../../adapters/webhook/template/template-body.ts';
import { webhookOptions } from '../../../../../adapters/webhook/webhook-options.ts';
import { readConfigFully } from '../../../../../src/config/read-config.ts';
import { formatFault } from '../../../../../src/schema/faults.ts';
import { Secret } from '../../../../../src/secrets/secret.ts';
import { surroundings } from '../../../../support/config.ts';

const PAGE = readFileSync(new URL('../../../../../docs/operate/templates.md', import.meta.url), 'utf8');

/** The faults of a sink `hook` with this `body`, whose template file holds `file`. */
async function faultsOf(
  body: Readonly<Record<string, unknown>>,
  file = '{}',
  more: Readonly<Record<string, unknown>> = {},
): Promise<string[]> {
  const around = { ...surroundings({ KEY: 'hidden "value"' }, { '/etc/bridge/own.liquid': file }), adapters: ADAPTERS };
  const sinks = { hook: { type: 'webhook', url: 'https://a.example', body, ...more } };
  const result = await readConfigFully(JSON.stringify({ version: 1, sinks }), around);
  return 'faults' in result ? result.faults.map(formatFault) : [];
}

const OWN = { template: './own.liquid' };

test('every shipped template, and one of the own, is taken', async () => {
  for (const template of ['slack', 'teams']) assert.deepEqual(await faultsOf({ template }), []);
  assert.deepEqual(await faultsOf({ template: 'pagerduty', values: { routingKey: { env: 'KEY' } } }), []);
  for (const template of ['./own.liquid', 'own.liquid', '/etc/bridge/own.liquid'])
    assert.deepEqual(await faultsOf({ template }), []);
  for (const contentType of ['application/json; charset=utf-8', 'application/vnd.x+json', 'Application/JSON'])
    assert.deepEqual(await faultsOf({ ...OWN, contentType }), []);
  for (const contentType of ['text/plain', 'application/json-seq', 'application/x-www-form-urlencoded'])
    assert.deepEqual(await faultsOf({ ...OWN, contentType }, 'not "JSON": {{ data.description }}'), []);
});

const KEY_FAULTS: readonly (readonly [body: Readonly<Record<string, unknown>>, says: RegExp])[] = [
  [{}, /^sinks\.hook\.body\.template: is missing/],
  [
    { template: 'slak' },
    /^sinks\.hook\.body\.template: is not a template of the bridge .*slack, teams, pagerduty.*\.\/message\.liquid/,
  ],
  [{ template: '' }, /^sinks\.hook\.body\.template: is not a template of the bridge/],
  [
    { template: './none.liquid' },
    /^sinks\.hook\.body\.template: the file \/etc\/bridge\/none\.liquid cannot be read \(.*\)/,
  ],
  [{ ...OWN, contentType: 'json' }, /^sinks\.hook\.body\.contentType: must be a media type/],
  [{ ...OWN, contentType: 'text/plain; charset=latin-1' }, /^sinks\.hook\.body\.contentType: must be a media type/],
  [{ ...OWN, contentType: 'text/plain\r\nx: y' }, /^sinks\.hook\.body\.contentType: must be a media type/],
  [{ ...OWN, values: { 'a-b': 'x' } }, /^sinks\.hook\.body\.values\.a-b: must consist of letters/],
  [{ ...OWN, values: { a: 5 } }, /^sinks\.hook\.body\.values\.a: must be text, \{ env/],
  [
    { ...OWN, values: { a: { env: 'NOT_SET' } } },
    /^sinks\.hook\.body\.values\.a: the environment variable NOT_SET is not set/,
  ],
  [{ ...OWN, file: 'x' }, /^sinks\.hook\.body\.file: is not a key/],
  [{ template: 'pagerduty' }, /^sinks\.hook\.body\.values\.routingKey: is missing: the template uses it/],
];

for (const [body, says] of KEY_FAULTS) {
  test(`body: ${JSON.stringify(body)} is a fault with its path`, async () => {
    const faults = await faultsOf(body);
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0] ?? '', says);
  });
}

const FILE_FAULTS: readonly (readonly [file: string, says: string])[] = [
  ['{\n"a": "{{ id | nope }}"}', 'is not valid Liquid: the filter nope does not exist (line 2, column 7)'],
  ['{% include "x" %}', 'is not valid Liquid: the tag include does not exist (line 1, column 1)'],
  ['{"a": {{ ids | json }}}', 'uses ids in line 1, which no event has'],
  ['{\n"a": {{ data.eventid | json }}}', 'uses data.eventid in line 2, which no event has'],
  ['{"a": {{ data.observer.nme | json }}}', 'uses data.observer.nme in line 1, which no event has'],
  [
    '{"a": "{{ data.description | raw }}"}',
    'fails for an event of type scheduled: its output is not valid JSON, from line 1 column 20 of the output (put texts in quotes, and use the filter json for values that may be missing)',
  ],
  [
    '{"a": 1,}',
    'fails for an event of type scheduled: its output is not valid JSON, from line 1 column 9 of the output (put texts in quotes, and use the filter json for values that may be missing)',
  ],
  [
    '{"a": {{ data.notBefore }}}',
    'fails for an event of type scheduled: its output is not valid JSON, from line 1 column 11 of the output (put texts in quotes, and use the filter json for values that may be missing)',
  ],
  [
    '{"a": {{ data.durationInSeconds }}}',
    'fails for an event of type approval.recorded: its output is not valid JSON (put texts in quotes, and use the filter json for values that may be missing)',
  ],
  [
    '{% comment %}hidden{% endcomment %}{{ values.key }}',
    'fails for an event of type scheduled: its output is not valid JSON (put texts in quotes, and use the filter json for values that may be missing)',
  ],
  [
    '{% if change == "ended" %}{{ time | date: "%Q" }}{% else %}{}{% endif %}',
    'fails for an event of type ended: date does not support %Q (line 1, column 27)',
  ],
  [
    '{% for i in (1..300000) %}          {% endfor %}1',
    'fails for an event of type scheduled: its output is larger than 256 KiB',
  ],
  [`{}${' '.repeat(65_536)}`, 'is longer than 64 KiB'],
  ['', 'the file /etc/bridge/own.liquid is empty'],
];

for (const [file, says] of FILE_FAULTS) {
  test(`a template ${JSON.stringify(file).slice(0, 70)} is a fault of body.template, and nothing of it shows`, async () => {
    assert.deepEqual(await faultsOf({ ...OWN, values: { key: { env: 'KEY' } } }, file), [
      `sinks.hook.body.template: ${says}`,
    ]);
  });
}

test('each thing that the template asks for in vain is named once, beside the faults of other keys', async () => {
  const file = '{"a":"{{ idd }}{{ idd }}{{ data.x }}{{ values.y }}{{ values.z }}"}';
  assert.deepEqual(await faultsOf({ ...OWN, values: { y: '1' } }, file, { timeout: '5m' }), [
    'sinks.hook.timeout: must be at most 4m',
    'sinks.hook.body.template: uses idd in line 1, which no event has',
    'sinks.hook.body.template: uses data.x in line 1, which no event has',
    'sinks.hook.body.values.z: is missing: the template uses it',
  ]);
});

for (const mode of ['binary', 'batch']) {
  test(`body beside mode: ${mode} is a fault`, () => {
    const { issues } = v.safeParse(webhookOptions, { url: 'https://a.example', mode, body: { template: 'slack' } });
    assert.equal(issues?.length, 1);
    assert.equal(v.getDotPath(issues[0]), 'mode');
    assert.match(issues[0].message, /must be structured with body/);
  });
}

test('the configurations of the page on templates are valid, templates included', async () => {
  const configurations = [...PAGE.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, yaml = '']) => yaml);
  assert.equal(configurations.length, 4);
  const env: Record<string, string> = {
    SLACK_WEBHOOK_URL: 'https://hooks.slack.example/x',
    TEAMS_WORKFLOW_URL: 'https://teams.example/x',
  };
  const around = { ...surroundings({ ...env, PAGERDUTY_ROUTING_KEY: 'x'.repeat(32) }), adapters: ADAPTERS };
  for (const yaml of configurations) {
    const result = await readConfigFully(`version: 1\n${yaml}`, around);
    assert.deepEqual('faults' in result ? result.faults.map(formatFault) : [], []);
  }
});

test("the page's own template is valid and gives what the page shows for the event of docs/receive/cloudevents.md", async () => {
  const [, file = ''] = /^```liquid\n([\s\S]*?)^```/m.exec(PAGE) ?? [];
  const [, gives = ''] = /^```json5\n([\s\S]*?)^```/m.exec(PAGE) ?? [];
  assert.deepEqual(await faultsOf(OWN, file), []);
  const page = readFileSync(new URL('../../../../../docs/receive/cloudevents.md', import.meta.url), 'utf8');
  const event = JSON.parse(/^```json\n([\s\S]*?)^```/m.exec(page)?.[1] ?? '');
  const source = new Secret({ file: 'own.liquid' });
  source.open(file);
  const template = await loadTemplate({ template: { file: source }, contentType: 'application/json', values: {} });
  if ('fault' in template) assert.fail(template.fault);
  const rendered = renderBody(template, 'application/json', templateScope(event, 'scheduled', {}));
  assert.deepEqual(rendered, { text: gives });
});
