// Lane: deliveries whose event has changed, started or ended since; outcomes with more to them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { HOUR, laneFixture, MINUTE, SECOND } from '../../virtual/lane-fixture.ts';
import type { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';
import { type Answer, always, failure } from '../../virtual/scripted-adapter.ts';

/** Goes on until its event has moved on, and says so then. */
const untilSuperseded: Answer = (_, signal, superseded) =>
  new Promise((resolve, reject) => {
    superseded?.addEventListener('abort', () => resolve([{ result: 'accepted', status: 'superseded' }]));
    signal.addEventListener('abort', () => reject(signal.reason));
  });

function settledOf(store: MemoryLaneStore): readonly string[] {
  return store.settled
    .flat()
    .map((settlement) => `${settlement.seq} ${settlement.result} ${'status' in settlement ? settlement.status : '-'}`);
}

test('a run whose event has moved on is told so, and what follows in its key goes once it has ended', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ cancels: true, answer: untilSuperseded });
  const row = queue('a', { id: 'a1' });
  const other = queue('b', { id: 'b1' });
  lane.start();
  await time.advance(MINUTE);
  store.overtake(row);
  queue('a', { id: 'a2' });
  await time.advance(SECOND);
  assert.deepEqual(adapter.calls, [['a1'], ['b1'], ['a2']]);
  assert.deepEqual(settledOf(store), [`${row.seq} accepted superseded`]);
  assert.deepEqual(adapter.overlaps, []);
  assert.equal(
    store.open.some(({ seq }) => seq === other.seq),
    true,
  );
});

test('what waits for its retry, or for its key, is not attempted once its event has moved on, and what follows does not wait', async () => {
  const { lane, queue, time, adapter, store, attempts } = laneFixture({
    cancels: true,
    random: () => 1,
    answer: (batch) => batch.map(({ id }) => (id === 'a1' ? failure({ disposition: 'misconfigured' }) : 'accepted')),
  });
  const first = queue('a', { id: 'a1' });
  const second = queue('a', { id: 'a2' });
  lane.start();
  await time.advance(SECOND);
  store.overtake(first, second);
  queue('a', { id: 'a3' });
  await time.advance(SECOND);
  assert.deepEqual(adapter.calls, [['a1'], ['a3']]);
  assert.deepEqual(settledOf(store).slice(1), [
    `${first.seq} accepted superseded`,
    `${second.seq} accepted superseded`,
    '3 accepted -',
  ]);
  assert.equal(
    attempts.filter(({ outcome }) => outcome === 'accepted').reduce((sum, { count }) => sum + count, 0),
    3,
  );
});

test('what was superseded while no process ran is never begun', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ cancels: true });
  store.overtake(queue('a', { id: 'a1' }), queue('b', { id: 'b1' }));
  queue('b', { id: 'b2' });
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual(adapter.calls, [['b2']]);
});

test('a sink that does not cancel delivers everything', async () => {
  const { lane, queue, time, adapter, store } = laneFixture();
  let signal: AbortSignal | null | undefined = null;
  adapter.answer = (batch, _, superseded) => {
    signal = superseded;
    return batch.map(() => 'accepted');
  };
  store.overtake(queue('a', { id: 'a1' }));
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual([adapter.calls, signal], [[['a1']], undefined]);
});

test('a run that is superseded while its lane leaves for a changed configuration ends at once', async () => {
  const { lane, queue, time, store } = laneFixture({ cancels: true, answer: untilSuperseded });
  const row = queue('a');
  lane.start();
  await time.advance(SECOND);
  let isClosed = false;
  const closed = lane
    .leave(() => {})
    .then(() => {
      isClosed = true;
    });
  await time.advance(MINUTE);
  assert.equal(isClosed, false);
  store.overtake(row);
  lane.wake();
  await time.advance(SECOND);
  await closed;
  assert.deepEqual(settledOf(store), [`${row.seq} accepted superseded`]);
});

