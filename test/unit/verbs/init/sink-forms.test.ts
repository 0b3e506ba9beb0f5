// Texts of --sink → entries of the configuration, or what is wrong with the text.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ADAPTERS } from '../../../../adapters/index.ts';
import { SINK_FORMS, sinkEntry } from '../../../../src/verbs/init/sink-forms.ts';

const TYPES = ADAPTERS.map(({ type }) => type);
const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const entryOf = (text: string) => sinkEntry(text, TYPES, (path) => `/here/${path}`);

const ENTRIES: Readonly<Record<string, object>> = {
  stdout: { type: 'stdout' },
  'file=events.jsonl': { type: 'file', path: '/here/events.jsonl' },
  'webhook=https://example.com/?a=b=c': { type: 'webhook', url: 'https://example.com/?a=b=c' },
  'webhook=http://127.0.0.1:9000/': {
    ...{ type: 'webhook', url: 'http://127.0.0.1:9000/', allowInsecure: true, allowPrivate: LOOPBACK },
  },
  'otlp=https://10.1.2.3:4318/v1/logs': {
    ...{ type: 'otlp', url: 'https://10.1.2.3:4318/v1/logs', allowPrivate: ['10.1.2.3/32'] },
  },
  'elasticsearch=https://[fd00::1]:9200': {
    ...{ type: 'elasticsearch', url: 'https://[fd00::1]:9200', allowPrivate: ['fd00::1/128'] },
  },
  'kafka=b1:9093,b2:9093/maintenance': { type: 'kafka', brokers: ['b1:9093', 'b2:9093'], topic: 'maintenance' },
  'service-bus=my-ns/a/b': { type: 'service-bus', namespace: 'my-ns.servicebus.windows.net', topic: 'a/b' },
  'service-bus=ns.example.com/t': { type: 'service-bus', namespace: 'ns.example.com', topic: 't' },
  'command=drain.sh': { type: 'command', run: ['drain.sh'] },
  'kubernetes=cordon,drain': { type: 'kubernetes', prepare: ['cordon', 'drain'] },
  'syslog=unix:/run/log': { type: 'syslog', server: 'unix:/run/log' },
};

for (const [text, entry] of Object.entries(ENTRIES))
  test(`--sink ${text} is an entry of sinks`, () => assert.deepEqual(entryOf(text), entry));

test('each form belongs to a type of sink, and each has an example here', () => {
  assert.deepEqual(
    Object.keys(SINK_FORMS).filter((type) => !TYPES.includes(type)),
    [],
  );
  const tried = Object.keys(ENTRIES).map((text) => text.split('=')[0]);
  assert.deepEqual(
    Object.keys(SINK_FORMS).filter((type) => !tried.includes(type)),
    [],
  );
});

const FAULTS: Readonly<Record<string, RegExp>> = {
  opensearch: /not a type of sink .*did you mean elasticsearch\?$/,
  webhok: /did you mean webhook\?$/,
  'stdout=x': /takes no value/,
  webhook: /needs a value: webhook=URL/,
  'webhook=': /needs a value/,
  'splunk=https://splunk.example.com': /needs more than one value/,
  'kafka=b1:9093': /needs BROKER,…\/TOPIC/,
  'service-bus=ns': /needs NAMESPACE\/TOPIC/,
};

for (const [text, fault] of Object.entries(FAULTS))
  test(`--sink ${text} is rejected with the reason`, () => assert.match(String(entryOf(text)), fault));
