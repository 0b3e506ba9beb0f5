// Names that other programs have for what our kinds do → the kind that was meant.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADAPTERS } from '../../../adapters/index.ts';
import { OTHER_NAMES } from '../../../src/config/other-names.ts';
import { faultsOf, surroundings } from '../../support/config.ts';

const AROUND = { ...surroundings(), adapters: ADAPTERS };
const suggestionFor = (section: object) =>
  faultsOf(JSON.stringify({ version: 1, ...section }), AROUND).map(
    (fault) => /; did you mean (\S+)\?$/.exec(fault)?.[1],
  );
const meantBy = (type: string) => suggestionFor({ sinks: { a: { type } } })[0];

test("a type name of another program is a fault that suggests the bridge's type", () => {
  const typed = {
    opensearch: 'elasticsearch',
    OpenSearch: 'elasticsearch',
    'elastic-search': 'elasticsearch',
    sentinel: 'azure-monitor',
    azure_monitor_logs: 'azure-monitor',
    'log-analytics': 'azure-monitor',
    splunk_hec_logs: 'splunk',
    loki: 'otlp',
    opentelemetry: 'otlp',
    rsyslog: 'syslog',
    EventLog: 'windows-event-log',
    http: 'webhook',
    'event-grid': 'webhook',
    event_hubs: 'kafka',
    azureServiceBus: 'service-bus',
    exec: 'command',
    k8s: 'kubernetes',
    console: 'stdout',
  };
  assert.deepEqual(Object.fromEntries(Object.keys(typed).map((type) => [type, meantBy(type)])), typed);
});

test('a misspelt type still has its suggestion, and an unknown one has none', () => {
  assert.deepEqual(
    [meantBy('elasticsaerch'), meantBy('webhok'), meantBy('carrier-pigeon')],
    ['elasticsearch', 'webhook', undefined],
  );
});

test('every other name maps to an existing type, and is not a type itself', () => {
  const kinds = ADAPTERS.map(({ type }) => type);
  for (const [name, kind] of OTHER_NAMES) {
    assert.ok(kinds.includes(kind), `${name}: ${kind}`);
    assert.match(name, /^[a-z0-9]+$/);
    assert.ok(!kinds.includes(name), name);
  }
});

test('only types of sources are suggested for a source of approvals', () => {
  const source = (type: string) =>
    suggestionFor({ approvals: { sources: { s: { type, approver: 'a' } } } }).find(Boolean);
  assert.deepEqual([source('eventhubs'), source('servicebus'), source('http')], ['kafka', 'service-bus', undefined]);
});
