// A lane's state and one event in it → what the next state remembers of each key and of the sink.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyState } from '../../../src/delivery/key-state.ts';
import {
  afterRecovery,
  drained,
  failedSink,
  forgotten,
  INITIAL,
  type LaneState,
  newRound,
  occupied,
  probing,
  released,
  resumed,
  rowsQueued,
  succeeded,
  unprobed,
  urgentQueued,
} from '../../../src/delivery/lane-state.ts';
import type { Moment } from '../../../src/delivery/moment.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';
import { failure } from '../../virtual/scripted-adapter.ts';

const NOW: Moment = { elapsedMs: 50_000, wallMs: 1_000_000, chance: { key: 1, sink: 1 } };
const LATER_MS = NOW.elapsedMs + 1;

const key = (state: Partial<KeyState>): KeyState => ({
  ...{ failures: 1, dueMs: LATER_MS, wasCutShort: false, isCause: false, probed: null },
  ...state,
});
const opening = (more: Partial<NonNullable<LaneState['opening']>> = {}): NonNullable<LaneState['opening']> => ({
  ...{ failures: 3, dueMs: 0, disposition: 'retry', longEnded: false, withinMs: undefined },
  ...more,
});
const stateOf = (keys: Record<string, Partial<KeyState>>, more: Partial<LaneState> = {}): LaneState => ({
  ...INITIAL,
  keys: new Map(Object.entries(keys).map(([name, state]) => [name, key(state)])),
  ...more,
});
const rows = (...names: string[]) => names.map((partitionKey) => ({ partitionKey }));
const rowOf = (name: string) => new MemoryLaneStore(() => 0).queue('hooks', name);
const namesOf = ({ keys }: LaneState) => [...keys.keys()];

test('the keys of a call are busy until its outcomes are stored, and those of other calls stay so', () => {
  const both = occupied(occupied(INITIAL, rows('a')), rows('b', 'c'));
  assert.deepEqual([...both.busy], ['a', 'b', 'c']);
  assert.deepEqual([...released(both, rows('b', 'c')).busy], ['a']);
});

test('a key that is free again is remembered only if it failed', () => {
  const state = stateOf({ well: { failures: 0, probed: 'alive' }, ill: { failures: 2 }, other: { failures: 0 } });
  const after = released(state, rows('well', 'ill', 'healthy'));
  assert.deepEqual([...after.keys], [...stateOf({ ill: { failures: 2 }, other: { failures: 0 } }).keys]);
});

test('what follows a key whose rows ended without an attempt waits for none of its failures', () => {
  const state = stateOf({ a: { failures: 4, wasCutShort: true, isCause: true, probed: 'alive' }, b: { failures: 2 } });
  const after = succeeded(state, rows('healthy', 'a'));
  assert.deepEqual([...after.keys], [...stateOf({ a: { failures: 0, probed: 'alive' }, b: { failures: 2 } }).keys]);
});

test('a failure without Retry-After leaves a hold as it is, and the next Retry-After still counts', () => {
  const held = failedSink({ ...INITIAL, heldUntilMs: 60_000 }, 'a', failure(), false, NOW);
  assert.equal(held.heldUntilMs, 60_000);
  assert.equal(failedSink(held, 'b', failure({ retryAfterMs: 30_000 }), false, NOW).heldUntilMs, 80_000);
});

test('a failure beside an acceptance is none of the three in a row that open the breaker', () => {
  const once = failedSink(INITIAL, null, failure(), false, NOW);
  const thrice = ['a', 'b'].reduce((state, name) => failedSink(state, name, failure(), false, NOW), once);
  assert.equal(thrice.opening, null);
  assert.notEqual(failedSink(thrice, 'c', failure(), false, NOW).opening, null);
});

test('an acceptance ends a misconfiguration, and keys that back off keep their wait if the breaker was closed', () => {
  const state = stateOf({ a: {} }, { isMisconfigured: true });
  const well = afterRecovery(state);
  assert.deepEqual([well.isMisconfigured, well.keys.get('a')], [false, key({})]);
  assert.equal(afterRecovery({ ...state, opening: opening() }).isMisconfigured, false);
});

