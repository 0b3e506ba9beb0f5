// Configurations of Elasticsearch sinks → their defaults, or the faults that `check` reports.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elasticsearchSink } from '../../../../adapters/elasticsearch/elasticsearch.ts';
import type { ElasticsearchOptions } from '../../../../adapters/elasticsearch/elasticsearch-options.ts';
import { configOf, faultsOf, surroundings } from '../../../support/config.ts';

const AROUND = { ...surroundings({ KEY: 'key', LINES: 'two\nlines', COLON: 'a:b' }), adapters: [elasticsearchSink] };
const sink = (options: object) =>
  JSON.stringify({
    version: 1,
    sinks: { search: { type: 'elasticsearch', url: 'https://es.example.com:9200', ...options } },
  });

test('only url is required: ECS documents in the data stream of scheduled events, without credentials', () => {
  const options = configOf(sink({}), AROUND).sinks['search']?.options as ElasticsearchOptions;
  const { index, format, maxBatch, maxBatchBytes, timeout } = options;
  assert.deepEqual(
    { index, format, maxBatch, maxBatchBytes, timeout },
    {
      index: 'logs-azure.scheduledevents-default',
      format: 'ecs',
      maxBatch: 500,
      maxBatchBytes: 1024 ** 2,
      timeout: 10_000,
    },
  );
});

for (const index of ['Logs', '_all', '-a', '.hidden', 'a b', 'a,b', 'a*', '', 'ä'.repeat(128)])
  test(`${JSON.stringify(index.slice(0, 10))} is not a valid index name`, () => {
    const [fault, ...more] = faultsOf(sink({ index }), AROUND);
    assert.match(fault ?? '', /^sinks\.search\.index: must be the name of an index/);
    assert.deepEqual(more, []);
  });

const KEY = { env: 'KEY' };
const FAULTS: readonly (readonly [options: object, fault: string])[] = [
  [
    { apiKey: KEY, username: 'me', password: KEY },
    'sinks.search.apiKey: cannot be combined with username: remove one of the two',
  ],
  [{ username: 'me' }, 'sinks.search.password: is missing: username needs it'],
  [{ password: KEY }, 'sinks.search.username: is missing: password needs it'],
  [
    { apiKey: KEY, headers: { Authorization: KEY } },
    'sinks.search.headers: contains authorization, which apiKey sets: remove one of the two',
  ],
  [
    { username: 'me', password: KEY, headers: { authorization: KEY } },
    'sinks.search.headers: contains authorization, which username sets: remove one of the two',
  ],
  [
    { apiKey: { env: 'LINES' } },
    'sinks.search.apiKey: must contain only printable ASCII, without line breaks or other control characters',
  ],
  [{ username: { env: 'COLON' }, password: KEY }, 'sinks.search.username: must not contain a colon (RFC 7617)'],
  [
    { url: 'https://10.1.2.3:9200' },
    'sinks.search.url: is not a public address: correct it, or list the range in allowPrivate if you trust it',
  ],
];

for (const [options, fault] of FAULTS)
  test(`${JSON.stringify(options)} is a fault`, () => assert.deepEqual(faultsOf(sink(options), AROUND), [fault]));
