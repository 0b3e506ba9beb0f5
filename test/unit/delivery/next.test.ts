// The table of a lane's states, row by row → what may go, until when, and how it is shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KeyState } from '../../../src/delivery/key-state.ts';
import { INITIAL, type LaneState, occupied } from '../../../src/delivery/lane-state.ts';
import type { Moment } from '../../../src/delivery/moment.ts';
import { type Hold, next, type QueueView, shown } from '../../../src/delivery/next.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';

const NOW: Moment = { elapsedMs: 50_000, wallMs: 1_000_000, chance: { key: 0.5, sink: 0.5 } };
const HOLD = { reason: 'its rate is used up', untilMs: 77_000 };

interface Queued {
  readonly keys: readonly string[];
  /** By their urgency; none by default. */
  readonly urgent?: readonly string[];
  readonly view?: Partial<QueueView>;
  /** Places for calls, and how many more for urgent rows. */
  readonly places?: readonly [number, number];
}

function queueOf({ keys, urgent = [], view = {}, places: [places, extra] = [2, 0] }: Queued): QueueView {
  const store = new MemoryLaneStore(() => 0);
  for (const key of keys) store.queue('hooks', key);
  return {
    limits: { batch: 1, batchBytes: 1_000 },
    isFull: () => false,
    places: (running) => places - running,
    urgentPlaces: (running) => places + extra - running,
    rows: (except, limit) => store.queued('hooks', except, limit),
    urgentRows: (except, limit) => {
      const not = except();
      return store.queuedOf(
        'hooks',
        urgent.filter((key) => !not.includes(key)),
        limit,
      );
    },
    hold: () => null,
    nextUrgentMs: () => null,
    isLongEnded: () => false,
    heldKeys: () => new Set(),
    ...view,
  };
}

const key = (state: Partial<KeyState>): KeyState => ({
  failures: 1,
  dueMs: 0,
  wasCutShort: false,
  isCause: false,
  probed: null,
  ...state,
});
const opening = (dueMs: number, more = {}): LaneState['opening'] => ({
  ...{ failures: 3, dueMs, disposition: 'retry', longEnded: false, withinMs: undefined },
  ...more,
});
const due = opening(NOW.elapsedMs);

/** `send a+b,c`: two calls, the first of a batch; `wait 60000`; `wait -`: without a timer. */
function said(state: Partial<LaneState>, queued: Queued): string {
  const step = next({ ...INITIAL, ...state }, NOW, queueOf(queued));
  if (step.kind === 'expire') return step.kind;
  if (step.kind === 'wait') return `wait ${step.untilMs ?? '-'}`;
  return `${step.kind} ${step.batches.map((rows) => rows.map(({ partitionKey }) => partitionKey).join('+')).join()}`;
}

interface Row {
  readonly when: string;
  readonly state?: Partial<LaneState>;
  readonly queued?: Partial<Queued>;
  readonly does: string;
  readonly shows: string;
}

const paused = { by: 'orders', atMs: 0 };
const retired = { reason: 'gone', untilRestart: false };
const failing = (entries: Record<string, Partial<KeyState>>) => ({
  lastFailure: 'no',
  keys: new Map(Object.entries(entries).map(([name, state]) => [name, key(state)])),
});
const batches = (batch: number, batchBytes = 1_000) => ({ view: { limits: { batch, batchBytes } } });

