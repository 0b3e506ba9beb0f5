// `cloudevents.source` → only what is a URI reference by RFC 3986.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUriReference } from '../../../src/schema/uri-reference.ts';
import { configOf, faultsOf } from '../../support/config.ts';

/**
 * Examples of RFC 3986 (sections 1.1.2 and 5.4) and of the CloudEvents specification, and the odd ones that the grammar
 * allows.
 */
const REFERENCES = [
  ...[
    'ftp://ftp.is.co.za/rfc/rfc1808.txt',
    'http://www.ietf.org/rfc/rfc2396.txt',
    'ldap://[2001:db8::7]/c=GB?objectClass?one',
  ],
  ...[
    'mailto:John.Doe@example.com',
    'news:comp.infosystems.www.servers.unix',
    'tel:+1-816-555-1212',
    'telnet://192.0.2.16:80/',
  ],
  ...['urn:oasis:names:specification:docbook:dtd:xml:4.1.2', 'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66'],
  ...[
    'g:h',
    'g',
    './g',
    'g/',
    '/g',
    '//g',
    '?y',
    'g?y',
    '#s',
    'g#s',
    'g?y#s',
    ';x',
    'g;x?y#s',
    '.',
    './',
    '..',
    '../../g',
    'http:g',
    'http:',
  ],
  ...[
    'g?y/./x',
    'g#s/../x',
    '//',
    '///',
    '/a:b',
    './1:x',
    'a+b-c.d:',
    '/%c3%A9',
    "/!$&'()*+,;=:@",
    '//user:pass@h:/',
    '//h:80',
    '//%41',
    '#',
    '?',
  ],
  ...[
    '/sensors/tn-1234567/alerts',
    'cloudevents/spec/pull/123',
    '1-555-123-4567',
    'vm',
    '/subscriptions/S/resourcegroups/G%20(1)',
  ],
  ...[
    '//[::]',
    '//[::1]:8080/x',
    '//[1:2:3:4:5:6:7:8]',
    '//[1:2:3:4:5:6:192.0.2.1]',
    '//[::ffff:192.0.2.1]',
    '//[1::8]',
    '//[1:2:3:4:5:6:7::]',
  ],
  ...['//[::2:3:4:5:6:7:8]', '//[1:2:3::5:6:7:8]', '//[v1.fe80::a+en1]', '//[fe80::1]'],
];

const NONE = [
  ...[
    'http://[bad',
    '#a#b',
    ':x',
    '1:x',
    'http://h:port/',
    '/a[b]',
    'http://[::1',
    'http://::1/',
    '//[::1]x',
    '//[1:2:3]',
    '//[::1%25eth0]',
  ],
  ...[
    '//[1:2:3:4:5:6:7:8:9]',
    '//[1:2:3:4:5:6:7::8:9]',
    '//[:::]',
    '//[1::2::3]',
    '//[12345::]',
    '//[::256.0.2.1]',
    '//[::1.2.3]',
    '//[v.x]',
    '//[]',
  ],
  ...[
    'a b',
    ' ',
    'x\n',
    '\n',
    '/%',
    '/%4',
    '/%zz',
    '/a\\b',
    '/a|b',
    '/<a>',
    '/"a"',
    '/a^b',
    '/a`b',
    '/{a}',
    '/é',
    '/\u007f',
    '//h:80:81',
    '//a@b@c',
  ],
  ...['?a[]', '#a]', 'a_b:c', '1a:b', '//h:8x', ''],
];

test('a URI reference is accepted unchanged', () => {
  for (const source of REFERENCES)
    assert.equal(configOf(JSON.stringify({ version: 1, cloudevents: { source } })).cloudevents.source, source);
});

for (const source of NONE) {
  test(`${JSON.stringify(source)} is not a URI reference, and the fault has the reason`, () => {
    const [fault = '', ...more] = faultsOf(JSON.stringify({ version: 1, cloudevents: { source } }));
    assert.deepEqual(more, []);
    const isEncoded = /^(?:[\w~!$&'()*+,;=:@/?#[\].-]|%[\da-f]{2})*$/i.test(source);
    const says = isEncoded
      ? 'must be empty (~), "vm" or a URI reference (RFC 3986)'
      : 'has a character that is not allowed in a URI';
    assert.ok(fault.startsWith(`cloudevents.source: ${says}`), fault);
  });
}

test('the time for long texts is linear in their length', () => {
  const seconds = (length: number) => {
    const begin = performance.now();
    for (const part of ['a', '/', ':', '%41', '[', '1:', '::']) isUriReference(`${part.repeat(length)}\\`);
    return performance.now() - begin;
  };
  seconds(1000);
  // 100 times the length; the square would be 10,000 times as long.
  assert.ok(seconds(100_000) < 2000 * Math.max(seconds(1000), 0.05));
});
