// The section `metadata` as a user writes it → the options of the client, or a fault.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { isEndpoint, metadataSection } from '../../../src/metadata/options.ts';

const accepts = (section: Record<string, unknown>) => v.safeParse(metadataSection, section).success;

test('the endpoint is "discover", or an http URL with only host and port, of which the origin counts', () => {
  const endpointOf = (endpoint: string) => v.parse(metadataSection, { endpoint }).endpoint;
  assert.equal(isEndpoint('discover'), true);
  assert.equal(endpointOf('discover'), 'discover');
  assert.equal(endpointOf('http://192.0.2.1:8080/'), 'http://192.0.2.1:8080');
  for (const text of [
    '',
    'Discover',
    'https://192.0.2.1',
    'http://192.0.2.1/x',
    'http://a@192.0.2.1',
    'http://192.0.2.1?x',
  ])
    assert.equal(isEndpoint(text), false, text);
});

test('each time has its limits', () => {
  for (const [name, least, below, most, above] of [
    ['pollInterval', '50ms', '49ms', '30s', '31s'],
    ['timeout', '100ms', '99ms', '5m', '301s'],
    ['firstTimeout', '100ms', '99ms', '10m', '601s'],
    ['settle', '0s', '-1s', '1h', '3601s'],
  ] as const) {
    assert.deepEqual([accepts({ [name]: least }), accepts({ [name]: most })], [true, true], name);
    assert.deepEqual([accepts({ [name]: below }), accepts({ [name]: above })], [false, false], name);
  }
});

test('without a configuration, the client polls each second at the address of Azure', () => {
  assert.deepEqual(v.parse(metadataSection, {}), {
    endpoint: 'http://169.254.169.254',
    apiVersion: '2020-07-01',
    pollIntervalMs: 1_000,
    timeoutMs: 10_000,
    firstTimeoutMs: 130_000,
    settleMs: 300_000,
  });
});