test('what came too late for its event is a dead letter, and no failure of the sink or of its key', async () => {
  const { lane, queue, time, store, attempts, adapter } = laneFixture({
    random: () => 1,
    answer: (batch) =>
      batch.map(({ id }) =>
        id.endsWith('1') ? failure({ disposition: 'expired', status: 'before start' }) : 'accepted',
      ),
  });
  for (const key of ['a', 'b', 'c', 'd']) for (const nth of [1, 2]) queue(key, { id: `${key}${nth}` });
  lane.start();
  await time.advance(1);
  assert.deepEqual(
    store.dead.map(({ row, reason, status }) => `${row.id} ${reason} ${status}`),
    ['a', 'b', 'c', 'd'].map((key) => `${key}1 expired before start`),
  );
  assert.equal(store.accepted.length, 4);
  assert.equal(adapter.calls.length, 8);
  assert.deepEqual(
    [lane.status().state, attempts.filter(({ outcome }) => outcome === 'expired').length],
    ['delivering', 4],
  );
});

test('what an acceptance says besides is stored with it, and only an announcement or a change can be agreed to', async () => {
  const { lane, queue, time, store } = laneFixture({
    answer: always({ result: 'accepted', status: 'drained', approves: true }),
  });
  queue('a', { id: 'a1' });
  queue('b', { id: 'b1', change: 'updated' });
  queue('c', { id: 'c1', change: 'started' });
  lane.start();
  await time.advance(SECOND);
  const said = { result: 'accepted', status: 'drained' };
  assert.deepEqual(store.settled.flat(), [
    { seq: 1, ...said, approves: 'a1' },
    { seq: 2, ...said, approves: 'b1' },
    { seq: 3, ...said },
  ]);
});

test('a call may take as long as its adapter says, and an adapter as long to close', async () => {
  const { lane, queue, time, adapter, logs } = laneFixture({
    answer: () => new Promise(() => {}),
    limits: { callMs: HOUR, closeMs: 6 * SECOND },
  });
  adapter.onDispose = () => new Promise((resolve) => time.after(5 * SECOND, resolve));
  queue('a');
  lane.start();
  await time.advance(HOUR - MINUTE);
  assert.equal(adapter.calls.length, 1);
  await time.advance(2 * MINUTE);
  assert.ok(adapter.calls.length > 1);
  const closed = lane.close(8 * SECOND);
  await time.advance(14 * SECOND);
  await closed;
  assert.deepEqual(
    logs.filter(({ msg }) => msg.includes('closed cleanly')),
    [],
  );
  assert.ok(logs.some(({ reason }) => String(reason).includes('after 60 min')));
});

test('outcomes that could not be stored are tried at once when something else could', async () => {
  const { lane, queue, time, store } = laneFixture({ random: () => 1 });
  store.faults.settle = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  queue('a');
  lane.start();
  await time.advance(MINUTE);
  delete store.faults.settle;
  lane.wake();
  await time.advance(1);
  assert.equal(store.accepted.length, 1);
});

test('the queue is looked through once; after that only the events that moved on are', async () => {
  const { lane, queue, time, store } = laneFixture({ cancels: true, answer: untilSuperseded, limits: { inFlight: 2 } });
  const rows = Array.from({ length: 2_000 }, (_, index) => queue(`key${index}`));
  store.overtake(...rows.slice(100, 110));
  lane.start();
  await time.advance(SECOND);
  assert.equal(store.accepted.length, 10);
  const looks = store.lookedAt.length;
  for (let round = 0; round < 20; round++) {
    queue(`new${round}`);
    await time.advance(SECOND);
  }
  assert.deepEqual([store.wholeLooks, store.lookedAt.length], [1, looks], 'nothing moved on');
  store.overtake(rows[0] as Delivery, rows[1_000] as Delivery);
  lane.wake();
  await time.advance(SECOND);
  assert.equal(store.accepted.length, 12);
  assert.ok(store.lookedAt.slice(looks).every((keys) => keys.length <= 2));
  assert.equal(store.wholeLooks, 1);
});

