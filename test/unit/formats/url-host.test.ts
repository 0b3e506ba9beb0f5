// Hosts → the hosts of their URLs.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ownUrlHost, urlHost } from '../../../src/formats/url-host.ts';

test('an IPv6 address has brackets in a URL, and every other host stays as it is', () => {
  for (const [host, expected] of [
    ['::1', '[::1]'],
    ['fe80::1', '[fe80::1]'],
    ['127.0.0.1', '127.0.0.1'],
    ['bridge.example.com', 'bridge.example.com'],
  ] as const)
    assert.equal(urlHost(host), expected);
});

test('a listener on every address is reached on loopback', () => {
  assert.deepEqual(['0.0.0.0', '::', '::1', 'localhost'].map(ownUrlHost), ['127.0.0.1', '[::1]', '[::1]', 'localhost']);
});
