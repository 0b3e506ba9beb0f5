// Failures in a row → the wait before the next try.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from '../../../src/time/backoff.ts';

const whole = 1;

function ceilings(disposition: 'retry' | 'misconfigured', longEnded: boolean, count: number): number[] {
  return Array.from({ length: count }, (_, index) => backoffMs({ failures: index + 1, disposition, longEnded }, whole));
}

test('back-off doubles from 250 ms up to 10 s', () => {
  assert.deepEqual(ceilings('retry', false, 8), [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test('back-off for an event that ended long ago goes up to 5 min', () => {
  assert.deepEqual(ceilings('retry', true, 12).slice(6), [16_000, 32_000, 64_000, 128_000, 256_000, 300_000]);
});

test('slow retries start at 10 s', () => {
  assert.deepEqual(ceilings('misconfigured', false, 3), [10_000, 10_000, 10_000]);
  assert.deepEqual(ceilings('misconfigured', true, 6), [10_000, 20_000, 40_000, 80_000, 160_000, 300_000]);
});

test('jitter is full: from nothing to the ceiling, and a thousand failures overflow nothing', () => {
  assert.equal(backoffMs({ failures: 3, disposition: 'retry', longEnded: false }, 0), 0);
  assert.equal(backoffMs({ failures: 3, disposition: 'retry', longEnded: false }, 0.5), 500);
  assert.equal(backoffMs({ failures: 5_000, disposition: 'retry', longEnded: true }, whole), 300_000);
});
