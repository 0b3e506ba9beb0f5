// src/time/shared-timer.ts in virtual time: a limit passes when due, cancelled ones set no timer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedTimer } from '../../../src/time/shared-timer.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

/** `passed` tells which limits have passed, and when; `armed` counts timers. */
function start() {
  const time = new VirtualTime();
  const passed: (readonly [name: string, atMs: number])[] = [];
  const counted = { timers: 0 };
  const after: VirtualTime['after'] = (delayMs, run) => {
    counted.timers += 1;
    return time.after(delayMs, run);
  };
  const shared = new SharedTimer({ elapsedMs: time.elapsedMs, after });
  const limit = (name: string, delayMs: number) => shared.after(delayMs, () => passed.push([name, time.elapsedMs()]));
  return { time, shared, passed, counted, limit };
}

test('each limit expires once, to the millisecond, in any order of setting', async () => {
  const { time, passed, limit } = start();
  limit('long', 300);
  limit('short', 100);
  limit('between', 200);
  await time.advance(99);
  assert.deepEqual(passed, []);
  await time.advance(1000);
  assert.deepEqual(passed, [
    ['short', 100],
    ['between', 200],
    ['long', 300],
  ]);
  assert.equal(time.pending, 0);
});

test('a cancelled limit does not expire, even if a limit that is due at the same time cancels it', async () => {
  const { time, shared, passed, limit } = start();
  limit('cancelled', 100)();
  let cancelSecond = () => {};
  shared.after(200, () => cancelSecond());
  cancelSecond = limit('second', 200);
  limit('third', 200);
  await time.advance(1000);
  assert.deepEqual(passed, [['third', 200]]);
});

test('an expiring limit may set the next one', async () => {
  const { time, shared, passed, limit } = start();
  shared.after(100, () => limit('next', 50));
  await time.advance(1000);
  assert.deepEqual(passed, [['next', 150]]);
});

test('a thousand limits of 10 s, each cancelled before the next one, set a timer every 10 s', async () => {
  const { time, passed, counted, limit } = start();
  for (let n = 0; n < 1000; n++) {
    limit('never', 10_000)();
    await time.advance(1000);
  }
  assert.deepEqual(passed, []);
  assert.ok(counted.timers <= 100, `${counted.timers} timers`);
});

test('after disposal no timer is left, and it can be used again', async () => {
  const { time, shared, passed, limit } = start();
  limit('dropped', 100);
  shared[Symbol.dispose]();
  assert.equal(time.pending, 0);
  limit('again', 100);
  await time.advance(1000);
  assert.deepEqual(passed, [['again', 100]]);
});
