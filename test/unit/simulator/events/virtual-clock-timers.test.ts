// Simulated times → one call each, when the clock reaches them, however it moves.
import assert from 'node:assert/strict';
import test from 'node:test';
import { VirtualClock, VirtualTimers } from '../../../../src/simulator/events/virtual-clock.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const HOUR_MS = 3_600_000;

function fixture(speed: number) {
  const time = new VirtualTime();
  const clock = new VirtualClock(time, speed);
  const timers = new VirtualTimers(clock, time);
  const startMs = clock.nowMs();
  const rung: number[] = [];
  /** Sets a timer this long after the start, and notes when it runs. */
  const ringAfter = (ms: number) => timers.at(startMs + ms, () => rung.push(clock.nowMs() - startMs));
  return { time, clock, ringAfter, rung };
}

test('a timer runs when the simulated clock reaches its time, at any speed', async () => {
  const { time, ringAfter, rung } = fixture(60);
  ringAfter(60_000);
  await time.advance(999);
  assert.deepEqual(rung, []);
  await time.advance(1);
  assert.deepEqual([rung, time.pending], [[60_000], 0]);
});

test('a timer for a past time runs at once, within the call', () => {
  const { time, ringAfter, rung } = fixture(1);
  ringAfter(0);
  ringAfter(-1);
  assert.deepEqual([rung, time.pending], [[0, 0], 0]);
});

test('a change of speed adapts the remaining time, and no timer runs too early', async () => {
  const { time, clock, ringAfter, rung } = fixture(1);
  ringAfter(100_000);
  await time.advance(40_000);
  clock.setSpeed(7);
  await time.advance(8571);
  assert.deepEqual(rung, []);
  await time.advance(1);
  assert.deepEqual([rung.length, (rung[0] ?? 0) >= 100_000, time.pending], [1, true, 0]);
});

test('a clock that stands still sets no real timer, and the timer runs after the clock does', async () => {
  const { time, clock, ringAfter, rung } = fixture(1);
  ringAfter(10_000);
  await time.advance(4000);
  clock.setSpeed(0);
  assert.equal(time.pending, 0);
  await time.advance(HOUR_MS);
  assert.deepEqual(rung, []);
  clock.setSpeed(2);
  await time.advance(2999);
  assert.deepEqual(rung, []);
  await time.advance(1);
  assert.deepEqual(rung, [10_000]);
});

test('advancing the clock runs the timers that it passes, and only those', () => {
  const { time, clock, ringAfter, rung } = fixture(0);
  for (const ms of [1000, 2000, 3001]) ringAfter(ms);
  clock.advance(3000);
  assert.deepEqual([rung, time.pending], [[3000, 3000], 0]);
  clock.advance(1);
  assert.deepEqual(rung, [3000, 3000, 3001]);
});

test('a cancelled timer never runs, neither by time nor by an advance', async () => {
  const { time, clock, ringAfter, rung } = fixture(1);
  const cancel = ringAfter(1000);
  cancel();
  assert.equal(time.pending, 0);
  clock.setSpeed(10);
  clock.advance(5000);
  await time.advance(5000);
  cancel();
  assert.deepEqual([rung, time.pending], [[], 0]);
});

test('a timer can cancel another one that is due at the same time', () => {
  const time = new VirtualTime();
  const clock = new VirtualClock(time, 0);
  const timers = new VirtualTimers(clock, time);
  const rung: string[] = [];
  timers.at(clock.nowMs() + 1000, () => {
    rung.push('first');
    cancelSecond();
  });
  const cancelSecond = timers.at(clock.nowMs() + 1000, () => rung.push('second'));
  clock.advance(1000);
  assert.deepEqual(rung, ['first']);
});

test('a time beyond the longest real timer is waited for with several timers', async () => {
  const time = new VirtualTime();
  const clock = new VirtualClock(time, 1);
  const delays: number[] = [];
  const timers = new VirtualTimers(clock, {
    after: (delayMs, run) => {
      delays.push(delayMs);
      return time.after(delayMs, run);
    },
  });
  const rung: number[] = [];
  const startMs = clock.nowMs();
  const days = 60 * 24 * HOUR_MS;
  timers.at(startMs + days, () => rung.push(clock.nowMs() - startMs));
  await time.advance(days - 1);
  assert.deepEqual([rung, time.pending], [[], 1]);
  await time.advance(1);
  assert.deepEqual([rung, time.pending], [[days], 0]);
  // Node runs a timer of more than 2^31 - 1 ms immediately.
  assert.ok(delays.length > 1 && Math.max(...delays) < 2 ** 31);
});
