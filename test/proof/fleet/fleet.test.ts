// Lives, copies and records made by hand → what the judges of a fleet find, and what they let pass.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Observation } from '../simulation/observation.ts';
import { carriedBy } from './azure-limits.ts';
import { type Copy, consumed, judgeIds, judgeStarts } from './group-judge.ts';
import { byRank, play } from './life.ts';
import { livesOf } from './lives.ts';
import { playLives } from './play-lives.ts';
import { asItIs, asRanked } from './publish-rank.ts';
import { judgeReplay, replay } from './replay.ts';
import { replayed } from './replayed.ts';
import { simulatedHerd } from './simulated-herd.ts';
import { hashOf } from './socket-counts.ts';

const EVENT = 'A7D52690-608E-4E0A-8980-D706CC0670DA';
const EID = EVENT.toLowerCase();
const CHANGES = ['scheduled', 'updated:0123456789abcdef', 'started', 'ended'];

test('a group of ten posts one StartRequest for each event, also if the leader dies', async () => {
  const dead = { which: 'first ranks', count: 2 } as const;
  const plays = [play({ named: 10 }), play({ named: 10, dead }), play({ named: 10, posterDiesAt: 'post' })];
  const life = { seed: 1, name: 'ten', machines: 10, submit: 'leader', resources: 'all', plays } as const;
  const [played] = await playLives([life], 1);
  assert.deepEqual(played?.findings, []);
  assert.deepEqual(
    played?.events.map(({ startRequests, startAfterMs }) => [startRequests, startAfterMs]),
    [
      [1, 0],
      [1, 6000],
      [1, 3000],
    ],
  );
  const [first] = played?.events ?? [];
  // Four changes and the approval of ten machines, and one StartRequest.
  assert.deepEqual([first?.records, first?.changes, first?.approvals], [51, 4, 11]);
  assert.deepEqual(first?.differing, ['data.observer', 'time']);
});

test('what a group delivered comes to a real receiver, for many groups, without a loss', async () => {
  const records = replayed(copiesOf(0, 1, 2), { seed: 1, groups: 3, perGroup: 3 });
  const { faults, came, sent } = await replay(records, { kind: 'webhook', perSecond: null, retryAfterS: null });
  assert.deepEqual(faults, { lost: 0, altered: 0 });
  assert.deepEqual([sent.machines, sent.records, came.kept.length, came.connections], [9, 36, 36, 9]);
});

test('no StartRequest is lost, two are twice, and one of another machine is forbidden', () => {
  const faultsOf = (machines: readonly number[], submit: 'leader' | 'every' = 'leader') =>
    judgeStarts(machines.map(accepted), EVENT, { submit, posters: [3, 4] }).map(({ fault }) => fault);
  assert.deepEqual(faultsOf([3]), []);
  assert.deepEqual(faultsOf([]), ['lost']);
  assert.deepEqual(faultsOf([3, 4]), ['twice']);
  assert.deepEqual(faultsOf([4]), ['forbidden']);
  assert.deepEqual(faultsOf([3, 4], 'every'), []);
  assert.deepEqual(faultsOf([3, 3], 'every'), ['twice']);
});

test('one change has one id on all machines, and each machine sends it once', () => {
  const faultsOf = (copies: readonly Copy[]) => judgeIds(copies, EVENT).map(({ fault }) => fault);
  const good = copiesOf(0, 1);
  const [first] = good as readonly [Copy, ...Copy[]];
  assert.deepEqual(faultsOf(good), []);
  assert.deepEqual(faultsOf(good.filter(({ id }) => !id.endsWith(':ended'))), ['lost']);
  assert.deepEqual(faultsOf([...good, first]), ['twice']);
  assert.deepEqual(faultsOf([...good, { ...first, id: `${EID}:updated:ffffffffffffffff` }]), ['invented']);
  assert.deepEqual(faultsOf([...good, { ...first, id: `${EID}:scheduled:r2` }]), ['invented']);
  assert.deepEqual(faultsOf([...good, { ...first, machine: 7, source: '/other' }]), ['altered']);
});

