// Receipts, kills, full disks, refusals, reloads → what the oracle of deliveries demands and finds.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Settings } from '../history.ts';
import type { Observation } from '../observation.ts';
import { judgeDeliveries } from './deliveries.ts';

const ID = 'source-blind:1';
const TWICE = `twice: audit: ${ID} was sent again though its receipt was stored`;
const settings: Settings = {
  metadata: { pollInterval: '1s', timeout: '10s', settle: '30s' },
  publish: { resources: 'all' },
  approvals: { approvers: {}, required: 'any', policy: [], group: { submit: 'every' }, dryRun: false },
  sinks: {
    audit: { inFlight: 1, batch: 1, label: 'a' },
    topic: { inFlight: 1, batch: 1, label: 'a', filter: { impacts: ['Freeze'] } },
  },
};

function judged(...seen: readonly object[]): readonly string[] {
  const found: string[] = [];
  const all = seen.map((each) => ({ ...each, machine: 0 }) as Observation);
  judgeDeliveries(
    all.map((each) => ({ ...each, wallMs: Date.UTC(2026, 0) + each.atMs })),
    settings,
    (fault, _atMs, what) => found.push(`${fault}: ${what}`),
  );
  return found;
}

/** Accepted at 100 s; a commit fails before; killed, and sent again after that. */
function repeats(failedMs: number, killedMs: number): readonly string[] {
  const text = JSON.stringify({
    ...{ specversion: '1.0', id: ID, type: 'io.github.scheduled-events-bridge.source.blind.v1' },
    ...{ time: '2026-01-01T00:00:00Z', partitionkey: 'web_0', data: {} },
  });
  const arrival = { kind: 'arrival', sink: 'audit', id: ID, partitionKey: 'web_0', text };
  const found = judged(
    { atMs: 0, kind: 'begun', run: 1, settings },
    { atMs: 90_000, ...arrival },
    { atMs: failedMs, kind: 'commit-failed' },
    { atMs: 100_000, kind: 'receipt', sink: 'audit', ids: [ID] },
    { atMs: killedMs, kind: 'gone', how: 'kill' },
    { atMs: killedMs + 1000, kind: 'begun', run: 2, settings },
    { atMs: killedMs + 1000, ...arrival },
  );
  return found.filter((each) => !each.includes(': topic: '));
}

test('a receipt is stored within 3 s, so what a later kill repeats is found', () => {
  assert.deepEqual(repeats(50_000, 103_000), []);
  assert.deepEqual(repeats(50_000, 103_001), [TWICE]);
});

test('after a commit that failed, a receipt may wait 10 s for its own', () => {
  assert.deepEqual(repeats(99_000, 109_000), []);
  assert.deepEqual(repeats(99_000, 109_001), [TWICE]);
});

test('a refused delivery shows which filter was in force, and must be for its sink, too', () => {
  const change = (phase: string, impact: string, previousStatus: string | null) => ({
    ...{ specversion: '1.0', id: `e:${phase}`, type: `io.github.scheduled-events-bridge.${phase}.v1` },
    ...{ time: '2026-01-01T00:00:01Z', partitionkey: 'e', impact: impact.toLowerCase(), initiator: 'platform' },
    data: {
      eventType: impact,
      previousStatus,
      resources: ['web_0'],
      durationInSeconds: 9,
      observer: { affected: true },
    },
  });
  const arrival = (atMs: number, sink: string, event: { readonly id: string }) => ({
    ...{ atMs, kind: 'arrival', sink, id: event.id, partitionKey: 'e', text: JSON.stringify(event) },
  });
  const refusal = { atMs: 2000, kind: 'refusal', sink: 'topic', id: 'e:scheduled' };
  const other: Settings = {
    ...settings,
    sinks: { ...settings.sinks, topic: { inFlight: 1, batch: 1, label: 'a', filter: { impacts: ['Reboot'] } } },
  };
  const reboot = change('scheduled', 'Reboot', null);
  const ended = change('ended', 'Reboot', 'Scheduled');
  const before = [
    { atMs: 0, kind: 'begun', run: 1, settings: other },
    { atMs: 500, kind: 'jumped', byMs: 1000 },
  ];
  const reload = [
    { atMs: 3000, kind: 'settings', outcome: 'asked', settings },
    { atMs: 3000, kind: 'settings', outcome: 'applied', settings },
  ];
  const all = [...before, arrival(1000, 'audit', reboot), refusal, ...reload, arrival(4000, 'audit', ended)];
  assert.deepEqual(judged(...all, arrival(4000, 'topic', ended)), [], 'it has had a change of this event');
  assert.deepEqual(judged(...all), ['lost: topic: e:ended never arrived']);
  const strange = [{ atMs: 0, kind: 'begun', run: 1, settings }, arrival(1000, 'audit', reboot), refusal];
  assert.deepEqual(judged(...strange), ['invented: topic: e:scheduled is not for this sink']);
});
