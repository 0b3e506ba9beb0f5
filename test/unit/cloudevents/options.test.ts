// The section `cloudevents` → the sources and prefixes it accepts, and the faults of others.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as v from 'valibot';
import { cloudeventsSection } from '../../../src/cloudevents/options.ts';

function faults(section: object): readonly string[] {
  return (v.safeParse(cloudeventsSection, section).issues ?? []).map(({ message }) => message);
}

test('a source is any URI reference, and stays as it is', () => {
  for (const source of [
    null,
    'vm',
    'urn:mine',
    '/a/b?c=d#e',
    'https://[::1]:8080/',
    "/!$&'()*+,;=:@~._-",
    '%C3%A9%20',
  ]) {
    assert.deepEqual(faults({ source }), [], String(source));
    assert.equal(v.parse(cloudeventsSection, { source }).source, source);
  }
});

test('a source with a character that no URI has is one fault, which says to encode it', () => {
  for (const source of ['a b', ' a', 'a ', 'é', 'a%2', 'a%zz', '%', 'a\n', 'a"b'])
    assert.deepEqual(faults({ source }), [
      'has a character that is not allowed in a URI, such as a space or é: percent-encode it (%20, %C3%A9)',
    ]);
});

test('a source of allowed characters in an order that no URI has is a fault', () => {
  for (const source of ['', '//[', ':a', 'a#b#c'])
    assert.deepEqual(
      faults({ source }),
      ['must be empty (~), "vm" or a URI reference (RFC 3986), such as /subscriptions/S/resourcegroups/G'],
      source,
    );
});

test('a prefix is a reversed domain name of at most 200 characters', () => {
  for (const typePrefix of ['com', 'c', 'com.example', 'com.example-1.2nd', 'x'.repeat(200)])
    assert.deepEqual(faults({ typePrefix }), [], typePrefix);
  for (const typePrefix of ['', '.com', 'com.', '1com', '-com', 'com..a', 'com.-a', 'com a', 'com.a b', 'com.é'])
    assert.deepEqual(
      faults({ typePrefix }),
      ['must be a reversed domain name without a dot at its end, such as com.example.maintenance'],
      typePrefix,
    );
  assert.deepEqual(faults({ typePrefix: 'x'.repeat(201) }), ['must have at most 200 characters']);
});
