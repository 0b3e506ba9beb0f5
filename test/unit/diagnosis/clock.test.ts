// The Date of an answer and this machine's clock → whether the clock is off, and how far.
import assert from 'node:assert/strict';
import test from 'node:test';
import { clockFindings } from '../../../src/diagnosis/clock.ts';

const DATE = 'Sun, 22 Nov 2026 18:00:00 GMT';
const AT_MS = Date.parse(DATE);

test('a difference of a few seconds is not a fault', () => {
  for (const offMs of [-5000, -1000, 0, 1000, 5000]) assert.deepEqual(clockFindings(DATE, AT_MS + offMs), []);
});

test('a wrong clock is reported with the difference, its direction and a remedy', () => {
  assert.match(clockFindings(DATE, AT_MS + 90_000)[0]?.error ?? '', /clock is 90 s ahead of .*timedatectl/);
  assert.match(clockFindings(DATE, AT_MS - 7_200_000)[0]?.error ?? '', /clock is 7200 s behind /);
});

test('an answer without a valid date gives no finding', () => {
  assert.deepEqual(clockFindings(undefined, AT_MS), []);
  assert.deepEqual(clockFindings('yesterday', AT_MS), []);
});
