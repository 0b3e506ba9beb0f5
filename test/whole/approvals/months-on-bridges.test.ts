// Random months on whole bridges in virtual time → the StartRequests of the oracle, with kills.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { historyOf } from '../../virtual/month-oracle.ts';
import { randomMonth } from '../../virtual/random-month.ts';
import { playOnBridge } from './bridge-month.ts';

const SEED = 20_261_124;
const MONTHS = 200;
/** A change is read at the next poll, and commands follow that. */
const LATE_MS = 25_000;

for (const [index, { month, restarts }] of fc.sample(randomMonth, { numRuns: MONTHS, seed: SEED }).entries()) {
  test(`month ${index} of the seed ${SEED}`, async (t) => {
    const history = historyOf(month);
    const posted = new Map(await playOnBridge(t, month, history, restarts));
    assert.deepEqual(
      [...posted.keys()].sort(),
      [...history.approved.keys()].sort(),
      JSON.stringify({ month, restarts }),
    );
    for (const [eventId, atMs] of history.approved) {
      const lateMs = (posted.get(eventId) ?? 0) - atMs;
      assert.ok(
        lateMs >= 0 && lateMs <= LATE_MS,
        `${eventId}: ${lateMs} ms late; ${JSON.stringify({ month, restarts })}`,
      );
    }
  });
}
