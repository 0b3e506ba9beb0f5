// Good documents, and clocks that are set → which reports of blindness must be told.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Settings } from '../history.ts';
import type { Observation } from '../observation.ts';
import { madeAt } from './made-at.ts';
import { judgeSight } from './sight.ts';

const BEGIN_MS = Date.UTC(2026, 0);
const SET_BACK_MS = 150_000;
const settings = {} as Settings;

function at(atMs: number, seen: object): Observation {
  // The clock is set back by 100 s.
  const wallMs = BEGIN_MS + atMs - (atMs < SET_BACK_MS ? 0 : 100_000);
  return { atMs, wallMs, machine: 0, ...seen } as Observation;
}

function document(atMs: number): Observation {
  return at(atMs, { kind: 'document', text: '{"DocumentIncarnation":1,"Events":[]}' });
}

/** @param atMs of its arrival; without a fault of the sink, it is told at once */
function told(name: 'blind' | 'restored', toldMs: number, atMs: number): Observation {
  const time = new Date(at(toldMs, {}).wallMs).toISOString();
  const type = `io.github.scheduled-events-bridge.source.${name}.v1`;
  const text = JSON.stringify({ id: `source-${name}:1`, type, time, data: { since: '2026-01-01T00:00:40Z' } });
  return at(atMs, { kind: 'arrival', sink: 'audit', id: `source-${name}:1`, partitionKey: 'web_0', text });
}

const BEGIN = [at(0, { kind: 'begun', run: 1, settings }), document(40_000)];
const JUMP = at(SET_BACK_MS, { kind: 'jumped', byMs: -100_000 });

function findingsOf(...seen: readonly Observation[]): readonly string[] {
  const found: string[] = [];
  judgeSight(seen, (fault) => found.push(fault));
  return found;
}

test('a report that arrives after the clock was set back belongs to the gap in which it was made', () => {
  const late = [told('blind', 100_000, 220_000), told('restored', 160_000, 220_000)];
  assert.deepEqual(findingsOf(...BEGIN, JUMP, document(160_000), ...late), []);
});

test('of two gaps in which a report may have been made, the one that needs it counts', () => {
  const late = [told('blind', 230_000, 230_000), told('restored', 280_000, 280_000), document(280_000)];
  const short = [...BEGIN, document(105_000), document(145_000), JUMP, document(165_000)];
  assert.deepEqual(
    findingsOf(...short, ...late),
    [],
    'the clock showed 130 s twice, in a gap of 40 s and one of 115 s',
  );
  const permitted = [...BEGIN, document(105_000), JUMP, document(168_000)];
  assert.deepEqual(findingsOf(...permitted, ...late), [], 'in a gap of 63 s, and in one of 112 s');
});

test('a gap without a report, and a report without a gap, are found', () => {
  assert.deepEqual(findingsOf(...BEGIN, document(140_000)), ['lost']);
  const strange = [told('blind', 60_000, 60_000), told('restored', 70_000, 70_000)];
  assert.deepEqual(findingsOf(...BEGIN, ...strange, document(70_000)), ['invented']);
});

test('a clock that was set back shows a time twice', () => {
  const seen = [...BEGIN, JUMP, document(220_000)];
  const time = new Date(BEGIN_MS + 100_000).toISOString();
  assert.deepEqual(madeAt({ event: { time }, atMs: 120_000 }, seen), [100_000]);
  assert.deepEqual(madeAt({ event: { time }, atMs: 220_000 }, seen), [100_000, 200_000]);
  assert.deepEqual(madeAt({ event: { time }, atMs: 180_000 }, seen), [100_000]);
});
