// Values and lines of DHCP clients at the limits of their forms → an address, or none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressInLease, addressInRegistry, declaredNames, decodeAddress } from '../../../src/metadata/dhcp-option.ts';

test('an address is read in each form up to its limits', () => {
  for (const [text, address] of [
    ['1.2.3.255', '1.2.3.255'],
    ['1,2,3,4', '1.2.3.4'],
    ['223.255.255.255', '223.255.255.255'],
    ['1:2:a:B', '1.2.10.11'],
    ['0xa83f8110', '168.63.129.16'],
    ['100000000', '5.245.225.0'],
    ['"\\250?\\201\\020"', '168.63.129.16'],
    ['"\\001\n\\002\\003"', '1.10.2.3'],
  ])
    assert.equal(decodeAddress(text ?? ''), address, text);
});

test('a value with anything before or after the address has none, nor has an address that no host has', () => {
  for (const text of [
    ...['1.2.3.4.5', 'x1.2.3.4', '-1.2.3.4', '1e1.2.3.4', '1.2.3.4x', '1.2.3.256', '0.1.2.3', '224.0.0.1'],
    ...[
      '4294967296',
      '12345678901',
      'x100000000',
      '100000000x',
      '+168430090',
      '168430090e0',
      '1:2:3:4:5',
      'x1:2:3:4',
      '1 1:2:3:4',
      '1:2:3:4x',
      '1:2:3',
    ],
    ...['x"abcd"', '"abcd"x', '"abc"', '""', '', 'a83f81101', '0x1a83f8110'],
  ])
    assert.equal(decodeAddress(text), null, text);
});

test('a declaration and a lease may have any blanks between their words', () => {
  const conf =
    '\toption  azure-host \t code  245  = ip-address;\n# option other code 245 = text;\noption x code 246 = text;';
  assert.deepEqual(declaredNames(conf), ['azure-host']);
  assert.equal(addressInLease('  option  AZURE-host \t 1.2.3.4;', ['azure-host']), '1.2.3.4');
  assert.equal(addressInLease('option private-245 1.2.3.4;'), '1.2.3.4');
  assert.equal(addressInLease('OPTION_245 = 01020304'), '1.2.3.4');
});

test('another option, or a line with text after its end, has no address', () => {
  assert.equal(addressInLease('option azure-host 1.2.3.4;'), null);
  assert.equal(addressInLease('option unknown-245 1.2.3.4; # old'), null);
  assert.equal(addressInLease(''), null);
});

test('the registry may end with the option, and another length of it is no address', () => {
  const record = (code: number, ...data: number[]) => {
    const bytes = Buffer.alloc(20 + Math.ceil(data.length / 4) * 4);
    bytes.writeUInt32LE(code, 0);
    bytes.writeUInt32LE(data.length, 8);
    bytes.set(data, 20);
    return bytes;
  };
  const found = (...records: Buffer[]) => addressInRegistry(`x REG_BINARY ${Buffer.concat(records).toString('hex')}`);
  assert.equal(found(record(6, 9, 9, 9, 9, 9), record(245, 1, 2, 3, 4)), '1.2.3.4');
  assert.equal(found(record(245, ...Buffer.from('1.2.3.4')), record(245, 1, 2, 3, 5)), '1.2.3.5');
  assert.equal(found(record(245)), null);
});
