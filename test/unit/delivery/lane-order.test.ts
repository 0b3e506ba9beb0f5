// Lane: order, parallel calls, batches and their refusals.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { laneFixture, SECOND } from '../../virtual/lane-fixture.ts';
import { accept, always, failure, hang } from '../../virtual/scripted-adapter.ts';

test('at most inFlight calls run at once, and a free place is taken at once', async () => {
  const { lane, queue, time, adapter, acceptedIds } = laneFixture({ limits: { inFlight: 3 } });
  const gates: (() => void)[] = [];
  adapter.answer = (batch) => new Promise((resolve) => gates.push(() => resolve(batch.map(() => 'accepted'))));
  for (let index = 0; index < 5; index++) queue(`k${index}`);
  lane.start();
  await time.advance(SECOND);
  assert.equal(adapter.calls.length, 3);
  assert.equal(lane.status().inFlight, 3);
  gates[0]?.();
  await time.advance(SECOND);
  assert.equal(adapter.calls.length, 4);
  for (let index = 1; index < 5; index++) {
    gates[index]?.();
    await time.advance(SECOND);
  }
  assert.equal(acceptedIds().length, 5);
  assert.equal(adapter.mostRunning, 3);
});

test('rows queued while calls run are taken without waiting for them', async () => {
  const { lane, queue, time, adapter } = laneFixture({ answer: hang, limits: { batch: 10 } });
  queue('a', { id: 'a1' });
  lane.start();
  await time.advance(1);
  queue('a', { id: 'a2' });
  queue('b', { id: 'b1' });
  await time.advance(1);
  assert.deepEqual(adapter.calls, [['a1'], ['b1']]);
});

test('a later member that was accepted counts though an earlier one of its key failed', async () => {
  const { lane, queue, time, adapter, acceptedIds } = laneFixture({ limits: { inFlight: 1, batch: 10 } });
  adapter.answer = (batch) =>
    batch.map(({ id }) => (id === 'a1' && adapter.calls.length === 1 ? failure() : 'accepted'));
  for (const id of ['a1', 'a2', 'b1']) queue(id.charAt(0), { id });
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual(adapter.calls, [['a1', 'a2', 'b1'], ['a1']]);
  assert.deepEqual(acceptedIds(), ['a2', 'b1', 'a1']);
});

test('a refusal of several is halved until the one to blame stands alone', async () => {
  const { lane, queue, time, adapter, store, attempts } = laneFixture({ limits: { inFlight: 1, batch: 8 } });
  const refused = failure({ disposition: 'refused', status: 400 });
  adapter.answer = (batch) =>
    always(batch.some(({ id }) => id === 'e') ? refused : 'accepted')(batch, AbortSignal.any([]));
  for (const id of 'abcdefgh') queue(id, { id });
  lane.start();
  await time.advance(0);
  assert.deepEqual(
    adapter.calls.map((ids) => ids.join('')),
    ['abcdefgh', 'abcd', 'efgh', 'ef', 'e', 'f', 'gh'],
  );
  assert.deepEqual(
    store.dead.map(({ row, reason, status }) => [row.id, row.attempts, reason, status]),
    [['e', 0, 'refused', 400]],
  );
  assert.equal(store.accepted.length, 7);
  assert.equal(
    attempts.reduce((sum, { count }) => sum + count, 0),
    8,
  );
});

test('those that the other side names are dead letters at once, and the rest of what was refused goes again together', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ limits: { inFlight: 1, batch: 6 } });
  const bad = new Set(['b', 'e']);
  adapter.answer = (batch) => {
    const [named] = batch.filter(({ id }) => bad.has(id));
    return batch.map(({ id }) =>
      named ? failure({ disposition: 'refused', status: 6, isNamed: id === named.id }) : 'accepted',
    );
  };
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) queue(key, { id: key });
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual(adapter.calls, [
    ['a', 'b', 'c', 'd', 'e', 'f'],
    ['a', 'c', 'd', 'e', 'f'],
    ['a', 'c', 'd', 'f'],
    ['g'],
  ]);
  assert.deepEqual(
    store.dead.map(({ row, status }) => [row.id, status]),
    [
      ['b', 6],
      ['e', 6],
    ],
  );
});

test('several named in one call are all dead letters, beside those that were accepted', async () => {
  const { lane, queue, time, adapter, store, acceptedIds } = laneFixture({ limits: { batch: 3 } });
  adapter.answer = (batch) =>
    batch.map(({ id }) => (id === 'b' ? 'accepted' : failure({ disposition: 'refused', isNamed: true })));
  for (const key of ['a', 'b', 'c']) queue(key, { id: key });
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual([adapter.calls.length, acceptedIds(), store.dead.map(({ row }) => row.id)], [1, ['b'], ['a', 'c']]);
});

test('halving counts as no attempt: what was refused in company expires no sooner', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ limits: { inFlight: 1, batch: 2 }, maxAgeMs: 1 });
  adapter.answer = (batch) => batch.map(() => (batch.length > 1 ? failure({ disposition: 'refused' }) : 'accepted'));
  const old = { queuedAtMs: time.wallMs() - SECOND };
  queue('a', old);
  queue('b', old);
  lane.start();
  await time.advance(SECOND);
  assert.equal(store.accepted.length, 2);
  assert.equal(store.dead.length, 0);
});

