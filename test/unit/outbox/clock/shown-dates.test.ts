// src/outbox/clock/shown-dates.ts: which dates are past for a clock that was set to and fro.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ClockSetting, datesPast } from '../../../../src/outbox/clock/shown-dates.ts';
import { DAY, HOUR, MINUTE } from '../../../virtual/lane-fixture.ts';

const RETAIN = 30 * DAY;
const YEARS = 24 * 365 * DAY;

/** Whether what bears this date is past. */
function judged(settings: readonly ClockSetting[], nowMs: number): (dateMs: number) => boolean {
  const spans = datesPast(settings, nowMs, RETAIN);
  return (dateMs) => spans.some(([fromMs, toMs]) => fromMs <= dateMs && dateMs < toMs);
}

test('for a clock that was never set, what is older than so long is past, and nothing else but what lies ahead', () => {
  const isPast = judged([{ sinceMs: 0, offsetMs: 5 * DAY }], 100 * DAY);
  assert.deepEqual([0, 75 * DAY - 1, 75 * DAY, 105 * DAY, 105 * DAY + HOUR].map(isPast), [true, true, false, false, true]);
});

test('a clock that was set forward by years makes nothing past that was written before, until so long has passed', () => {
  const settings = [
    { sinceMs: 0, offsetMs: 0 },
    { sinceMs: 100 * DAY, offsetMs: YEARS },
  ];
  const soon = judged(settings, 101 * DAY);
  assert.deepEqual([70 * DAY, 71 * DAY, 100 * DAY, YEARS + 100 * DAY].map(soon), [true, false, false, false]);
  const later = judged(settings, 131 * DAY);
  assert.deepEqual([100 * DAY, YEARS + 100 * DAY, YEARS + 101 * DAY].map(later), [true, true, false]);
});

test('what a clock years ahead wrote is past once it was set back so long ago, and not before', () => {
  const settings = [
    { sinceMs: 0, offsetMs: YEARS },
    { sinceMs: DAY, offsetMs: 0 },
  ];
  assert.deepEqual([YEARS, YEARS + DAY, 2 * DAY].map(judged(settings, 20 * DAY)), [false, false, false]);
  assert.deepEqual([YEARS, YEARS + DAY, 12 * DAY].map(judged(settings, 40 * DAY)), [true, true, false]);
});

test('a machine that boots in 1970 each day keeps what it wrote by either clock for so long, and no longer', () => {
  const settings = Array.from({ length: 100 }, (_, day) => [
    { sinceMs: day * DAY, offsetMs: -day * DAY },
    { sinceMs: day * DAY + MINUTE, offsetMs: YEARS },
  ]).flat();
  const isPast = judged(settings, 100 * DAY);
  assert.deepEqual([YEARS + 69 * DAY, YEARS + 71 * DAY, YEARS + 100 * DAY, 30_000].map(isPast), [true, false, false, false]);
});

const clocks = fc.array(fc.record({ forMs: fc.nat(40 * DAY), offsetMs: fc.integer({ min: -YEARS, max: YEARS }) }), {
  minLength: 1,
  maxLength: 8,
});

test('for any settings nothing is past before its time, and what no later clock has shown is past after it', () => {
  fc.assert(
    fc.property(clocks, fc.array(fc.nat(1_000), { maxLength: 20 }), (lived, moments) => {
      let nowMs = 0;
      const settings: (ClockSetting & { untilMs: number })[] = [];
      for (const { forMs, offsetMs } of lived) {
        settings.push({ sinceMs: nowMs, offsetMs, untilMs: nowMs + forMs });
        nowMs += forMs;
      }
      const isPast = judged(settings, nowMs);
      for (const moment of moments) {
        const atMs = Math.floor((nowMs * moment) / 1_000);
        const dateMs = atMs + (settings.findLast(({ sinceMs }) => sinceMs <= atMs)?.offsetMs ?? 0);
        const isNear = settings
          .filter(({ untilMs }) => untilMs >= nowMs - RETAIN)
          .some(({ sinceMs, untilMs, offsetMs }) => {
            const fromMs = Math.max(sinceMs - HOUR, nowMs - RETAIN) + offsetMs;
            return dateMs >= fromMs - 7 * DAY && dateMs <= untilMs + offsetMs + 7 * DAY;
          });
        if (atMs >= nowMs - RETAIN) assert.ok(!isPast(dateMs), 'too early');
        else if (!isNear) assert.ok(isPast(dateMs), 'too late');
      }
    }),
  );
});