const ROWS: readonly Row[] = [
  {
    when: 'paused',
    state: { pause: paused, retired, opening: due, heldUntilMs: 99_000 },
    does: 'wait -',
    shows: 'paused',
  },
  { when: 'retired', state: { retired, heldUntilMs: 99_000, isMisconfigured: true }, does: 'expire', shows: 'retired' },
  { when: 'held by Retry-After', state: { heldUntilMs: 60_000 }, does: 'wait 60000', shows: 'held' },
  {
    when: 'held, and misconfigured',
    state: { heldUntilMs: 60_000, isMisconfigured: true },
    does: 'wait 60000',
    shows: 'misconfigured',
  },
  {
    when: 'the hold of Retry-After is over',
    state: { heldUntilMs: NOW.elapsedMs },
    does: 'send a,b',
    shows: 'delivering',
  },
  {
    when: 'held for longer than the breaker',
    state: { heldUntilMs: 70_000, opening: opening(60_000) },
    does: 'wait 70000',
    shows: 'held',
  },
  { when: 'the breaker is open, not due', state: { opening: opening(60_000) }, does: 'wait 60000', shows: 'probing' },
  {
    when: 'it is open, and an urgent row waits: half of 2 s by this chance',
    state: { opening: opening(60_000) },
    queued: { urgent: ['c'] },
    does: 'wait 51000',
    shows: 'probing',
  },
  {
    when: 'it is open, and the urgent row is in a call already',
    state: { opening: opening(60_000), busy: new Set(['c']), calls: 1 },
    queued: { urgent: ['c'] },
    does: 'wait 60000',
    shows: 'probing',
  },
  {
    when: 'it is open and somebody has to correct something: urgent rows bring nothing forward',
    state: { opening: opening(60_000, { disposition: 'misconfigured' }), isMisconfigured: true },
    queued: { urgent: ['c'] },
    does: 'wait 60000',
    shows: 'misconfigured',
  },
  { when: 'outcomes wait for the disk', queued: { view: { isFull: () => true } }, does: 'wait -', shows: 'delivering' },
  {
    when: 'the breaker is open, and the rate used up',
    state: { opening: due },
    queued: { view: { hold: () => HOLD } },
    does: 'wait 77000',
    shows: 'probing',
  },
  { when: 'the breaker is open, and a call runs', state: { opening: due, calls: 1 }, does: 'wait -', shows: 'probing' },
  { when: 'the breaker is open and due', state: { opening: due }, does: 'probe a', shows: 'probing' },
  {
    when: 'an urgent row is the probe',
    state: { opening: due },
    queued: { urgent: ['c'] },
    does: 'probe c',
    shows: 'probing',
  },
  {
    when: 'the urgent key had its turn last time: every other probe is of another key',
    state: { opening: due, wasProbeUrgent: true, ...failing({ c: { probed: 'alive' } }) },
    queued: { urgent: ['c'] },
    does: 'probe a',
    shows: 'probing',
  },
  {
    when: 'the urgent key had its turn before: it is the next probe',
    state: { opening: due, ...failing({ c: { probed: 'alive' } }) },
    queued: { urgent: ['c'] },
    does: 'probe c',
    shows: 'probing',
  },
  {
    when: 'a probe is of the key that failed least',
    state: { opening: due, ...failing({ a: { failures: 2 }, b: { failures: 1 }, c: { failures: 3 } }) },
    does: 'probe b',
    shows: 'probing',
  },
  {
    when: 'keys that had their turn come after the others',
    state: { opening: due, ...failing({ a: { probed: 'alive' }, b: { failures: 5 } }) },
    queued: { keys: ['a', 'b'] },
    does: 'probe b',
    shows: 'probing',
  },
  {
    when: 'all keys had their turn: another round',
    state: { opening: due, ...failing({ a: { probed: 'alive' }, b: { probed: 'alive' }, c: { probed: 'alive' } }) },
    does: 'probe a',
    shows: 'probing',
  },
  {
    when: 'all keys that have rows had their turn: another round, whatever other keys had',
    state: { opening: due, ...failing({ a: { probed: 'alive' }, gone: {} }) },
    queued: { keys: ['a'] },
    does: 'probe a',
    shows: 'probing',
  },
  {
    when: 'the breaker is open and nothing is queued',
    state: { opening: due },
    queued: { keys: [] },
    does: 'wait -',
    shows: 'probing',
  },
  {
    when: 'the rate is used up',
    queued: { view: { hold: () => HOLD, places: () => 0, urgentPlaces: () => 0 } },
    does: 'wait 77000',
    shows: 'held',
  },
  { when: 'every place is taken', state: { calls: 2 }, does: 'wait -', shows: 'delivering' },
  {
    when: 'every place is taken, and a key is due again: no timer would help',
    state: { calls: 2, ...failing({ a: { dueMs: NOW.elapsedMs } }) },
    does: 'wait -',
    shows: 'backing off',
  },
  {
    when: 'the rate is used up for longer than a key backs off',
    state: failing({ a: { dueMs: 60_000 } }),
    queued: { view: { hold: () => HOLD, places: () => 0, urgentPlaces: () => 0 } },
    does: 'wait 60000',
    shows: 'held',
  },
  {
    when: 'every place is taken, and an event becomes urgent',
    state: { calls: 2 },
    queued: { view: { nextUrgentMs: () => 55_000 } },
    does: 'wait 55000',
    shows: 'delivering',
  },
  {
    when: 'a place is free: an event that becomes urgent needs no timer',
    queued: { keys: [], view: { nextUrgentMs: () => 55_000 } },
    does: 'wait -',
    shows: 'delivering',
  },
  {
    when: 'every place is taken, and urgent rows have extra ones',
    state: { calls: 2 },
    queued: { urgent: ['c', 'b', 'a'], places: [2, 2] },
    does: 'send c,b',
    shows: 'delivering',
  },
  { when: 'urgent rows go first', queued: { urgent: ['c'] }, does: 'send c', shows: 'delivering' },
  {
    when: 'urgent rows go in batches of their own',
    queued: { keys: ['a', 'b', 'c', 'c'], urgent: ['c'], ...batches(10) },
    does: 'send c+c',
    shows: 'delivering',
  },
  { when: 'keys back off', state: failing({ a: { dueMs: 60_000 } }), does: 'send b,c', shows: 'backing off' },
  {
    when: 'all keys back off',
    state: failing({ a: { dueMs: 60_000 }, b: { dueMs: 58_000 }, c: { dueMs: 59_000 } }),
    does: 'wait 58000',
    shows: 'backing off',
  },
  {
    when: 'an urgent key backs off, too',
    state: failing({ c: { dueMs: 51_000 } }),
    queued: { urgent: ['c'] },
    does: 'send a,b',
    shows: 'backing off',
  },
  {
    when: 'a key was only probed',
    state: failing({ a: { failures: 0, probed: 'alive' } }),
    does: 'send a,b',
    shows: 'delivering',
  },
  {
    when: 'a key is due again',
    state: failing({ a: { dueMs: NOW.elapsedMs } }),
    does: 'send a,b',
    shows: 'backing off',
  },
  { when: 'a key is in a call', state: { busy: new Set(['a']), calls: 1 }, does: 'send b', shows: 'delivering' },
  {
    when: 'another lane holds a key',
    queued: { view: { heldKeys: () => new Set(['a']) } },
    does: 'send b,c',
    shows: 'delivering',
  },
  {
    when: 'rows fit one batch',
    queued: { keys: ['a', 'b', 'a'], ...batches(3) },
    does: 'send a+b+a',
    shows: 'delivering',
  },
  {
    when: 'a refused batch was cut short',
    state: { largestBatch: 2 },
    queued: batches(3),
    does: 'send a+b,c',
    shows: 'delivering',
  },
  {
    when: 'a key is the cause of failures: it shares no batch',
    state: failing({ b: { isCause: true } }),
    queued: { ...batches(3), places: [3, 0] },
    does: 'send a,b,c',
    shows: 'backing off',
  },
  { when: 'nothing is queued', queued: { keys: [] }, does: 'wait -', shows: 'delivering' },
];

