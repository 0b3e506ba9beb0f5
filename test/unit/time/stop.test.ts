// Parts that close, late or never → how long a stop waits, and what it says of those that are left.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { closeParts, DELIVERIES_MS, STOP_LIMIT_MS } from '../../../src/time/stop.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

function setUp() {
  const time = new VirtualTime();
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { base: null, timestamp: false },
    { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[0]) },
  );
  return { time, logger, lines };
}

const never = () => new Promise<never>(() => {});

test('parts close in parallel, and no timer is left', async () => {
  const { time, logger, lines } = setUp();
  const after = (ms: number) => new Promise<void>((resolve) => time.after(ms, resolve));
  let isClosed = false;
  const closed = closeParts(
    { http: () => after(5000), sinks: () => after(9000), approvals: () => undefined },
    time,
    logger,
  );
  void closed.then(() => {
    isClosed = true;
  });
  await time.advance(8999);
  assert.equal(isClosed, false);
  await time.advance(1);
  assert.deepEqual([isClosed, lines, time.pending], [true, [], 0]);
});

test('a part that never closes is logged and abandoned before the limit of a stop', async () => {
  const { time, logger, lines } = setUp();
  const closed = closeParts({ http: async () => {}, sinks: never, approvals: never }, time, logger);
  await time.advance(STOP_LIMIT_MS - 1);
  await closed;
  assert.deepEqual(
    lines.map(({ left }) => left),
    [['sinks', 'approvals']],
  );
});

test('a part that fails to close is logged with the reason, and the stop waits for the others', async () => {
  const { time, logger, lines } = setUp();
  const fail = () => {
    throw new Error('no such handle');
  };
  await closeParts(
    { http: fail, sinks: () => Promise.reject(new Error('broken')), approvals: async () => {} },
    time,
    logger,
  );
  assert.deepEqual(
    lines.map(({ part, reason }) => [part, reason]),
    [
      ['http', 'no such handle'],
      ['sinks', 'broken'],
    ],
  );
});

test('running deliveries have their time, and a sink that closes in 2 s is closed within 10 s', () => {
  assert.equal(STOP_LIMIT_MS, 16_000);
  assert.ok(DELIVERIES_MS + 2000 < 10_000);
});
