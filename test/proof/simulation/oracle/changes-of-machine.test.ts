// Documents that a bridge may not have stored → what the oracle of changes demands and finds.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Settings } from '../history.ts';
import type { Observation } from '../observation.ts';
import { judgeChanges } from './changes-of-machine.ts';
import { hexOf } from './listed-event.ts';

const ID = 'c7061bac-afdc-4513-b24b-aa5f13a16123';
const BEGIN_MS = Date.parse('2026-01-01T00:00:00Z');
const NOT_BEFORE = '2026-01-01T00:10:00Z';

const settings: Settings = {
  metadata: { pollInterval: '1s', timeout: '10s', settle: '30s' },
  publish: { resources: 'all' },
  approvals: { approvers: {}, required: 'any', policy: [], group: { submit: 'every' }, dryRun: false },
  sinks: {},
};

type Seen = Observation extends infer Each
  ? Each extends unknown
    ? Omit<Each, 'wallMs' | 'machine'> & { readonly wallMs?: number }
    : never
  : never;

function findingsOf(...seen: readonly Seen[]): readonly string[] {
  const findings: string[] = [];
  judgeChanges(
    seen.map((each) => ({ wallMs: BEGIN_MS + each.atMs, machine: 0, ...each }) as Observation),
    settings,
    { name: 'web_0', source: '/subscriptions/s/resourcegroups/g' },
    () => false,
    (fault, _atMs, what) => findings.push(`${fault}: ${what.split(' is ')[0]}`),
    () => {},
  );
  return findings;
}

function begun(atMs: number): Seen {
  return { atMs, kind: 'begun', run: 1, settings };
}

function killed(atMs: number): Seen {
  return { atMs, kind: 'gone', how: 'kill' };
}

function listing(atMs: number, incarnation: number): Seen {
  const event = {
    ...{ EventId: ID, EventStatus: 'Scheduled', EventType: 'Reboot', ResourceType: 'VirtualMachine' },
    ...{ Resources: ['web_0'], NotBefore: NOT_BEFORE, Description: '', EventSource: 'Platform', DurationInSeconds: 30 },
  };
  return { atMs, kind: 'document', text: JSON.stringify({ DocumentIncarnation: incarnation, Events: [event] }) };
}

function without(atMs: number, incarnation: number): Seen {
  return { atMs, kind: 'document', text: JSON.stringify({ DocumentIncarnation: incarnation, Events: [] }) };
}

/** Full from this moment on, so that a commit fails in it and in each of these. */
function full(fromMs: number, ...documents: readonly Seen[]): readonly Seen[] {
  return [
    { atMs: fromMs, kind: 'disk', isFull: true },
    ...documents.flatMap((each) => [each, { atMs: each.atMs, kind: 'commit-failed' } as const]),
    { atMs: (documents.at(-1)?.atMs ?? fromMs) + 500, kind: 'disk', isFull: false },
  ];
}

function told(atMs: number, incarnation: number, outcome: 'canceled' | 'unknown' | null): Seen {
  const phase = outcome === null ? 'scheduled' : 'ended';
  const id = `${ID}:${phase}`;
  const data = {
    ...{ eventId: ID, eventType: 'Reboot', eventStatus: outcome === null ? 'Scheduled' : 'Ended' },
    ...{ previousStatus: outcome === null ? null : 'Scheduled', resourceType: 'VirtualMachine', resources: ['web_0'] },
    ...{ notBefore: NOT_BEFORE, description: '', eventSource: 'Platform', durationInSeconds: 30 },
    ...(outcome !== null && { outcome }),
    observer: { name: 'web_0', documentIncarnation: incarnation, affected: true },
  };
  const event = {
    ...{ specversion: '1.0', id, source: '/subscriptions/s/resourcegroups/g' },
    ...{ type: `io.github.scheduled-events-bridge.${phase}.v1`, subject: `scheduledevents/${ID}` },
    ...{ time: new Date(BEGIN_MS + atMs).toISOString(), datacontenttype: 'application/json' },
    dataschema: 'https://scheduled-events-bridge.github.io/schemas/change.v1.json',
    ...{ partitionkey: ID, correlationid: ID, impact: 'reboot', initiator: 'platform' },
    ...(outcome === null ? { expirytime: NOT_BEFORE } : { outcome }),
    ...(outcome === null ? { severitynumber: 13, severitytext: 'WARN' } : { severitynumber: 9, severitytext: 'INFO' }),
    ...{ traceparent: `00-${ID.replaceAll('-', '')}-${hexOf(id, 16)}-01`, data },
  };
  return { atMs, kind: 'arrival', sink: 'audit', id, partitionKey: ID, text: JSON.stringify(event) };
}

const BEGIN = [begun(0), listing(1000, 7), told(1000, 7, null)];