for (const { when, state = {}, queued = {}, does, shows } of ROWS) {
  test(`${when}: ${does}`, () => {
    const whole = { keys: ['a', 'b', 'c'], ...queued };
    assert.equal(said(state, whole), does);
    const hold = whole.view?.hold?.(() => []) ?? null;
    assert.equal(shown({ ...INITIAL, ...state }, NOW.elapsedMs, hold).state, shows);
  });
}

function step(state: Partial<LaneState>, queued: Queued) {
  return next({ ...INITIAL, ...state }, NOW, queueOf(queued));
}

test('an operator sees who paused a sink, why it is retired, held or in trouble, and until when', () => {
  const at = (state: Partial<LaneState>, hold: Hold | null = null) => {
    const { reason, untilMs } = shown({ ...INITIAL, ...state }, NOW.elapsedMs, hold);
    return [reason, untilMs];
  };
  assert.deepEqual(at({ pause: paused }), ['paused by orders', null]);
  assert.deepEqual(at({ retired }), ['gone', null]);
  assert.deepEqual(at({ heldUntilMs: 60_000, lastFailure: 'no' }), ['no', 60_000]);
  assert.deepEqual(at({}, HOLD), [HOLD.reason, HOLD.untilMs]);
  assert.deepEqual(at({ opening: due, lastFailure: 'no' }), ['no', null]);
  assert.deepEqual(at(failing({ a: {} })), ['no', null]);
  assert.deepEqual(at({ lastFailure: 'no' }), [null, null]);
});

