// A retired sink that another process resumes while its lane runs → the lane delivers again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR, laneFixture, MINUTE, SECOND } from '../../virtual/lane-fixture.ts';
import { accept, always, failure } from '../../virtual/scripted-adapter.ts';

const gone = always(failure({ disposition: 'retired', scope: 'sink', status: 410 }, 'gone for good'));

test('a lane whose retirement is lifted in the store goes on at its next wake: in order, all that is queued', async () => {
  const { lane, queue, time, adapter, store, acceptedIds, logs, statuses } = laneFixture({ answer: gone });
  for (const id of ['a1', 'a2']) queue('a', { id });
  lane.start();
  await time.advance(HOUR);
  queue('b', { id: 'b1' });
  await time.advance(MINUTE);
  assert.equal(adapter.calls.length, 1);
  adapter.answer = accept;
  store.resume('hooks');
  lane.wake();
  await time.advance(SECOND);
  assert.deepEqual(acceptedIds().sort(), ['a1', 'a2', 'b1']);
  assert.ok(acceptedIds().indexOf('a1') < acceptedIds().indexOf('a2'));
  assert.deepEqual(
    statuses.map(({ state }) => state),
    ['delivering', 'retired', 'delivering'],
  );
  assert.equal(lane.status().reason, null);
  assert.equal(logs.filter(({ msg }) => msg.includes('is resumed')).length, 1);
});

test('a resumed sink that is still gone is retired again, and can be resumed again', async () => {
  const { lane, queue, time, adapter, store, logs } = laneFixture({ answer: gone });
  queue('a');
  lane.start();
  for (let round = 1; round <= 3; round++) {
    await time.advance(MINUTE);
    assert.equal(adapter.calls.length, round);
    assert.notEqual(store.retirement('hooks'), null);
    store.resume('hooks');
    lane.wake();
  }
  assert.equal(logs.filter(({ msg }) => msg.includes('wants no more deliveries')).length, 3);
  adapter.answer = accept;
  await time.advance(MINUTE);
  assert.equal(store.accepted.length, 1);
});

test('a retirement that could not be stored yet is not taken for a lifted one', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ answer: gone });
  store.faults.retire = new Error('disk full');
  queue('a');
  lane.start();
  await time.advance(SECOND);
  lane.wake();
  await time.advance(MINUTE);
  assert.deepEqual([adapter.calls.length, lane.status().state], [1, 'retired']);
  delete store.faults.retire;
  await time.advance(MINUTE);
  assert.deepEqual([adapter.calls.length, lane.status().state], [1, 'retired']);
});

test('a sink that is retired until the restart is not resumed by an empty store', async () => {
  const { lane, queue, time, adapter } = laneFixture({
    answer: always(failure({ disposition: 'retired', untilRestart: true })),
  });
  queue('a');
  lane.start();
  await time.advance(SECOND);
  queue('b');
  await time.advance(MINUTE);
  assert.deepEqual([adapter.calls.length, lane.status().state], [1, 'retired']);
});

test('what was wrong before a retirement does not hold up what is resumed', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({
    answer: ([row]) => [
      row?.partitionKey === 'a'
        ? failure({ disposition: 'misconfigured', scope: 'sink', retryAfterMs: HOUR })
        : failure({ disposition: 'retired', scope: 'sink' }),
    ],
  });
  for (const key of ['a', 'b']) queue(key);
  lane.start();
  await time.advance(SECOND);
  assert.equal(lane.status().state, 'retired');
  adapter.answer = accept;
  store.resume('hooks');
  lane.wake();
  await time.advance(SECOND);
  assert.deepEqual([store.accepted.length, lane.status().state], [2, 'delivering']);
});

test('a store that cannot be asked leaves the sink retired until it can', async () => {
  const { lane, queue, time, store } = laneFixture({ answer: gone });
  queue('a');
  lane.start();
  await time.advance(SECOND);
  store.faults.retirement = new Error('disk I/O error');
  store.resume('hooks');
  lane.wake();
  await time.advance(MINUTE);
  assert.equal(lane.status().state, 'retired');
  delete store.faults.retirement;
  await time.advance(MINUTE);
  assert.notEqual(store.retirement('hooks'), null, 'it was asked again, and the endpoint was still gone');
});
