// src/metadata/poll.ts: the status table (behaviour 4.7), as waits.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { PollSchedule } from '../../../src/metadata/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

function status(code: number, retryAfterMs?: number): BridgeError {
  return new BridgeError('BRIDGE_METADATA_STATUS', `answered ${code}`, {
    status: code,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const timeout = new BridgeError('BRIDGE_METADATA_TIMEOUT', 'no answer');
const reset = new BridgeError('BRIDGE_METADATA_UNREACHABLE', 'cut', { status: 'ECONNRESET' });
const invalid = new BridgeError('BRIDGE_METADATA_INVALID', 'no document');

/** Chance that shortens nothing. */
function plain(intervalMs = 1000): PollSchedule {
  return new PollSchedule({ intervalMs, random: () => 0 });
}

function waits(schedule: PollSchedule, error: Error | null, times: number, tookMs = 0): number[] {
  return Array.from({ length: times }, () => schedule.next(error, tookMs));
}

describe('after a good document', () => {
  test('the next poll starts one interval after the last one started', () => {
    assert.deepEqual([plain().next(null, 0), plain().next(null, 300)], [1000, 700]);
  });
  test('or at once if it took longer', () => assert.equal(plain().next(null, 1001), 0));
});

describe('back-off', () => {
  for (const [what, error] of [
    ['404', status(404)],
    ['500', status(500)],
    ['503', status(503)],
    ['408', status(408)],
    ['302', status(302)],
    ['304', status(304)],
    ['204', status(204)],
    ['418', status(418)],
    ['a time-out', timeout],
    ['a reset', reset],
    ['a 200 that is no document', invalid],
    ['an error of any other kind', new Error('?')],
  ] as const) {
    test(`${what}: 1, 2, 4 s, then the normal schedule until a good document`, () => {
      const schedule = plain();
      assert.deepEqual(waits(schedule, error, 6, 100), [1000, 2000, 4000, 900, 900, 900]);
      schedule.next(null, 0);
      assert.deepEqual(waits(schedule, error, 1), [1000]);
    });
  }

  test('each wait is shortened at random by up to a half', () => {
    const { random } = new VirtualTime({ seed: 7 });
    const seen = new Set<number>();
    for (let n = 0; n < 200; n++) {
      const [first = 0, second = 0, third = 0] = waits(new PollSchedule({ intervalMs: 1000, random }), status(500), 3);
      assert.ok(first > 500 && first <= 1000 && second > 1000 && second <= 2000 && third > 2000 && third <= 4000);
      seen.add(first);
    }
    assert.ok(seen.size > 100);
  });

  test('different failures count together', () => {
    const schedule = plain();
    assert.deepEqual(
      [status(500), timeout, invalid, status(404)].map((error) => schedule.next(error, 0)),
      [1000, 2000, 4000, 1000],
    );
  });
});

describe('410', () => {
  test('every 10 s up to 70 s, then the normal schedule until a good document', () => {
    const schedule = plain();
    assert.deepEqual(waits(schedule, status(410), 9), [...Array(7).fill(10_000), 1000, 1000]);
    schedule.next(null, 0);
    assert.equal(schedule.next(status(410), 400), 9600);
  });
});

test('after a request that took more than 10 s, the next slow one follows at once', () => {
  for (const code of [400, 401, 403, 405, 410]) assert.equal(plain().next(status(code), 10_001), 0, String(code));
});

describe('429', () => {
  test('obeys Retry-After, but at most 10 s', () => {
    const schedule = plain();
    assert.deepEqual(
      [3000, 10_000, 3_600_000].map((ms) => schedule.next(status(429, ms), 0)),
      [3000, 10_000, 10_000],
    );
  });

  test('a Retry-After of 0 does not make it poll faster than usual', () =>
    assert.equal(plain().next(status(429, 0), 0), 1000));

  test('without one: 1, 2, 4, 8, 10 s until a 200', () => {
    const schedule = plain();
    assert.deepEqual(waits(schedule, status(429), 7), [1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
    schedule.next(status(500), 0);
    assert.equal(schedule.next(status(429), 0), 10_000);
    schedule.next(null, 0);
    assert.equal(schedule.next(status(429), 0), 1000);
  });

  test('it never waits longer than 10 s, for any interval', () =>
    assert.deepEqual(waits(plain(30_000), status(429), 2), [10_000, 10_000]));
});

describe('400, 401, 403, 405', () => {
  for (const code of [400, 401, 403, 405]) {
    test(`${code}: every 10 s, without end`, () =>
      assert.deepEqual(waits(plain(), status(code), 10, 200), Array(10).fill(9800)));
  }
});