test('a consumer sees each CloudEvent once, and in what its copies differ', () => {
  const { records, changes, approvals, differing } = consumed([...copiesOf(0, 1), approval(0), approval(1)]);
  assert.deepEqual([records, changes, approvals], [10, 4, 2]);
  assert.deepEqual(differing, ['data.observer']);
});

test('a record that is missing, or has other bytes, is found; duplicate detection keeps one for each id', () => {
  const records = replayed(copiesOf(0, 1), { seed: 1, groups: 1, perGroup: 2 });
  const kept = records.map(({ bytes }) => hashOf(bytes));
  assert.deepEqual(judgeReplay(records, 'webhook', { kept }), { lost: 0, altered: 0 });
  assert.deepEqual(judgeReplay(records, 'webhook', { kept: [...kept.slice(1), 'x'] }), { lost: 1, altered: 1 });
  const once = kept.slice(0, CHANGES.length);
  assert.deepEqual(judgeReplay(records, 'service-bus', { kept: once }), { lost: 0, altered: 0, twice: 0 });
  assert.deepEqual(judgeReplay(records, 'service-bus', { kept }), { lost: 0, altered: 0, twice: CHANGES.length });
  assert.deepEqual(judgeReplay(records, 'service-bus', { kept: once.slice(1) }), { lost: 1, altered: 0, twice: 0 });
});

test('a herd at a slow receiver is accepted in the end, and one that comes slowly tries nothing again', async () => {
  const options = { seed: 1, machines: 100, perSecond: 20, withinMs: 1000, retryAfterMs: null };
  const herd = await simulatedHerd(options);
  assert.equal(herd.records, 100);
  assert.ok(herd.retrying === 80 && herd.retried >= 80);
  const slow = await simulatedHerd({ ...options, withinMs: 20_000 });
  assert.ok(slow.retried < 5);
  assert.deepEqual(await simulatedHerd(options), herd);
});

test('a rank delays the others, and is late if the first ranks are dead', () => {
  const copies = Array.from({ length: 100 }, (_, machine) => ({ machine, ms: machine * 10 }));
  const rank = { machines: 100, first: 3, withinMs: 30_000 };
  assert.deepEqual(asItIs(copies), { firstMs: 0, busiest: 100 });
  assert.deepEqual(asRanked(copies, rank).firstMs, 0);
  assert.ok(asRanked(copies, rank).busiest < 10);
  assert.ok(asRanked(copies.slice(50), rank).firstMs > 14_000);
});

test('ranks sort names as text, and the limits of Azure are shared by what a change costs', () => {
  assert.deepEqual(byRank(12), [0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]);
  const group = { machines: 100, records: 100, bytes: 200_000, connections: 1 };
  assert.deepEqual(carriedBy(group), { machinesByConnections: 5000, groupsByCredits: 10, groupsByThroughputUnit: 5 });
});

test('the lives follow from the seed', () => {
  assert.deepEqual(livesOf({ seed: 4, isLong: true }), livesOf({ seed: 4, isLong: true }));
  assert.notDeepEqual(livesOf({ seed: 4, isLong: true }), livesOf({ seed: 5, isLong: true }));
});

function accepted(machine: number): Observation {
  return { kind: 'accepted', post: 0, eventIds: [EVENT], machine, atMs: 0, wallMs: 0 };
}

function copiesOf(...machines: readonly number[]): readonly Copy[] {
  return machines.flatMap((machine) => CHANGES.map((change) => copyOf(machine, `${EID}:${change}`)));
}

function approval(machine: number): Copy {
  return copyOf(machine, `${EID}:approval-recorded:${machine}`);
}

function copyOf(machine: number, id: string): Copy {
  const source = '/subscriptions/s/resourcegroups/g';
  return { machine, atMs: 0, id, source, text: JSON.stringify({ id, source, data: { observer: { name: machine } } }) };
}
