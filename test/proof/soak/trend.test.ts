// Series with known answers → slope, interval and correction as SciPy and pymannkendall give them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { trendOf } from './trend.ts';

const series = (...values: readonly number[]) => values.map((y, x) => ({ x, y }));
const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}, not ${expected}`);

test('slope and interval are those of scipy.stats.theilslopes 1.17', () => {
  const { slope, low, high, correction } = trendOf(series(1, 3, 2, 5, 4, 6, 8, 7, 9, 12));
  for (const [actual, expected] of [
    [slope, 1],
    [low, 0.75],
    [high, 10 / 7],
    [correction, 1],
  ] as const)
    near(actual, expected);
});

test('equal samples count as ties, as in scipy.stats.theilslopes', () => {
  const { slope, low, high } = trendOf(series(5, 5, 6, 5, 7, 7, 6, 8, 8, 8, 9, 7));
  near(slope, 1 / 3);
  near(low, 1 / 6);
  near(high, 1 / 2);
});

test('samples that depend on each other widen the interval by the factor of pymannkendall', () => {
  const dependent = [
    ...[1, 16, 0, 12, 39, 45, 85, 44, 39, 13, -10, -11, 1, 17, 32, 97, 107, 42, 44, 21],
    ...[6, 49, 38, -23, -3, -6, -34, -48, -51, -35, -34, -18, 48, 22, 1, 1, 42, 20, 68, 23],
  ];
  const { slope, low, high, correction } = trendOf(series(...dependent));
  near(slope, -0.5);
  near(correction, 2.80190088132755);
  // Without the correction, the interval is that of SciPy: from -23/15 to 0.4.
  assert.ok(low < -23 / 15 && high > 0.4, `${low} to ${high}`);
});

test('a constant has the slope 0, without width', () => {
  assert.deepEqual(trendOf(series(7, 7, 7, 7, 7)), { slope: 0, low: 0, high: 0, correction: 1 });
});

test('one wild sample does not move the slope of a line', () => {
  const { slope, low, high } = trendOf(series(0, 2, 4, 6, 900, 10, 12, 14, 16, 18, 20, 22));
  near(slope, 2);
  assert.ok(low <= 2 && high >= 2 && high < 100);
});

test('fewer than 4 samples have no trend', () => {
  assert.throws(() => trendOf(series(1, 2, 3)), /at least 4/);
});
