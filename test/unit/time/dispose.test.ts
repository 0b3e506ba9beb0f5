// Parts that close late or never → when the wait for them ends.
import assert from 'node:assert/strict';
import test from 'node:test';
import { disposeInTime, LONGEST_CLOSE_MS } from '../../../src/time/dispose.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const never: AsyncDisposable = { [Symbol.asyncDispose]: () => new Promise(() => {}) };

/** When the wait was over, and why. */
async function waited(limitMs?: number): Promise<{ readonly atMs: number; readonly reasons: readonly string[] }> {
  const time = new VirtualTime();
  const reasons: string[] = [];
  let atMs = -1;
  void disposeInTime(never, time, (reason) => reasons.push(reason), limitMs).then(() => {
    atMs = time.elapsedMs();
  });
  await time.advance(60_000);
  return { atMs, reasons };
}

test('a part without a limit has 2 s, and one with a limit has that limit', async () => {
  assert.deepEqual(await waited(), { atMs: 2000, reasons: ['not closed after 2000 ms'] });
  assert.deepEqual(await waited(6000), { atMs: 6000, reasons: ['not closed after 6000 ms'] });
});

test('no part has more time than a stop can wait', async () => {
  assert.deepEqual(await waited(60_000 - 1), { atMs: LONGEST_CLOSE_MS, reasons: ['not closed after 8000 ms'] });
});
