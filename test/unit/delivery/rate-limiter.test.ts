// Requests in a sliding minute → how many may begin, when the next may, what a restart keeps.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { RateLimiter, RequestWindow } from '../../../src/delivery/rate-limiter.ts';
import { BridgeError } from '../../../src/errors.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const MINUTE = 60_000;

function fixture(perMinute: number | null | undefined) {
  const time = new VirtualTime();
  const store = new MemoryLaneStore(() => 0);
  const lines: { level: number; reason: string; msg: string }[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const setting = { perMinute };
  const start = () => new RequestWindow({ name: 'hooks', store, deps: time, logger });
  const requests = start();
  const limiter = new RateLimiter({ perMinute: () => setting.perMinute, requests, deps: time });
  return { limiter, requests, start, store, time, lines, setting };
}

test('requests that count no more do not bring the next one forward', async () => {
  const { limiter, time, setting } = fixture(3);
  limiter.begin();
  limiter.end();
  await time.advance(50_000);
  limiter.begin();
  limiter.end();
  await time.advance(20_000);
  setting.perMinute = 1;
  assert.equal(limiter.nextMs(), 50_250 + MINUTE);
});

test('a request counts from its beginning until 60 s after its end, rounded up to a quarter of a second', async () => {
  const { limiter, time } = fixture(2);
  assert.deepEqual([limiter.begin(), limiter.begin(), limiter.begin()], [true, true, false]);
  assert.deepEqual([limiter.free(), limiter.nextMs()], [0, null], 'a running request has to end first');
  await time.advance(2 * MINUTE + 100);
  assert.equal(limiter.free(), 0);
  limiter.end();
  assert.equal(limiter.nextMs(), 3 * MINUTE + 250);
  await time.advance(MINUTE + 149);
  assert.deepEqual([limiter.free(), limiter.begin()], [0, false]);
  await time.advance(1);
  assert.deepEqual([limiter.free(), limiter.nextMs()], [1, time.elapsedMs()]);
});

test('a request that ends at the end of a grain counts for a whole minute at least', async () => {
  const { limiter, time } = fixture(1);
  limiter.begin();
  await time.advance(250);
  limiter.end();
  assert.equal(limiter.nextMs(), 250 + 250 + MINUTE);
});

test('after a lower rate the next request waits until enough of the older ones count no more', async () => {
  const { limiter, time, setting } = fixture(4);
  for (let nth = 0; nth < 4; nth++) {
    limiter.begin();
    limiter.end();
    await time.advance(1000);
  }
  assert.equal(limiter.nextMs(), MINUTE + 250);
  setting.perMinute = 2;
  assert.deepEqual([limiter.free(), limiter.nextMs()], [0, MINUTE + 2250]);
});

test('without a rate everything may begin: it is counted if one may come, and not if none will', async () => {
  for (const [perMinute, used] of [
    [null, 1],
    [undefined, 0],
  ] as const) {
    const { limiter, requests, store, time } = fixture(perMinute);
    assert.deepEqual(
      [limiter.perMinute, limiter.free(), limiter.nextMs(), limiter.begin()],
      [null, Number.POSITIVE_INFINITY, null, true],
    );
    assert.equal(requests.used(), used);
    limiter.end();
    assert.deepEqual([requests.used(), limiter.nextMs()], [used, null]);
    await time.advance(2 * MINUTE);
    assert.equal(requests.used(), 0);
    assert.equal(store.kept.size, 0, 'nothing is stored');
  }
});

test('a restart counts what was running as ended now, and what had ended at its time', async () => {
  const { limiter, start, time } = fixture(10);
  limiter.begin();
  limiter.begin();
  await time.advance(1000);
  limiter.end();
  await time.advance(10_000);
  const again = start();
  assert.equal(again.used(), 2);
  assert.deepEqual([again.expiryMs(1), again.expiryMs(2), again.expiryMs(3)], [61_500, 71_250, null]);
});

test('a stored end that is ahead of a clock that was set back counts from now', async () => {
  const { limiter, start, time } = fixture(10);
  await time.advance(1000);
  limiter.begin();
  limiter.end();
  time.jumpWall(-3_600_000);
  assert.equal(start().expiryMs(1), null, 'nothing is read before it is asked');
  const again = start();
  assert.equal(again.used(), 1);
  assert.equal(again.expiryMs(1), 1250 + MINUTE);
});

test('a window that was not read yet is not written over', () => {
  const { requests, store } = fixture(10);
  store.saveRequests('hooks', '{"running":3,"ended":[]}');
  requests.begin();
  requests.save();
  assert.equal(store.requests('hooks'), '{"running":3,"ended":[]}');
  assert.equal(requests.used(), 4);
});

test('a store that cannot be written is reported once, and again after it could', () => {
  const { limiter, store, lines } = fixture(10);
  const full = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  store.faults.saveRequests = full;
  limiter.begin();
  limiter.end();
  delete store.faults.saveRequests;
  limiter.begin();
  store.faults.saveRequests = full;
  limiter.end();
  const line = 'requests could not be counted in the store: a restart may exceed the rate of this sink';
  assert.deepEqual(
    lines.map(({ level, reason, msg }) => [level, reason, msg]),
    Array(2).fill([40, 'the disk is full', line]),
  );
});

test('while the store cannot be read nothing begins, because the rate may be used up', () => {
  const { limiter, store } = fixture(10);
  const read = store.requests.bind(store);
  store.requests = () => {
    throw new BridgeError('BRIDGE_STORE_FAILED', 'locked');
  };
  assert.equal(limiter.begin(), false);
  assert.throws(() => limiter.free(), /locked/);
  store.requests = read;
  assert.deepEqual([limiter.begin(), limiter.free()], [true, 9]);
});
