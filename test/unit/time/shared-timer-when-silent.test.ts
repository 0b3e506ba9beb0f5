// src/time/when-silent.ts in virtual time: a value for each silence, one timer however much comes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subject } from 'rxjs';
import { whenSilent } from '../../../src/time/shared-timer.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

function start(limitMs: () => number = () => 60_000) {
  const time = new VirtualTime();
  const source$ = new Subject<string>();
  const told: number[] = [];
  const subscription = source$.pipe(whenSilent(limitMs, time)).subscribe(() => told.push(time.elapsedMs()));
  return { time, source$, told, subscription };
}

test('a stream without values is reported once, after the limit', async () => {
  const { time, told } = start();
  await time.advance(59_999);
  assert.deepEqual(told, []);
  await time.advance(500_000);
  assert.deepEqual(told, [60_000]);
  assert.equal(time.pending, 0);
});

test('the limit counts from the last value, to the millisecond', async () => {
  const { time, source$, told } = start();
  for (const waitMs of [10_000, 59_999, 1, 30_000]) {
    await time.advance(waitMs);
    source$.next('here');
  }
  await time.advance(200_000);
  assert.deepEqual(told, [160_000]);
});

test('a value after a silence begins the next one', async () => {
  const { time, source$, told } = start();
  await time.advance(70_000);
  source$.next('back');
  await time.advance(70_000);
  assert.deepEqual(told, [60_000, 130_000]);
});

test('a shorter limit applies from the next value on', async () => {
  let limitMs = 300_000;
  const { time, source$, told } = start(() => limitMs);
  await time.advance(5000);
  limitMs = 60_000;
  source$.next('awake');
  await time.advance(60_000);
  assert.deepEqual(told, [65_000]);
});

test('values create no timers: there is one, and none without a subscriber', async () => {
  const { time, source$, told, subscription } = start();
  let armed = 0;
  const { after } = time;
  Object.assign(time, {
    after: (delayMs: number, run: () => void) => {
      armed += 1;
      return after(delayMs, run);
    },
  });
  for (let n = 0; n < 3600; n++) {
    await time.advance(1000);
    source$.next('here');
  }
  assert.deepEqual(told, []);
  assert.ok(armed <= 61, `${armed} timers`);
  assert.equal(time.pending, 1);
  subscription.unsubscribe();
  assert.equal(time.pending, 0);
});
