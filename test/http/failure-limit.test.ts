import assert from 'node:assert/strict';
import test from 'node:test';
import { FailureLimit } from '../../src/http/failure-limit.ts';
import { VirtualTime } from '../support/virtual-time.ts';

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

test('after a minute an address begins anew', async () => {
  const time = new VirtualTime();
  const limit = new FailureLimit(time);
  fail(limit, '192.0.2.1', 30);
  await time.advance(59_999);
  assert.equal(limit.count('192.0.2.1'), 1);
  await time.advance(1);
  assert.equal(fail(limit, '192.0.2.1', 19), null);
});

test('of too many addresses the oldest is forgotten, so that memory stays bounded', () => {
  const limit = new FailureLimit(new VirtualTime());
  fail(limit, 'first', 19);
  for (let address = 0; address < 1024; address++) limit.count(`other-${address}`);
  assert.equal(limit.count('first'), null);
});
