// Addresses and allowances → allowed or not, at the edges of ranges and in disguise.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressJudge, isAddressRange } from '../../../src/net/private-addresses.ts';

const judge = addressJudge([]);

/** First and last address of each range that is refused, and its neighbours outside. */
const RANGES: readonly (readonly [range: string, inside: readonly string[], outside: readonly string[]])[] = [
  ['this network', ['0.0.0.0', '0.255.255.255'], ['1.0.0.0']],
  ['10/8', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
  ['shared address space', ['100.64.0.0', '100.127.255.255'], ['100.63.255.255', '100.128.0.0']],
  ['loopback', ['127.0.0.1', '127.255.255.255'], ['126.255.255.255', '128.0.0.0']],
  ['link-local', ['169.254.0.0', '169.254.255.255'], ['169.253.255.255', '169.255.0.0']],
  ['172.16/12', ['172.16.0.0', '172.31.255.255'], ['172.15.255.255', '172.32.0.0']],
  ['192.168/16', ['192.168.0.0', '192.168.255.255'], ['192.167.255.255', '192.169.0.0']],
  ['the unspecified address', ['::', '0:0:0:0:0:0:0:0'], []],
  ['IPv6 loopback', ['::1', '0:0:0:0:0:0:0:1'], ['2606:4700::1111']],
  ['IPv4-compatible', ['::10.0.0.1', '::808:808'], []],
  ['unique local', ['fc00::', 'fdff:ffff::1', 'fd00:ec2::254'], ['fbff::1', 'fe00::1']],
  ['IPv6 link-local', ['fe80::1', 'febf::1', 'fe80::1%eth0'], []],
  ['site-local', ['fec0::1', 'feff::1'], ['ff00::1']],
  ['local-use NAT64 outside its /96 form', ['64:ff9b:1:a00:0:100::'], ['64:ff9b:2::1']],
];

for (const [range, inside, outside] of RANGES) {
  test(`${range} is private, its neighbours are not`, () => {
    for (const address of inside) assert.equal(judge(address), 'private', address);
    for (const address of outside) assert.equal(judge(address), 'allowed', address);
  });
}

/** How an IPv4 address can be dressed as an IPv6 one. */
const DRESSES: readonly (readonly [name: string, dress: (a: number, b: number, c: number, d: number) => string])[] = [
  ['mapped', (a, b, c, d) => `::ffff:${a}.${b}.${c}.${d}`],
  ['mapped in hex', (a, b, c, d) => `0:0:0:0:0:FFFF:${hex(a, b)}:${hex(c, d)}`],
  ['translated', (a, b, c, d) => `::ffff:0:${a}.${b}.${c}.${d}`],
  ['NAT64', (a, b, c, d) => `64:ff9b::${hex(a, b)}:${hex(c, d)}`],
  ['NAT64, dotted', (a, b, c, d) => `64:ff9b::${a}.${b}.${c}.${d}`],
  ['local NAT64', (a, b, c, d) => `64:ff9b:1::${hex(a, b)}:${hex(c, d)}`],
  ['6to4', (a, b, c, d) => `2002:${hex(a, b)}:${hex(c, d)}::1`],
];

function hex(high: number, low: number): string {
  return ((high << 8) | low).toString(16);
}

for (const [name, dress] of DRESSES) {
  test(`IPv4 embedded as ${name} is classified by the embedded address`, () => {
    assert.equal(judge(dress(10, 0, 0, 1)), 'private');
    assert.equal(judge(dress(127, 0, 0, 1)), 'private');
    assert.equal(judge(dress(8, 8, 8, 8)), 'allowed');
    assert.equal(judge(dress(169, 254, 169, 254)), 'metadata');
    assert.equal(judge(dress(168, 63, 129, 16)), 'metadata');
    assert.equal(addressJudge(['10.0.0.0/8'])(dress(10, 0, 0, 1)), 'allowed');
    assert.equal(
      addressJudge(['2002::/16', '64:ff9b::/96'])(dress(10, 0, 0, 1)),
      'private',
      'allowing the dress allows nothing',
    );
  });
}

test('an allowed range allows its own addresses and no others', () => {
  const allows = addressJudge(['10.1.0.0/16', '127.0.0.1', 'fd00:1::/32', '::1/128']);
  for (const address of ['10.1.2.3', '127.0.0.1', 'fd00:1::5', '::1', '93.184.216.34'])
    assert.equal(allows(address), 'allowed', address);
  for (const address of ['10.2.0.0', '127.0.0.2', 'fd00:2::5', '::2', '::'])
    assert.equal(allows(address), 'private', address);
});

test('no allowed range includes the metadata addresses', () => {
  const everything = addressJudge(['0.0.0.0/0', '::/0', '169.254.169.254/32', '168.63.129.16']);
  const spelled = [
    '169.254.169.254',
    '168.63.129.16',
    '::ffff:169.254.169.254',
    '::169.254.169.254',
    '64:ff9b::a83f:8110',
  ];
  const shortPrefixes = [
    '64:ff9b:1:a9fe:a9:fe00::',
    '64:ff9b:1:a9:fe:a9fe::',
    '64:ff9b:1:0:a9:fea9:fe00:0',
    '64:ff9b:1:2::a9fe:a9fe',
  ];
  for (const address of [...spelled, ...shortPrefixes]) assert.equal(everything(address), 'metadata', address);
  assert.equal(everything('169.254.169.253'), 'allowed');
});

test('every spelling of an IPv4 host in a URL gets the same verdict', () => {
  for (const host of [
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '127.0.1',
    '１２７.0.0.1',
    '%31%32%37.0.0.1',
  ]) {
    assert.equal(judge(new URL(`http://${host}/`).hostname), 'private', host);
  }
});

test('a range is an address with or without a valid prefix length', () => {
  for (const text of ['10.0.0.0/8', '0.0.0.0/0', '1.2.3.4/32', '1.2.3.4', '::/0', '::1/128', 'fd00::/8'])
    assert.ok(isAddressRange(text), text);
  for (const text of [
    '',
    '10',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::1/129',
    'fe80::1%eth0',
    'example.com',
    '10.0.0.0/8 ',
  ]) {
    assert.ok(!isAddressRange(text), text);
  }
});

test('text that is not an address or a range throws', () => {
  assert.throws(() => judge('example.com'), TypeError);
  assert.throws(() => judge(''), TypeError);
  assert.throws(() => addressJudge(['example.com']), TypeError);
});
