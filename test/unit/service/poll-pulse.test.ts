// src/service/poll-pulse.ts: silence of the poll loop, and the waits that are none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollPulse } from '../../../src/service/poll-pulse.ts';

const LIMITS = { timeoutMs: 10_000, firstTimeoutMs: 130_000, pollIntervalMs: 1000 };
const SILENCE_MS = 5000;

/** `aliveAfter` tells whether it counts as alive so long after what was done last. */
function start(limits = LIMITS) {
  let nowMs = 0;
  const pulse = new PollPulse({ elapsedMs: () => nowMs, limits });
  const aliveAfter = (ms: number) => {
    nowMs += ms;
    const isAlive = pulse.isAlive(SILENCE_MS);
    nowMs -= ms;
    return isAlive;
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { pulse, aliveAfter, pass };
}

test('a loop that begins no poll after a document is not alive after the given time', () => {
  const { pulse, aliveAfter } = start();
  pulse.begins();
  pulse.ended(true);
  assert.deepEqual([aliveAfter(SILENCE_MS), aliveAfter(SILENCE_MS + 1)], [true, false]);
});

test('each request of a poll may take as long as its time limit', () => {
  const { pulse, aliveAfter, pass } = start();
  pulse.begins();
  assert.deepEqual([aliveAfter(130_000), aliveAfter(130_001)], [true, false]);
  pass(100_000);
  pulse.asks();
  assert.deepEqual([aliveAfter(130_000), aliveAfter(130_001)], [true, false]);
});

test('after a failure the next poll may be 10 s away', () => {
  const { pulse, aliveAfter } = start();
  pulse.begins();
  pulse.ended(false);
  assert.deepEqual([aliveAfter(10_000), aliveAfter(10_001)], [true, false]);
});

test('a poll interval longer than the given time is allowed', () => {
  const { pulse, aliveAfter } = start({ ...LIMITS, pollIntervalMs: 30_000 });
  pulse.begins();
  pulse.ended(true);
  assert.deepEqual([aliveAfter(30_000), aliveAfter(30_001)], [true, false]);
});

test('requests outside a poll do not hide that the loop hangs', () => {
  const { pulse, aliveAfter, pass } = start();
  pulse.begins();
  pulse.ended(true);
  pass(SILENCE_MS + 1);
  pulse.asks();
  assert.equal(aliveAfter(0), false);
});

test('after a reload the wait for the next poll may be as long as the new interval', () => {
  const { pulse, aliveAfter } = start({ timeoutMs: 1000, firstTimeoutMs: 1000, pollIntervalMs: 1000 });
  pulse.begins();
  pulse.ended(true);
  pulse.follow({ timeoutMs: 1000, firstTimeoutMs: 1000, pollIntervalMs: 30_000 });
  assert.deepEqual([aliveAfter(30_000), aliveAfter(30_001)], [true, false]);
  pulse.begins();
  pulse.ended(true);
  assert.equal(aliveAfter(30_000), true);
});
