// A drill, its journal and its votes → the report.
import assert from 'node:assert/strict';
import test from 'node:test';
import { drillReport } from '../../../src/drills/report.ts';
import type { JournalDelivery } from '../../../src/model/operators.ts';
import { DRILL } from '../../virtual/http-fixture.ts';

function sinksOf(...deliveries: readonly JournalDelivery[]) {
  const changes = [{ position: 1, atMs: 0, change: 'approval.submitted', deliveries }];
  const [change] = drillReport({ drill: DRILL, changes, votes: [], missingNow: [] }).changes;
  assert.equal(change?.change, 'approval.submitted');
  return change.sinks;
}

test('a sink that received a change again is listed once, with all attempts and its first acceptance', () => {
  const given = { seq: 1, sink: 'hooks', status: null };
  assert.deepEqual(
    sinksOf(
      { ...given, state: 'discarded', attempts: 3, atMs: 500 },
      { ...given, state: 'delivered', attempts: 1, atMs: 2000 },
    ),
    [{ name: 'hooks', state: 'delivered', acceptedAt: '1970-01-01T00:00:02.000Z', attempts: 4, status: null }],
  );
});

test('queued and dead deliveries do not count as accepted; the state and answer of the newest are shown', () => {
  for (const state of ['queued', 'dead'] as const)
    assert.deepEqual(
      sinksOf(
        { seq: 1, sink: 'hooks', status: 422, state: 'discarded', attempts: 1, atMs: 100 },
        { seq: 2, sink: 'hooks', status: 500, state, attempts: 2, atMs: 500 },
      ),
      [{ name: 'hooks', state, acceptedAt: null, attempts: 3, status: 500 }],
    );
});
