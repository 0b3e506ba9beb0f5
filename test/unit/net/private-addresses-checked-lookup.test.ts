// Names with good and bad addresses → what a connection is given, or the guard's error.
import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import test from 'node:test';
import { type AddressGuard, checkedLookup, checkLiteral, type Resolve } from '../../../src/net/private-addresses.ts';

const BAD: LookupAddress = { address: '169.254.169.254', family: 4 };
const GOOD: LookupAddress = { address: '192.0.2.1', family: 4 };
const GOOD_6: LookupAddress = { address: '2001:db8::1', family: 6 };

const GUARD: AddressGuard = {
  isAllowed: (address) => address !== BAD.address,
  forbidden: (address, hostname) => new Error(`${hostname} is ${address}`),
};

/** What the lookup hands on, or its error. */
function lookUp(found: readonly LookupAddress[], all: boolean): unknown {
  const asked: unknown[] = [];
  const resolve: Resolve = (hostname, options, done) => {
    asked.push([hostname, options.all]);
    done(null, [...found]);
  };
  let result: unknown;
  checkedLookup(GUARD, resolve)('example.test', { all }, (error, address, family) => {
    result = error ? error.message : family === undefined ? address : { address, family };
  });
  assert.deepEqual(asked, [['example.test', true]], 'every address is judged, however many are wanted');
  return result;
}

test('only allowed addresses are passed on, one or all as the connection requests', () => {
  assert.deepEqual(lookUp([BAD, GOOD, GOOD_6], true), [GOOD, GOOD_6]);
  assert.deepEqual(lookUp([BAD, GOOD, GOOD_6], false), GOOD);
});

test("if no address is allowed, the lookup fails with the guard's error", () => {
  for (const all of [true, false]) {
    assert.equal(lookUp([BAD], all), 'example.test is 169.254.169.254');
    assert.equal(lookUp([], all), 'example.test is no address');
  }
});

test('a name that does not resolve fails with the error of the system', () => {
  const failure = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  const resolve: Resolve = (_, __, done) => done(failure, []);
  let told: unknown;
  checkedLookup(GUARD, resolve)('example.test', {}, (error) => {
    told = error;
  });
  assert.equal(told, failure);
});

test('a host that is an address is checked without a lookup; a name is left to the lookup', () => {
  assert.throws(() => checkLiteral(GUARD, BAD.address), /169\.254\.169\.254 is 169\.254\.169\.254/);
  for (const host of [GOOD.address, GOOD_6.address, 'example.test']) checkLiteral(GUARD, host);
});