test('while a batch is halved, a key that failed in one half does not go on in the other', async () => {
  const { lane, queue, time, adapter, acceptedIds } = laneFixture({
    limits: { inFlight: 1, batch: 4 },
    random: () => 1,
  });
  adapter.answer = (batch) => {
    if (adapter.calls.length === 1) return batch.map(() => failure({ disposition: 'refused' }));
    if (adapter.calls.length === 2)
      return batch.map(({ partitionKey }) => (partitionKey === 'a' ? failure() : 'accepted'));
    return batch.map(() => 'accepted');
  };
  for (const id of ['a1', 'b1', 'a2', 'c1']) queue(id.charAt(0), { id });
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual(adapter.calls, [['a1', 'b1', 'a2', 'c1'], ['a1', 'b1'], ['c1'], ['a1', 'a2']]);
  assert.deepEqual(acceptedIds(), ['b1', 'c1', 'a1', 'a2']);
});

test('a member that was refused in company waits for an earlier one of its key that failed', async () => {
  const { lane, queue, time, adapter, acceptedIds } = laneFixture({
    limits: { inFlight: 1, batch: 3 },
    random: () => 1,
  });
  adapter.answer = (batch) => {
    if (adapter.calls.length > 1) return batch.map(() => 'accepted');
    return batch.map(({ id }) => failure({ disposition: id === 'a1' ? 'retry' : 'refused' }));
  };
  for (const id of ['a1', 'a2', 'b1']) queue(id.charAt(0), { id });
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual(adapter.calls, [['a1', 'a2', 'b1'], ['b1'], ['a1', 'a2']]);
  assert.deepEqual(acceptedIds(), ['b1', 'a1', 'a2']);
});

test('halving stops where the sink asks for a pause', async () => {
  const { lane, queue, time, adapter } = laneFixture({ limits: { inFlight: 1, batch: 4 } });
  adapter.answer = (batch) =>
    batch.map(() => failure(adapter.calls.length === 1 ? { disposition: 'refused' } : { retryAfterMs: 60_000 }));
  for (const key of 'abcd') queue(key);
  lane.start();
  await time.advance(59 * SECOND);
  assert.deepEqual(
    adapter.calls.map(({ length }) => length),
    [4, 2],
  );
});

test('halving stops if the sink retires, fails as a whole, is paused, or its lane closes', async () => {
  for (const stop of ['retires', 'fails', 'is paused', 'closes'] as const) {
    const { lane, queue, time, adapter, store } = laneFixture({ limits: { inFlight: 1, batch: 4 } });
    const ways = {
      retires: () => failure({ disposition: 'retired' }),
      fails: () => failure({ scope: 'sink' }),
      'is paused': () => {
        store.pause('hooks');
        lane.wake();
        return 'accepted' as const;
      },
      closes: () => {
        void lane.close();
        return 'accepted' as const;
      },
    };
    adapter.answer = (batch) => {
      const outcome = adapter.calls.length === 1 ? failure({ disposition: 'refused' }) : ways[stop]();
      return new Promise((resolve) => time.after(10, () => resolve(batch.map(() => outcome))));
    };
    for (const key of 'abcd') queue(key);
    lane.start();
    await time.advance(100);
    assert.deepEqual(
      adapter.calls.map(({ length }) => length),
      [4, 2],
      stop,
    );
    await lane.close(0);
  }
});

test('outcomes that arrive together are stored in one write', async () => {
  const { lane, queue, time, store } = laneFixture({ answer: accept, limits: { inFlight: 50 } });
  for (let index = 0; index < 50; index++) queue(`k${index}`);
  lane.start();
  await time.advance(SECOND);
  assert.equal(store.accepted.length, 50);
  assert.equal(store.settled.length, 1);
});

test('a long queue costs few writes, and little memory at once', async () => {
  const { lane, queue, time, store } = laneFixture({ limits: { inFlight: 8 } });
  for (let index = 0; index < 1000; index++) queue(`k${index}`);
  lane.start();
  await time.advance(SECOND);
  assert.equal(store.accepted.length, 1000);
  assert.ok(store.settled.length <= 20, `${store.settled.length} writes`);
  assert.ok(Math.max(...store.asked.map(({ limit }) => limit)) <= 256);
  assert.ok(Math.max(...store.asked.map(({ except }) => except.length)) <= 128);
});

test('the next batch is under way while what became of the last one is written', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ limits: { inFlight: 1, batch: 100 } });
  for (let index = 0; index < 300; index++) queue(`k${index}`);
  const callsAtWrites: number[] = [];
  const settle = store.settle.bind(store);
  store.settle = (...written: Parameters<typeof settle>) => {
    callsAtWrites.push(adapter.calls.length);
    settle(...written);
  };
  lane.start();
  await time.advance(SECOND);
  assert.equal(store.accepted.length, 300);
  assert.equal(callsAtWrites[0], 2);
});

test('an idle lane has no timer and asks nothing', async () => {
  const { lane, queue, time, store } = laneFixture();
  queue('a');
  lane.start();
  await time.advance(SECOND);
  const asked = store.asked.length;
  assert.equal(time.pending, 0);
  await time.advance(3_600_000);
  assert.equal(store.asked.length, asked);
  assert.equal(lane.status().state, 'delivering');
});

test('nothing happens before start, and many calls of wake are one', async () => {
  const { lane, queue, time, store, adapter } = laneFixture({ answer: hang, limits: { inFlight: 2 } });
  queue('a');
  await time.advance(SECOND);
  assert.equal(adapter.calls.length, 0);
  lane.start();
  for (let index = 0; index < 100; index++) lane.wake();
  await time.advance(SECOND);
  assert.equal(store.asked.length, 1);
});

test('an attempt is counted with the time that its call took', async () => {
  const { lane, queue, time, adapter, attempts } = laneFixture();
  adapter.answer = (batch) => new Promise((resolve) => time.after(700, () => resolve(batch.map(() => 'accepted'))));
  lane.start();
  await time.advance(5 * SECOND);
  queue('a');
  await time.advance(SECOND);
  assert.deepEqual(attempts, [{ outcome: 'accepted', count: 1, durationMs: 700 }]);
});