test('a key that is due and finds no place keeps the count of its failures', () => {
  const { keys } = failing({ a: { failures: 5 } });
  assert.equal(step({ keys, calls: 2 }, { keys: ['a'] }).state.keys.get('a')?.failures, 5);
});

test('the limit of a batch after a refusal holds until all that was queued is on its way', () => {
  const state = { largestBatch: 1 };
  assert.equal(step(state, { keys: ['a', 'b', 'c'], ...batches(9) }).state.largestBatch, 1);
  assert.equal(step(state, { keys: ['a', 'b'], ...batches(9) }).state.largestBatch, 1, 'there may be more');
  assert.equal(step(state, { keys: ['a'], ...batches(9) }).state.largestBatch, Number.POSITIVE_INFINITY);
});

test('whether the rate holds anything up is asked for the rows that could go otherwise', () => {
  const asked: (readonly string[])[] = [];
  const view: Partial<QueueView> = {
    hold: (except) => {
      asked.push(except());
      return null;
    },
  };
  step(failing({ a: { dueMs: 60_000 } }), { keys: ['a'], view });
  step({ busy: new Set(['b']), calls: 2 }, { keys: ['a', 'b'], view });
  step({ opening: due, busy: new Set(['b']) }, { keys: ['a', 'b'], view });
  assert.deepEqual(asked, [['a'], ['b'], []]);
});

test('rows are read in blocks of 256 at most, unless one batch holds more', () => {
  const limits: number[] = [];
  const ask = (places: number, batch: number) =>
    step(
      {},
      {
        keys: [],
        places: [places, 0],
        view: {
          limits: { batch, batchBytes: 1_000 },
          rows: (_, limit) => {
            limits.push(limit);
            return [];
          },
        },
      },
    );
  ask(3, 10);
  ask(100, 10);
  ask(2, 500);
  assert.deepEqual(limits, [30, 256, 500]);
});

test('an urgent probe counts as alive, and the next one need not be urgent', () => {
  const { kind, state } = step(
    { opening: opening(NOW.elapsedMs, { longEnded: true }) },
    { keys: ['a'], urgent: ['a'] },
  );
  assert.deepEqual([kind, state.wasProbeUrgent, state.calls, [...state.busy]], ['probe', true, 1, ['a']]);
  assert.deepEqual([state.keys.get('a')?.probed, state.opening?.longEnded], ['alive', false]);
});

test('probes come as seldom as for events that ended long ago only if no other one is queued', () => {
  const view: Partial<QueueView> = { isLongEnded: ({ partitionKey }) => partitionKey.startsWith('old') };
  const probeOf = (keys: readonly string[], more: Partial<LaneState> = {}) => {
    const { state } = step({ opening: due, wasProbeUrgent: true, ...more }, { keys, view });
    const [key = ''] = state.busy;
    return [key, state.keys.get(key)?.probed, state.opening?.longEnded, state.wasProbeUrgent];
  };
  assert.deepEqual(probeOf(['old1', 'old2']), ['old1', 'long ended', true, false]);
  assert.deepEqual(probeOf(['old1', 'live']), ['old1', 'long ended', false, false]);
  assert.deepEqual(probeOf(['live', 'old1']), ['live', 'alive', false, false]);
  const turns = (probed: KeyState['probed']) => failing({ before: { probed }, other: { probed: 'long ended' } });
  assert.deepEqual(probeOf(['old1', 'before'], turns('alive')), ['old1', 'long ended', false, false]);
  assert.deepEqual(probeOf(['old1', 'before'], turns('long ended')), ['old1', 'long ended', true, false]);
  const many = Array.from({ length: 101 }, (_, index) => `old${index}`);
  assert.deepEqual(probeOf(many), ['old0', 'long ended', false, false], 'there may be others behind them');
});

test('a key that never failed is probed before a hundred that did, though it is queued behind them', () => {
  const bad = Array.from({ length: 100 }, (_, index) => `bad${index}`);
  const ill = failing(Object.fromEntries(bad.map((name) => [name, {}])));
  const keys = new Map([
    ...ill.keys,
    ['tried', key({ failures: 0, probed: 'alive' })] as const,
    ['well', key({ failures: 0 })] as const,
  ]);
  const { state } = step({ opening: due, keys }, { keys: [...bad, 'tried', 'well'] });
  assert.deepEqual([...state.busy], ['well']);
});

