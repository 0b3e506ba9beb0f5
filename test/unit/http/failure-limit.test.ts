// Failed attempts → counted by network, for a minute, whatever others send.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FailureLimit } from '../../../src/http/failure-limit.ts';
import { networkOf } from '../../../src/net/private-addresses.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

function fail(limit: FailureLimit, address: string, times: number): number | null {
  let last: number | null = null;
  for (let failure = 0; failure < times; failure++) last = limit.count(address);
  return last;
}

test('addresses are counted apart', () => {
  const limit = new FailureLimit(new VirtualTime());
  assert.equal(fail(limit, '192.0.2.1', 20), 60);
  assert.equal(fail(limit, '192.0.2.2', 19), null);
});

test('the addresses of one IPv6 /64 are counted as one, as a single host may use them all', () => {
  const limit = new FailureLimit(new VirtualTime());
  for (let host = 1; host < 20; host++) assert.equal(limit.count(`2001:db8:0:1::${host.toString(16)}`), null);
  assert.equal(limit.count('2001:db8:0:1:ffff:ffff:ffff:ffff'), 60);
  assert.equal(limit.count('2001:db8:0:2::1'), null);
});

test('IPv4 addresses that reach an IPv6 socket are counted apart, and as themselves', () => {
  const limit = new FailureLimit(new VirtualTime());
  fail(limit, '::ffff:192.0.2.1', 19);
  assert.equal(limit.count('::ffff:192.0.2.2'), null);
  assert.equal(limit.count('192.0.2.1'), 60);
});

for (const [address, network] of [
  ['192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
] as const) {
  test(`${address || 'a connection that is gone'} is counted as ${network || 'itself'}`, () =>
    assert.equal(networkOf(address), network));
}

test('after a minute the count of an address begins again', async () => {
  const time = new VirtualTime();
  const limit = new FailureLimit(time);
  fail(limit, '192.0.2.1', 30);
  await time.advance(59_999);
  assert.equal(limit.count('192.0.2.1'), 1);
  await time.advance(1);
  assert.equal(fail(limit, '192.0.2.1', 19), null);
});

test('a flood from many addresses does not clear the record of a persistent one', () => {
  const limit = new FailureLimit(new VirtualTime());
  fail(limit, '192.0.2.1', 19);
  for (let address = 0; address < 20_000; address++) limit.count(`10.0.${address >> 8}.${address & 255}`);
  assert.equal(limit.count('192.0.2.1'), 60);
});

test('of too many addresses, one whose minute is over is dropped, otherwise one with the fewest failures, so that memory stays bounded', async () => {
  const time = new VirtualTime();
  const limit = new FailureLimit(time);
  fail(limit, 'over', 25);
  await time.advance(60_000);
  for (let address = 0; address < 1023; address++) fail(limit, `many-${address}`, 19);
  fail(limit, 'one more', 18);
  assert.equal(limit.count('many-0'), 60);
  fail(limit, 'another', 1);
  assert.equal(fail(limit, 'one more', 1), null);
  assert.equal(fail(limit, 'one more', 18), null);
});

test('an address at the limit is reported once in each minute', async () => {
  const time = new VirtualTime();
  const reached: string[] = [];
  const limit = new FailureLimit(time, (network) => reached.push(network));
  fail(limit, '192.0.2.1', 19);
  assert.deepEqual(reached, []);
  fail(limit, '192.0.2.1', 30);
  assert.deepEqual(reached, ['192.0.2.1']);
  await time.advance(60_000);
  fail(limit, '192.0.2.1', 20);
  assert.equal(reached.length, 2);
});
