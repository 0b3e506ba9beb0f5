// Polls, and a store that fails or is locked → what is written, and what each beat reports.
import assert from 'node:assert/strict';
import test from 'node:test';
import { BridgeError } from '../../../../src/errors.ts';
import { Heartbeat } from '../../../../src/outbox/clock/heartbeat.ts';

const LOCKED = new BridgeError('BRIDGE_STORE_FAILED', 'locked', {
  cause: Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 }),
});
const BROKEN = new BridgeError('BRIDGE_STORE_FAILED', 'broken');

/** Beats at these times; the store answers with the error beside each. Returns the reports, and the times written. */
function beats(...steps: readonly (readonly [elapsedMs: number, error?: Error])[]) {
  let [elapsedMs, error]: readonly [number, Error?] = [0];
  const tried: number[] = [];
  const heartbeat = new Heartbeat({ elapsedMs: () => elapsedMs }, (lastGoodMs) => {
    tried.push(lastGoodMs);
    if (error !== undefined) throw error;
  });
  const reports = steps.map((step) => {
    [elapsedMs, error] = step;
    return heartbeat.beat({ wallMs: elapsedMs, elapsedMs });
  });
  return { reports, tried };
}

test('the first beat is written at once, and then one in 1.9 s', () => {
  assert.deepEqual(beats([0], [1899], [1900], [1901], [3800]), {
    reports: [true, true, true, true, true],
    tried: [0, 1900, 3800],
  });
});

test('a failure is reported at once and until a write succeeds, which is tried once a second', () => {
  assert.deepEqual(beats([0, BROKEN], [999], [1000, BROKEN], [2000], [3000], [3900]), {
    reports: [false, false, false, true, true, true],
    tried: [0, 1000, 2000, 3900],
  });
});

test('a locked store is tried at each beat, and is a failure after 5 s', () => {
  assert.deepEqual(beats([100, LOCKED], [101, LOCKED], [5099, LOCKED], [5100, LOCKED], [6099], [6100]), {
    reports: [true, true, true, false, false, true],
    tried: [100, 101, 5099, 5100, 6100],
  });
});

test('another lock has 5 s again', () => {
  assert.deepEqual(beats([0, LOCKED], [4000], [6000, LOCKED], [10_999, LOCKED], [11_000, LOCKED]).reports, [
    true,
    true,
    true,
    true,
    false,
  ]);
});

test('after a failure, a locked store is still reported as failed', () => {
  assert.deepEqual(beats([0, BROKEN], [1000, LOCKED], [1001]), {
    reports: [false, false, true],
    tried: [0, 1000, 1001],
  });
});
