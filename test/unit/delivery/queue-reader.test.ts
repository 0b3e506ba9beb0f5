// QueueReader on a store in memory: the rows and places of a sink, its rate, and what is urgent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { AdapterLimits } from '../../../adapters/adapter.ts';
import { QueueReader } from '../../../src/delivery/queue-reader.ts';
import { RequestWindow } from '../../../src/delivery/rate-limiter.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';
import { ScriptedAdapter } from '../../virtual/scripted-adapter.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

function fixture(limits: Partial<AdapterLimits> = {}) {
  const time = new VirtualTime();
  const store = new MemoryLaneStore(time.wallMs);
  const adapter = new ScriptedAdapter(undefined, limits);
  const own = { name: 'hooks', store, deps: time };
  const requests = new RequestWindow({ ...own, logger: pino({ level: 'silent' }) });
  const heldKeys = () => new Set<string>();
  const queue = new QueueReader({ ...own, adapter, requests, heldKeys, isFull: () => false });
  /** In two minutes and so many milliseconds, the event of the key is urgent. */
  const urgentIn = (key: string, ms: number) => store.notBefore.set(key, time.wallMs() + 119_999 + ms);
  /** As in the outbox, whose list of urgent keys is the same one until they change. */
  const keepUrgent = () => {
    const urgent = store.urgent();
    store.urgent = () => urgent;
  };
  const ids = (except: readonly string[], limit: number) => queue.rows(except, limit).map(({ id }) => id);
  const urgentIds = (except: readonly string[], limit: number) =>
    queue.urgentRows(() => except, limit).map(({ id }) => id);
  return { time, store, adapter, queue, urgentIn, keepUrgent, ids, urgentIds };
}

const unprepared = { isNeeded: true, run: async () => {} };

test('calls may begin in the places that are free, and urgent ones in the extra places too', () => {
  const { queue, adapter } = fixture({ inFlight: 3 });
  assert.deepEqual([queue.places(1), queue.urgentPlaces(1)], [2, 2]);
  adapter.limits = { ...adapter.limits, urgentInFlight: 2 };
  assert.deepEqual([queue.places(3), queue.urgentPlaces(3)], [0, 2]);
  assert.equal(queue.limits, adapter.limits);
});

test('as long as a sink is not prepared, one call may begin, whatever its places and its rate', () => {
  const { queue, adapter } = fixture({ inFlight: 3, perMinute: 0 });
  adapter.preparation = unprepared;
  assert.deepEqual([queue.places(0), queue.places(1), queue.urgentPlaces(0), queue.urgentPlaces(2)], [1, 0, 1, 0]);
});

test('no more calls may begin than the rate allows', () => {
  const { queue } = fixture({ inFlight: 5, urgentInFlight: 5, perMinute: 3 });
  queue.rate.begin();
  assert.deepEqual([queue.places(1), queue.urgentPlaces(1)], [2, 2]);
});

test('rows come in queue order while the rate leaves 256 requests or more, and the most urgent first below', () => {
  for (const [perMinute, isPrepared, expected] of [
    [undefined, true, ['a:1', 'b:2']],
    [undefined, false, ['a:1', 'b:2']],
    [256, true, ['a:1', 'b:2']],
    [255, true, ['b:2', 'a:1']],
    [256, false, ['b:2', 'a:1']],
    [null, true, ['a:1', 'b:2']],
    [null, false, ['b:2', 'a:1']],
  ] as const) {
    const { queue, store, adapter, ids } = fixture(perMinute === undefined ? {} : { perMinute });
    for (const key of ['a', 'b']) store.queue('hooks', key);
    store.urgency.set('b', 1);
    adapter.preparation = { ...unprepared, isNeeded: !isPrepared };
    assert.deepEqual(ids([], 2), expected, `${perMinute} ${isPrepared}`);
    assert.deepEqual(ids(['b'], 2), ['a:1']);
    assert.equal(queue.rate.perMinute, perMinute ?? null);
  }
});

test('what was read before the rate got short is read again afterwards', () => {
  const { store, adapter, ids } = fixture();
  for (const key of ['a', 'b']) store.queue('hooks', key);
  assert.deepEqual(ids([], 1), ['a:1']);
  adapter.limits = { ...adapter.limits, perMinute: 1 };
  assert.deepEqual(ids([], 1), ['a:1']);
  store.settle('hooks', [{ seq: 1, result: 'accepted' }]);
  adapter.limits = { ...adapter.limits, perMinute: null };
  assert.deepEqual(ids([], 1), ['b:2']);
});

test('urgent rows are those of events under two minutes, and nothing is asked if there are none', () => {
  const { store, queue, urgentIn, urgentIds } = fixture();
  for (const key of ['a', 'b', 'c']) store.queue('hooks', key);
  const isAsked = () => assert.fail('it is asked for keys though there are no urgent ones');
  assert.deepEqual(queue.urgentRows(isAsked, 9), []);
  assert.equal(queue.isUrgent('b'), false);
  urgentIn('b', 0);
  urgentIn('c', -1);
  urgentIn('a', 1);
  assert.deepEqual([urgentIds([], 9), urgentIds(['c'], 9)], [['c:3', 'b:2'], ['b:2']]);
  assert.deepEqual([queue.isUrgent('b'), queue.isUrgent('a')], [true, false]);
});

test('a key may come before others if it is urgent, or if there is a rate to spend', () => {
  const { queue, adapter, urgentIn } = fixture();
  urgentIn('b', 0);
  assert.deepEqual([queue.isChosen('a'), queue.isChosen('b')], [false, true]);
  adapter.limits = { ...adapter.limits, perMinute: 5 };
  assert.equal(queue.isChosen('a'), true);
});

