// Configurations of Splunk sinks → their defaults, or the faults that `check` reports.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splunkSink } from '../../../../adapters/splunk/splunk.ts';
import { collectorBase, type SplunkOptions } from '../../../../adapters/splunk/splunk-options.ts';
import { configOf, faultsOf, surroundings } from '../../../support/config.ts';

const AROUND = { ...surroundings({ KEY: 'key', LINES: 'two\nlines' }), adapters: [splunkSink] };
const sink = (options: object) =>
  JSON.stringify({
    version: 1,
    sinks: { hec: { type: 'splunk', url: 'https://hec.example.com:8088', token: { env: 'KEY' }, ...options } },
  });

test('a url and a token are enough', () => {
  const options = configOf(sink({}), AROUND).sinks['hec']?.options as SplunkOptions;
  const { sourcetype, acknowledge, maxBatch, maxBatchBytes, timeout } = options;
  assert.deepEqual(
    { sourcetype, acknowledge, maxBatch, maxBatchBytes, timeout },
    {
      sourcetype: 'scheduled-events-bridge',
      acknowledge: false,
      maxBatch: 500,
      maxBatchBytes: 1024 ** 2,
      timeout: 30_000,
    },
  );
});

const FAULTS: readonly (readonly [options: object, fault: RegExp])[] = [
  [{ token: 'literal' }, /^sinks\.hec\.token: must be \{ env: NAME \}/],
  [{ token: { env: 'LINES' } }, /^sinks\.hec\.token: must contain only printable ASCII/],
  [{ index: '' }, /^sinks\.hec\.index/],
  [{ headers: { authorization: 'Splunk x' } }, /^sinks\.hec\.headers: contains authorization, which token sets/],
  [{ url: 'http://hec.example.com:8088' }, /^sinks\.hec\.url: must start with https/],
  [{ acknowledged: true }, /^sinks\.hec\.acknowledged/],
];

for (const [options, fault] of FAULTS)
  test(`${JSON.stringify(options)} is a fault`, () => {
    const [first, ...more] = faultsOf(sink(options), AROUND);
    assert.match(first ?? '', fault);
    assert.deepEqual(more, []);
  });

test('a path before the base of the collector is kept', () => {
  assert.equal(collectorBase(new URL('https://proxy.example.com/hec/services/collector/event')).pathname, '/hec');
});