test('the store is asked what has moved on only after something may have', async () => {
  const { lane, queue, time, store, adapter } = laneFixture({ cancels: true, answer: untilSuperseded });
  const movedOn = store.movedOn.bind(store);
  let questions = 0;
  store.movedOn = (...asked) => {
    questions += 1;
    return movedOn(...asked);
  };
  const rows = ['a', 'b', 'c'].map((key) => queue(key));
  lane.start();
  await time.advance(SECOND);
  assert.equal(adapter.calls.length, 3);
  const before = questions;
  // The ends of these calls begin others, but move no event on.
  adapter.limits = { ...adapter.limits, inFlight: 1 };
  await time.advance(6 * MINUTE);
  assert.equal(questions, before);
  store.overtake(...rows);
  lane.wake();
  await time.advance(SECOND);
  assert.equal(questions, before + 1);
  assert.equal(store.accepted.length, 3);
});

test('what becomes obsolete while its key is in a call is superseded once the call has failed', async () => {
  const { lane, queue, time, store, adapter } = laneFixture({ cancels: true, limits: { inFlight: 1 } });
  adapter.answer = (_, __, superseded) =>
    new Promise((resolve) => {
      // A program that takes its time to end, and then says that it failed.
      superseded?.addEventListener('abort', () => time.after(10 * SECOND, () => resolve([failure()])));
    });
  const row = queue('a', { id: 'a1' });
  queue('a', { id: 'a2' });
  lane.start();
  await time.advance(SECOND);
  store.overtake(row);
  lane.wake();
  await time.advance(SECOND);
  assert.equal(store.accepted.length, 0);
  adapter.answer = (batch) => batch.map(() => 'accepted');
  await time.advance(MINUTE);
  assert.deepEqual(adapter.calls, [['a1'], ['a2']]);
  assert.deepEqual(settledOf(store).at(1), '1 accepted superseded');
});

test('a store that cannot be read while a lane leaves is logged, and the run ends once it can be', async () => {
  const { lane, queue, time, store, logs } = laneFixture({ cancels: true, answer: untilSuperseded });
  const row = queue('a');
  lane.start();
  await time.advance(SECOND);
  const left = lane.leave(() => {});
  store.overtake(row);
  const movedOn = store.movedOn.bind(store);
  store.movedOn = () => {
    throw new Error('disk I/O error');
  };
  lane.wake();
  await time.advance(SECOND);
  assert.deepEqual(
    logs.map(({ level, reason }) => [level, reason]),
    [[50, 'disk I/O error']],
  );
  store.movedOn = movedOn;
  lane.wake();
  await time.advance(SECOND);
  await left;
  assert.deepEqual(settledOf(store), [`${row.seq} accepted superseded`]);
});

test('a call that has ended is not told any more that its event has moved on', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ cancels: true });
  const signals: (AbortSignal | undefined)[] = [];
  adapter.answer = (batch, _, superseded) => {
    signals.push(superseded);
    return batch.map(() => failure({ disposition: 'misconfigured' }));
  };
  const row = queue('a');
  lane.start();
  await time.advance(1);
  store.overtake(row);
  lane.wake();
  await time.advance(SECOND);
  assert.equal(store.accepted.length, 1);
  assert.deepEqual(
    signals.map((signal) => signal?.aborted),
    [false],
  );
});

test('of many rows that are superseded at once, 500 at a time end, and nearly all of them without an attempt', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ cancels: true, limits: { inFlight: 1 } });
  const rows = Array.from({ length: 1_100 }, (_, index) => queue(`key${index}`));
  store.overtake(...rows);
  lane.start();
  await time.advance(SECOND);
  assert.equal(store.accepted.length, 1_100);
  assert.ok(adapter.calls.length <= 2, `${adapter.calls.length} calls`);
});