test('a place is lacking if all are taken and an urgent row waits that may go', () => {
  const { queue, store, urgentIn } = fixture({ inFlight: 1, urgentInFlight: 1 });
  store.queue('hooks', 'a');
  assert.equal(
    queue.lacksPlace(2, () => []),
    false,
  );
  urgentIn('a', 0);
  assert.deepEqual(
    [queue.lacksPlace(1, () => []), queue.lacksPlace(2, () => []), queue.lacksPlace(2, () => ['a'])],
    [false, true, false],
  );
  queue.invalidate();
  store.faults.queued = new Error('disk I/O error');
  assert.equal(
    queue.lacksPlace(2, () => []),
    false,
  );
});

test('if all places are taken, the next event that becomes urgent is looked for in time, and every half minute', () => {
  const { queue, time, urgentIn } = fixture({ urgentInFlight: 1 });
  assert.equal(queue.nextUrgentMs(), null);
  time.pass(5_000);
  urgentIn('a', 29_000);
  assert.equal(queue.nextUrgentMs(), 34_000);
  urgentIn('a', 31_000);
  assert.equal(queue.nextUrgentMs(), 35_000);
  const plain = fixture();
  plain.urgentIn('a', 29_000);
  assert.equal(plain.queue.nextUrgentMs(), null, 'no extra place could be used');
});

test('a used-up rate holds up what is queued, and says until when', () => {
  const { queue, store, adapter, time } = fixture({ perMinute: 1 });
  const hold = (except: readonly string[] = []) => queue.hold(() => except);
  store.queue('hooks', 'a');
  assert.equal(hold(), null);
  queue.rate.begin();
  assert.equal(hold()?.untilMs, null, 'the running request has to end first');
  queue.rate.end();
  assert.deepEqual(hold(), {
    reason: 'its rate of 1 request a minute is used up; the most urgent goes first',
    untilMs: 60_250,
  });
  assert.equal(hold(['a']), null);
  adapter.preparation = unprepared;
  assert.equal(hold(), null);
  delete adapter.preparation;
  adapter.limits = { ...adapter.limits, perMinute: 2 };
  assert.equal(hold(), null);
  queue.rate.begin();
  assert.match(hold()?.reason ?? '', /rate of 2 requests a minute/);
  adapter.limits = { ...adapter.limits, perMinute: null };
  assert.equal(hold(), null);
  adapter.limits = { ...adapter.limits, perMinute: 1 };
  time.pass(120_000);
  queue.rate.end();
  time.pass(61_000);
  assert.equal(hold(), null);
});

test('a row that was sent does not come again, neither as the oldest nor as an urgent one', () => {
  const { queue, store, urgentIn, keepUrgent, ids, urgentIds } = fixture();
  const rows = ['a', 'b', 'a', 'b'].map((key) => store.queue('hooks', key));
  urgentIn('b', 0);
  keepUrgent();
  assert.deepEqual([ids([], 1), urgentIds([], 1)], [['a:1'], ['b:2']]);
  queue.sent(rows.slice(0, 2));
  store.settle('hooks', [
    { seq: 1, result: 'accepted' },
    { seq: 2, result: 'accepted' },
  ]);
  assert.deepEqual([ids([], 1), urgentIds([], 1)], [['a:3'], ['b:4']]);
});

test('rows are read again once the store has changed by other means', () => {
  const { queue, store, urgentIn, keepUrgent, ids, urgentIds } = fixture();
  for (const key of ['a', 'b']) store.queue('hooks', key);
  for (const key of ['a', 'b']) urgentIn(key, 0);
  keepUrgent();
  assert.deepEqual([ids([], 1), urgentIds([], 1)], [['a:1'], ['a:1']]);
  store.settle('hooks', [{ seq: 1, result: 'dead', reason: 'expired', status: null }]);
  queue.invalidate();
  assert.deepEqual([ids([], 1), urgentIds([], 1)], [['b:2'], ['b:2']]);
});

test('two thousand rows are remembered by when their events will have ended long ago; the next one is judged by the clock', () => {
  const { queue, store } = fixture();
  const row = store.queue('hooks', 'a', { endedAtMs: 1_000_000 });
  const isLongEnded = (seq: number, wallMs: number) =>
    queue.isLongEnded({ ...row, seq }, { elapsedMs: 0, wallMs, chance: { key: 0, sink: 0 } });
  for (let seq = 1; seq <= 2000; seq++) isLongEnded(seq, 1_000_000);
  const setForwardMs = 1_000_000 + 3_600_000;
  assert.equal(isLongEnded(1, setForwardMs), false);
  assert.equal(isLongEnded(2001, 1_000_000), false);
  assert.equal(isLongEnded(1, setForwardMs), true);
  assert.equal(isLongEnded(2000, setForwardMs), false);
});

test('an event has ended long ago from 10 min after its end, whatever the wall clock does meanwhile', () => {
  const { queue, store } = fixture();
  const row = store.queue('hooks', 'a', { endedAtMs: 1_000_000 });
  const at = (elapsedMs: number, wallMs: number) =>
    queue.isLongEnded(row, { elapsedMs, wallMs, chance: { key: 0, sink: 0 } });
  assert.equal(at(0, 1_000_000), false);
  assert.equal(at(1_000, 1_001_000 + 3_600_000), false);
  assert.equal(at(599_999, 1_599_999), false);
  assert.equal(at(600_000, 1_600_000 - 3_600_000), true);
  assert.equal(
    queue.isLongEnded(
      { ...row, seq: 9, endedAtMs: null },
      { elapsedMs: 1e12, wallMs: 1e15, chance: { key: 0, sink: 0 } },
    ),
    false,
  );
});
