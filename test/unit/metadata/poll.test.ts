// src/metadata/poll.ts in virtual time: one poll at a time, in schedule, refreshed and aborted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { createPoller, PollSchedule } from '../../../src/metadata/poll.ts';
import type { PollResult } from '../../../src/model/events.ts';
import { now, sleep } from '../../../src/time/clock.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

/** A poll that takes `tookMs()` and then fails or not; `starts` tells when each began. */
function start(options: { tookMs?: () => number; fails?: () => boolean; onResult?: () => void } = {}) {
  const time = new VirtualTime();
  const starts: number[] = [];
  const aborted: number[] = [];
  let running = 0;
  const poll = async (signal: AbortSignal): Promise<PollResult> => {
    assert.equal(running++, 0, 'polls overlap');
    starts.push(time.elapsedMs());
    const abort = () => aborted.push(time.elapsedMs());
    signal.addEventListener('abort', abort);
    try {
      await sleep(time, options.tookMs?.() ?? 100, signal);
    } finally {
      signal.removeEventListener('abort', abort);
      running -= 1;
    }
    const at = { at: now(time), durationMs: 0 };
    if (options.fails?.())
      return {
        kind: 'failure',
        ...at,
        error: new BridgeError('BRIDGE_METADATA_TIMEOUT', 'no answer'),
        result: 'timeout',
      };
    return {
      kind: 'document',
      ...at,
      document: { apiVersion: '2020-07-01', incarnation: 1, events: [], statusless: [], complete: true },
    };
  };
  const schedule = new PollSchedule({ intervalMs: 1000, random: () => 0 });
  const poller = createPoller({ poll, schedule, deps: time });
  const results: PollResult[] = [];
  const errors: unknown[] = [];
  const subscribe = () =>
    poller.results$.subscribe({
      next: (result) => {
        results.push(result);
        options.onResult?.();
      },
      error: (error) => errors.push(error),
    });
  return { time, poller, starts, aborted, results, errors, subscribe };
}

test('polling starts with the first subscriber, at once and then once an interval', async () => {
  const { time, starts, results, subscribe } = start();
  await time.advance(5000);
  assert.deepEqual(starts, []);
  const subscription = subscribe();
  await time.advance(3500);
  assert.deepEqual(starts, [5000, 6000, 7000, 8000]);
  assert.equal(results.length, 4);
  subscription.unsubscribe();
});

test('a slow poll is never overlapped, and the next one starts right after it', async () => {
  const { time, starts, subscribe } = start({ tookMs: () => 2500 });
  const subscription = subscribe();
  await time.advance(6000);
  assert.deepEqual(starts, [0, 2500, 5000]);
  subscription.unsubscribe();
});

test('failures follow the back-off, counted from the end of each', async () => {
  const { time, starts, subscribe } = start({ fails: () => true });
  const subscription = subscribe();
  await time.advance(10_000);
  assert.deepEqual(starts, [0, 1100, 3200, 7300, 8300, 9300]);
  subscription.unsubscribe();
});

test('a jump of the wall clock does not move polls', async () => {
  const { time, starts, subscribe } = start();
  const subscription = subscribe();
  await time.advance(1500);
  time.jumpWall(-3_600_000);
  await time.advance(1000);
  time.jumpWall(7_200_000);
  await time.advance(1000);
  assert.deepEqual(starts, [0, 1000, 2000, 3000]);
  subscription.unsubscribe();
});

test('refresh between polls starts one at once, and the schedule continues from there', async () => {
  const { time, poller, starts, subscribe } = start();
  const subscription = subscribe();
  await time.advance(400);
  poller.refresh();
  await time.advance(1500);
  assert.deepEqual(starts, [0, 400, 1400]);
  subscription.unsubscribe();
});

test('refresh during a poll starts exactly one more right after it, however often it is called', async () => {
  const { time, poller, starts, subscribe } = start();
  const subscription = subscribe();
  await time.advance(50);
  for (let n = 0; n < 3; n++) poller.refresh();
  await time.advance(1500);
  assert.deepEqual(starts, [0, 100, 1100]);
  subscription.unsubscribe();
});

test('refresh during a back-off waits for the next poll', async () => {
  let fails = true;
  const { time, poller, starts, subscribe } = start({ fails: () => fails });
  const subscription = subscribe();
  await time.advance(500);
  poller.refresh();
  fails = false;
  await time.advance(2500);
  assert.deepEqual(starts, [0, 1100, 2100]);
  subscription.unsubscribe();
});

test('refresh during a failing poll does not skip the back-off', async () => {
  const { time, poller, starts, subscribe } = start({ fails: () => true });
  const subscription = subscribe();
  await time.advance(50);
  poller.refresh();
  await time.advance(3500);
  assert.deepEqual(starts, [0, 1100, 3200]);
  subscription.unsubscribe();
});

test('refresh by the subscriber itself, while it handles a result, starts the next poll at once', async () => {
  let times = 0;
  const part = start({ onResult: () => times++ === 0 && part.poller.refresh() });
  const subscription = part.subscribe();
  await part.time.advance(150);
  assert.deepEqual(part.starts, [0, 100]);
  subscription.unsubscribe();
});

test('unsubscribing aborts the running poll and ends everything; no timer is left', async () => {
  const { time, starts, aborted, results, errors, subscribe } = start();
  const subscription = subscribe();
  await time.advance(1050);
  subscription.unsubscribe();
  await time.advance(10_000);
  assert.deepEqual(starts, [0, 1000]);
  assert.deepEqual(aborted, [1050]);
  assert.equal(results.length, 1);
  assert.deepEqual(errors, []);
  assert.equal(time.pending, 0);
});

test('unsubscribing between polls leaves no timer either', async () => {
  const { time, subscribe } = start();
  const subscription = subscribe();
  await time.advance(500);
  subscription.unsubscribe();
  assert.equal(time.pending, 0);
});

test('two subscribers share one poll', async () => {
  const { time, starts, results, subscribe } = start();
  const subscriptions = [subscribe(), subscribe()];
  await time.advance(1500);
  assert.deepEqual(starts, [0, 1000]);
  assert.equal(results.length, 4);
  for (const subscription of subscriptions) subscription.unsubscribe();
});

test('an hour of polls does not accumulate memory', async () => {
  const { time, starts, subscribe } = start({ tookMs: () => 10 });
  const subscription = subscribe();
  await time.advance(3_600_000);
  assert.equal(starts.length, 3601);
  assert.ok(time.pending <= 1);
  subscription.unsubscribe();
});

test('a shorter interval applies to the pending poll, counted from the start of the last one', async () => {
  const { time, poller, starts, subscribe } = start();
  const subscription = subscribe();
  await time.advance(300);
  poller.startWithin(200);
  await time.advance(100);
  assert.deepEqual(starts, [0, 300], 'the interval has passed already');
  subscription.unsubscribe();
  const other = start();
  const waiting = other.subscribe();
  await other.time.advance(300);
  other.poller.startWithin(500);
  await other.time.advance(300);
  assert.deepEqual(other.starts, [0, 500]);
  waiting.unsubscribe();
  assert.equal(other.time.pending, 0);
});

test('a longer interval, or a change during a poll, neither delays nor starts a poll', async () => {
  const { time, poller, starts, subscribe } = start();
  const subscription = subscribe();
  await time.advance(50);
  poller.startWithin(10);
  await time.advance(250);
  poller.startWithin(5000);
  await time.advance(900);
  assert.deepEqual(starts, [0, 1000]);
  subscription.unsubscribe();
});