test('a thousand failing keys are forgotten before the next probe', () => {
  const keys = new Map(Array.from({ length: 1_000 }, (_, index) => [`bad${index}`, key({})] as const));
  const { state } = step({ opening: due, keys }, { keys: ['bad7', 'bad8'] });
  assert.deepEqual([...state.keys.keys()], ['bad7']);
  keys.delete('bad0');
  assert.equal(step({ opening: due, keys }, { keys: ['bad7', 'bad8'] }).state.keys.size, 999);
});

const names = ['a', 'b', 'c', 'd', 'e'];
const anyKey = fc.record({
  failures: fc.nat(4),
  dueMs: fc.constantFrom(0, 49_999, 50_001, 60_000),
  wasCutShort: fc.boolean(),
  isCause: fc.boolean(),
  probed: fc.constantFrom('alive' as const, 'long ended' as const, null),
});
const anyState = fc
  .record({
    pause: fc.option(fc.constant(paused), { freq: 8 }),
    retired: fc.option(fc.constant(retired), { freq: 8 }),
    heldUntilMs: fc.constantFrom(0, 0, 0, 60_000),
    opening: fc.option(fc.constantFrom(opening(0), opening(60_000)), { freq: 2 }),
    largestBatch: fc.constantFrom(1, 2, Number.POSITIVE_INFINITY),
    keys: fc.dictionary(fc.constantFrom(...names), anyKey, { noNullPrototype: true }),
    busy: fc.subarray(names, { maxLength: 2 }),
  })
  .map(({ keys, busy, ...rest }): LaneState => {
    const state: LaneState = { ...INITIAL, ...rest, keys: new Map(Object.entries(keys)) };
    const rows = busy.map((partitionKey): Pick<Delivery, 'partitionKey'> => ({ partitionKey }));
    return { ...occupied(state, rows), calls: busy.length };
  });
const anyQueue = fc.record({
  keys: fc.array(fc.constantFrom(...names), { maxLength: 12 }),
  urgent: fc.subarray(names),
  places: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(2)),
  view: fc.record({
    limits: fc.record({ batch: fc.integer({ min: 1, max: 4 }), batchBytes: fc.constantFrom(20, 1_000) }),
  }),
});

/** Frozen, so that a change of the value that was handed in throws. */
function frozen(state: LaneState): LaneState {
  for (const each of state.keys.values()) Object.freeze(each);
  return Object.freeze({ ...state, opening: state.opening && Object.freeze({ ...state.opening }) });
}

test('for any state and any queue: nothing goes while it may not, no key goes twice, places are kept, and asking changes nothing', () => {
  fc.assert(
    fc.property(anyState, anyQueue, (given, queued) => {
      const before = frozen(given);
      const copies = [new Map(before.keys), new Set(before.busy)];
      const step = next(before, NOW, queueOf(queued));
      assert.deepEqual(next(before, NOW, queueOf(queued)), step, 'the same answer to the same question');
      assert.deepEqual([before.keys, before.busy], copies);
      if (step.kind === 'wait')
        assert.ok(step.untilMs === null || step.untilMs > NOW.elapsedMs, 'a timer in the past would spin');
      if (step.kind === 'wait' || step.kind === 'expire') return;
      assert.deepEqual([before.pause, before.retired, before.heldUntilMs > NOW.elapsedMs], [null, null, false]);
      assert.equal(step.kind === 'probe', before.opening !== null);
      const keysOf = step.batches.map((rows) => new Set(rows.map(({ partitionKey }) => partitionKey)));
      const sent = keysOf.flatMap((each) => [...each]);
      assert.equal(new Set(sent).size, sent.length, 'a key is in one call');
      for (const name of sent) {
        assert.ok(!before.busy.has(name));
        assert.ok(step.state.busy.has(name));
        if (step.kind === 'send') assert.ok((before.keys.get(name)?.dueMs ?? 0) <= NOW.elapsedMs);
      }
      assert.equal(step.state.calls, before.calls + step.batches.length);
      const [places, extra] = queued.places;
      const areUrgent = sent.every((name) => queued.urgent.includes(name));
      if (step.kind === 'send') assert.ok(step.state.calls <= places + (areUrgent ? extra : 0));
      else assert.deepEqual([before.calls, step.batches.flat().length], [0, 1]);
    }),
    { numRuns: 2_000 },
  );
});