test('when the breaker closes, keys that back off may go at once, but none that is in a call, has not failed, or is the cause', () => {
  const state = stateOf(
    { a: {}, running: { probed: 'alive' }, probed: { failures: 0, probed: 'long ended' }, cause: { isCause: true } },
    { opening: opening(), busy: new Set(['running']) },
  );
  assert.deepEqual(
    [...afterRecovery(state).keys],
    [
      ['a', key({ dueMs: 0, wasCutShort: true })],
      ['running', key({})],
      ['probed', key({ failures: 0 })],
      ['cause', key({ isCause: true })],
    ],
  );
});

test('a sink that is resumed starts anew: only keys that are in a call are remembered', () => {
  const state = stateOf(
    { a: {}, running: {} },
    {
      ...{ opening: opening(), isMisconfigured: true, retired: { reason: 'gone', untilRestart: false } },
      ...{ heldUntilMs: 99_000, lastFailure: 'gone', busy: new Set(['running']), calls: 1 },
    },
  );
  const after = resumed(state);
  assert.deepEqual([after.opening, after.isMisconfigured, after.retired], [null, false, null]);
  assert.deepEqual([after.heldUntilMs, after.lastFailure, namesOf(after), after.calls], [0, null, ['running'], 1]);
});

test('new rows bring the probe of a sink within 10 s, urgent ones within 2 s, and neither puts it off', () => {
  const due = (dueMs: number, more = {}) => ({ ...INITIAL, opening: opening({ dueMs, ...more }) });
  const far = due(NOW.elapsedMs + 200_000);
  assert.equal(rowsQueued(far, NOW).opening?.dueMs, NOW.elapsedMs + 10_000);
  assert.equal(urgentQueued(far, NOW).opening?.dueMs, NOW.elapsedMs + 2_000);
  assert.equal(rowsQueued(due(LATER_MS), NOW).opening?.dueMs, LATER_MS);
  const soon = { ...NOW, chance: { key: 0.5, sink: 0.5 } };
  assert.equal(rowsQueued(due(NOW.elapsedMs + 10_000), soon).opening?.dueMs, NOW.elapsedMs + 10_000);
  assert.equal(rowsQueued(INITIAL, NOW).opening, null);
  const slow = due(NOW.elapsedMs + 9_000, { disposition: 'misconfigured' });
  assert.equal(urgentQueued(slow, NOW).opening?.dueMs, NOW.elapsedMs + 9_000, 'somebody has to correct something');
});

test('a probe takes the turn of its key and nothing else, and its next wait is that of what is queued', () => {
  const state = stateOf({ a: { failures: 2 }, b: {} }, { opening: opening() });
  const turn = { isUrgent: true, isAlive: true, longEnded: true };
  const after = probing(state, rowOf('a'), turn);
  assert.deepEqual(
    [...after.keys],
    [
      ['a', key({ failures: 2, probed: 'alive' })],
      ['b', key({})],
    ],
  );
  assert.deepEqual([after.opening, after.wasProbeUrgent], [opening({ longEnded: true }), true]);
  const other = probing(after, rowOf('new'), { isUrgent: false, isAlive: false, longEnded: false });
  assert.deepEqual(other.keys.get('new'), key({ failures: 0, dueMs: 0, probed: 'long ended' }));
  assert.deepEqual([other.opening, other.wasProbeUrgent], [opening(), false]);
});

test('a probe that could not begin gives its key the turn back, and no other key', () => {
  const state = stateOf({ a: { failures: 2, probed: 'alive' }, b: { probed: 'alive' } }, { calls: 1 });
  const after = unprobed(state, [rowOf('a')]);
  assert.deepEqual(after, stateOf({ a: { failures: 2 }, b: { probed: 'alive' } }, { calls: 1 }));
});

test('in a new round of probes each key may have a turn, also if some had none in the last one', () => {
  const state = stateOf({ a: { probed: 'alive' }, b: {}, c: { probed: 'long ended' } });
  assert.deepEqual(newRound(state), stateOf({ a: {}, b: {}, c: {} }));
});

test('failures are forgotten of all keys but those in a call', () => {
  assert.deepEqual(namesOf(forgotten(stateOf({ a: {}, b: {} }, { busy: new Set(['b']) }))), ['b']);
});

test('a queue that was read to its end has no rows of a key that was due and not there: it is forgotten', () => {
  const state = stateOf(
    { due: { dueMs: NOW.elapsedMs }, later: {}, running: { dueMs: 0 } },
    { busy: new Set(['running']), lastFailure: 'no' },
  );
  const after = drained(state, NOW);
  assert.deepEqual([namesOf(after), after.lastFailure], [['later', 'running'], 'no']);
  assert.equal(drained(after, NOW), after);
});
