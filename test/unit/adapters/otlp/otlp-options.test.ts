// Configurations of OTLP sinks → the URL for records, and the warnings of `check`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logsUrl, otlpSink } from '../../../../adapters/otlp/otlp.ts';
import { readConfig } from '../../../../src/config/read-config.ts';
import { formatFault } from '../../../../src/schema/faults.ts';
import { surroundings } from '../../../support/config.ts';

function warningsOf(url: unknown, more: object = {}): readonly string[] {
  const around = { ...surroundings({ URL: 'https://secret-host.example.com' }), adapters: [otlpSink] };
  const result = readConfig(JSON.stringify({ version: 1, sinks: { otel: { type: 'otlp', url, ...more } } }), around);
  if ('faults' in result) assert.fail(result.faults.map(formatFault).join('\n'));
  return result.warnings.map(formatFault);
}

test('a url without a path gets the default path, and any other path is kept', () => {
  assert.equal(logsUrl(new URL('https://otel.example.com:4318')).pathname, '/v1/logs');
  assert.equal(logsUrl(new URL('https://otel.example.com/otlp/v1/logs')).pathname, '/otlp/v1/logs');
});

const NO_PATH =
  'sinks.otel.url: has no path, so the sink posts to /v1/logs: write the whole URL, such as https://otel.example.com:4318/v1/logs';
const GRPC = 'sinks.otel.url: has port 4317, which is for gRPC: this sink uses HTTP, so use port 4318';

for (const [url, ...warnings] of [
  ['https://otel.example.com:4318/v1/logs'],
  ['https://otel.example.com/', NO_PATH],
  ['https://otel.example.com:4318', NO_PATH],
  ['https://otel.example.com:4317', NO_PATH, GRPC],
  ['https://otel.example.com:4317/v1/logs', GRPC],
] as const)
  test(`a check has ${warnings.length} warnings for ${url}`, () => {
    assert.deepEqual(warningsOf(url), warnings);
  });

test('a url in a secret is checked by its value, which no warning shows', () => {
  assert.deepEqual(warningsOf({ env: 'URL' }), [NO_PATH]);
});
