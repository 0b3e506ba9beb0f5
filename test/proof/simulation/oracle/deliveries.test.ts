// Receipts around kills and full disks → which repeats the oracle of deliveries finds.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Settings } from '../history.ts';
import type { Observation } from '../observation.ts';
import { judgeDeliveries } from './deliveries.ts';

const ID = 'source-blind:1';
const settings: Settings = {
  metadata: { pollInterval: '1s', timeout: '10s', settle: '30s' },
  publish: { resources: 'all' },
  approvals: { approvers: {}, required: 'any', policy: [], group: { submit: 'every' }, dryRun: false },
  sinks: { audit: { inFlight: 1, batch: 1, label: 'a' } },
};

/** Accepted at 100 s; a commit fails before; killed, and sent again after that. */
function findingsOf(failedMs: number, killedMs: number): readonly string[] {
  const text = JSON.stringify({
    ...{ specversion: '1.0', id: ID, type: 'io.github.scheduled-events-bridge.source.blind.v1' },
    ...{ time: '2026-01-01T00:00:00Z', partitionkey: 'web_0', data: {} },
  });
  const arrival = { kind: 'arrival', sink: 'audit', id: ID, partitionKey: 'web_0', text };
  const seen = [
    { atMs: 0, kind: 'begun', run: 1, settings },
    { atMs: 90_000, ...arrival },
    { atMs: failedMs, kind: 'commit-failed' },
    { atMs: 100_000, kind: 'receipt', sink: 'audit', ids: [ID] },
    { atMs: killedMs, kind: 'gone', how: 'kill' },
    { atMs: killedMs + 1000, kind: 'begun', run: 2, settings },
    { atMs: killedMs + 1000, ...arrival },
  ];
  const found: string[] = [];
  judgeDeliveries(
    seen.map((each) => ({ wallMs: Date.UTC(2026, 0) + each.atMs, machine: 0, ...each }) as Observation),
    settings,
    (fault) => found.push(fault),
  );
  return found;
}

test('a receipt is stored within 3 s, so what a later kill repeats is found', () => {
  assert.deepEqual(findingsOf(50_000, 103_000), []);
  assert.deepEqual(findingsOf(50_000, 103_001), ['twice']);
});

test('after a commit that failed, a receipt may wait 10 s for its own', () => {
  assert.deepEqual(findingsOf(99_000, 109_000), []);
  assert.deepEqual(findingsOf(99_000, 109_001), ['twice']);
});