test('what could not be stored on a full disk began no epoch, so the next document ends what it lacks', () => {
  const failed = full(1500, without(2000, 6), without(3000, 7));
  assert.deepEqual(findingsOf(...BEGIN, ...failed, without(4000, 7), told(4000, 7, 'canceled')), []);
  assert.deepEqual(
    findingsOf(...BEGIN, ...failed, without(4000, 7), without(32_000, 7), told(32_000, 7, 'unknown')),
    [`altered: ${ID}:ended: time`, `altered: ${ID}:ended: outcome`, `altered: ${ID}:ended: data`],
    'a bridge that keeps an epoch which it did not store',
  );
});

test('what was told of a document that could not be stored is found', () => {
  const failed = full(1500, without(2000, 7), told(2000, 7, 'canceled'));
  assert.deepEqual(findingsOf(...BEGIN, ...failed, without(3000, 7)), [`altered: ${ID}:ended: time`]);
});

test('a process that posted in its first moment had stored its document, though a later commit failed', () => {
  const failed = [{ atMs: 0, kind: 'disk', isFull: true } as const, { atMs: 0, kind: 'commit-failed' } as const];
  const posted: Seen = { atMs: 0, kind: 'posted', post: 1, eventIds: [ID] };
  assert.deepEqual(findingsOf(begun(0), listing(0, 7), ...failed), []);
  assert.deepEqual(findingsOf(begun(0), listing(0, 7), posted, ...failed), [
    `lost: ${ID}:scheduled was never told`,
    `lost: ${ID}`,
  ]);
});

test('of two documents in the moments of two kills, each may have counted or not', () => {
  const kills = [without(2000, 6), killed(2000), begun(2500), without(3000, 7), killed(3000), begun(3500)];
  assert.deepEqual(findingsOf(...BEGIN, ...kills, without(4000, 7), told(4000, 7, 'canceled')), [], 'neither');
  assert.deepEqual(
    findingsOf(...BEGIN, ...kills, without(4000, 7), without(32_000, 7), told(32_000, 7, 'unknown')),
    [],
    'the first',
  );
});

test('a second document that may have counted begins an epoch, too', () => {
  const kills = [without(2000, 8), killed(2000), begun(2500), without(3000, 6), killed(3000), begun(3500)];
  const later = [without(4000, 6), listing(5000, 6), without(6000, 6), told(6000, 6, 'canceled')];
  assert.deepEqual(findingsOf(...BEGIN, ...kills, ...later), []);
});

test('a document that cannot be stored ends a row of empty answers', () => {
  const empty = (atMs: number): Seen => ({ atMs, kind: 'document', text: '' });
  const row = [empty(2000), empty(7000), ...full(7500, listing(8000, 9)), empty(12_500)];
  const later = [listing(13_000, 9), without(14_000, 9), told(14_000, 9, 'canceled')];
  assert.deepEqual(findingsOf(...BEGIN, ...row, ...later), []);
});

test('what was told decides whether a document counted that listed the event in a new epoch', () => {
  const seen = [...BEGIN, without(1200, 6), listing(2000, 6), killed(2000), begun(2500), without(3000, 6)];
  assert.deepEqual(findingsOf(...seen, told(3000, 6, 'canceled')), [], 'it counted');
  assert.deepEqual(findingsOf(...seen, without(32_000, 6), told(32_000, 6, 'unknown')), [], 'it did not');
  assert.deepEqual(
    findingsOf(...seen, without(20_000, 6), told(20_000, 6, 'unknown'), without(32_000, 6)),
    [`altered: ${ID}:ended: time`],
    'neither explains it',
  );
});

test('what was told before the clock was set back does not show that a process knows who it is', () => {
  const setBack = (...seen: readonly Seen[]) =>
    seen.map((each) => ({ wallMs: BEGIN_MS + each.atMs - 60_000, ...each }) as Seen);
  const failed = (atMs: number): Seen => ({ atMs, kind: 'commit-failed' });
  const ended = { ...told(-56_800, 7, 'canceled'), atMs: 4000 };
  const seen = [
    ...BEGIN,
    killed(1200),
    ...setBack({ atMs: 1300, kind: 'jumped', byMs: -60_000 }, { atMs: 1600, kind: 'disk', isFull: true }, begun(2000)),
    ...setBack(listing(2000, 7), failed(2000), { ...told(1000, 7, null), atMs: 2000, sink: 'hook' } as Seen),
    ...setBack(failed(3000), without(3000, 7), failed(3200), without(3200, 7)),
    ...setBack({ atMs: 3500, kind: 'disk', isFull: false }, ended, without(4000, 7)),
  ];
  assert.deepEqual(findingsOf(...seen), []);
});
