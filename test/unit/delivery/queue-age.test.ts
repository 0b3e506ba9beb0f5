// src/delivery/queue-age.ts: how old deliveries are when the clock is set while they wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueueAge } from '../../../src/delivery/queue-age.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../virtual/lane-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const YEARS = 6 * 365 * DAY;

function aging() {
  const time = new VirtualTime();
  const age = new QueueAge(time, DAY);
  const oldestMs = () => age.oldestMs({ wallMs: time.wallMs(), elapsedMs: time.elapsedMs() });
  return { time, isOld: (queuedAtMs: number) => queuedAtMs <= oldestMs() };
}

test('a delivery is too old a day after it was queued', async () => {
  const { time, isOld } = aging();
  const queuedAtMs = time.wallMs();
  await time.advance(DAY - 1);
  assert.equal(isOld(queuedAtMs), false);
  await time.advance(1);
  assert.equal(isOld(queuedAtMs), true);
});

test('years that the clock was set forward by make nothing older, neither then nor later; a day does', async () => {
  const { time, isOld } = aging();
  const before = time.wallMs();
  await time.advance(HOUR);
  time.jumpWall(YEARS);
  const after = time.wallMs();
  assert.deepEqual([isOld(before), isOld(after)], [false, false]);
  await time.advance(DAY - HOUR - 1);
  assert.deepEqual([isOld(before), isOld(after)], [false, false]);
  await time.advance(1);
  assert.deepEqual([isOld(before), isOld(after)], [true, false]);
  await time.advance(HOUR);
  assert.deepEqual([isOld(before), isOld(after)], [true, true]);
});

test('set forward in several steps, each of them counts for what was queued before it', async () => {
  const { time, isOld } = aging();
  const queued = [time.wallMs()];
  for (const step of [YEARS, 2 * DAY, 5 * DAY]) {
    await time.advance(MINUTE);
    time.jumpWall(step);
    queued.push(time.wallMs());
    assert.deepEqual(
      queued.map(isOld),
      queued.map(() => false),
    );
  }
  await time.advance(DAY - 3 * MINUTE);
  assert.deepEqual(queued.map(isOld), [true, false, false, false]);
  await time.advance(3 * MINUTE);
  assert.deepEqual(queued.map(isOld), [true, true, true, true]);
});

test('a clock set back makes nothing older, and what was queued before it waits for the clock', async () => {
  const { time, isOld } = aging();
  const queuedAtMs = time.wallMs();
  time.jumpWall(-HOUR);
  await time.advance(DAY);
  assert.equal(isOld(queuedAtMs), false);
  await time.advance(HOUR);
  assert.equal(isOld(queuedAtMs), true);
});

test('what an earlier process queued with a right clock is as old as it is, once NTP has set it right again', async () => {
  const right = Date.UTC(2026, 0, 1);
  const time = new VirtualTime({ startMs: 0 });
  const age = new QueueAge(time, DAY);
  const isOld = (queuedAtMs: number) => queuedAtMs <= age.oldestMs({ wallMs: time.wallMs(), elapsedMs: time.elapsedMs() });
  assert.equal(isOld(right - 2 * DAY), false);
  await time.advance(30 * SECOND);
  time.jumpWall(right - time.wallMs());
  assert.equal(isOld(right - 2 * DAY), false, 'it may have been queued while the clock was wrong');
  await time.advance(DAY);
  assert.equal(isOld(right - 2 * DAY), true);
});
