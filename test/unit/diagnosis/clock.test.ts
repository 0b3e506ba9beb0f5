// The Date of an answer and this machine's clock → whether the clock is off, and how far.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ClockOffset, clockFindings } from '../../../src/diagnosis/clock.ts';

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

function offsetOf(...offsetsMs: readonly number[]): ClockOffset {
  const offset = new ClockOffset();
  for (const offMs of offsetsMs) offset.read(DATE, AT_MS + 500 - offMs);
  return offset;
}

test('the offset is the median of the last ten answers that have a date, positive if this machine is behind', () => {
  assert.deepEqual([offsetOf().seconds, offsetOf().fault], [null, null]);
  assert.equal(offsetOf(86_400_000).seconds, 86_400);
  assert.equal(offsetOf(-3000, 1000, 2000, 60_000).seconds, 1.5);
  const jumped = offsetOf(...Array<number>(20).fill(0), ...Array<number>(5).fill(10_000));
  assert.equal(jumped.seconds, 5);
  jumped.read(undefined, AT_MS);
  jumped.read('yesterday', AT_MS);
  assert.equal(jumped.seconds, 5, 'an answer without a valid date does not count');
  jumped.read(DATE, AT_MS - 9500);
  assert.equal(jumped.seconds, 10);
});

test('more than 5 s is a fault with its direction', () => {
  for (const [offMs, expected] of [
    [5000, null],
    [5100, /5 s behind/],
    [-5000, null],
    [-90_000, /90 s ahead of/],
  ] as const) {
    const { fault } = offsetOf(offMs);
    if (expected === null) assert.equal(fault, null, String(offMs));
    else assert.match(fault ?? '', expected);
  }
});
