// An operator pauses a sink and resumes it → nothing goes out meanwhile, and all of it afterwards.
import assert from 'node:assert/strict';
import test from 'node:test';
import { DAY, laneFixture, MINUTE, SECOND } from '../../virtual/lane-fixture.ts';
import { always, failure } from '../../virtual/scripted-adapter.ts';

test('a paused sink sends nothing and gives nothing up, however old, and goes on in order once it is resumed', async () => {
  const { lane, queue, time, adapter, store, acceptedIds, statuses, logs } = laneFixture();
  lane.start();
  store.pause('hooks');
  for (const id of ['a1', 'a2']) queue('a', { id });
  await time.advance(2 * DAY);
  assert.deepEqual([adapter.calls.length, store.dead.length, lane.status().reason], [0, 0, 'paused by orders']);
  store.resume('hooks');
  lane.wake();
  await time.advance(SECOND);
  assert.deepEqual(acceptedIds(), ['a1', 'a2']);
  assert.deepEqual(
    statuses.map(({ state }) => state),
    ['paused', 'delivering'],
  );
  assert.equal(logs.filter(({ msg }) => msg.includes('is paused')).length, 1);
  assert.deepEqual(
    logs.filter(({ msg }) => msg.includes('rate')),
    [],
  );
});

test('a pause that was there before the start holds, and one that comes while a delivery runs lets it end', async () => {
  const { lane, queue, time, adapter, store, acceptedIds } = laneFixture();
  store.pause('hooks');
  queue('a', { id: 'a1' });
  lane.start();
  await time.advance(MINUTE);
  assert.equal(adapter.calls.length, 0);
  store.resume('hooks');
  const { promise, resolve } = Promise.withResolvers<void>();
  adapter.answer = async (batch) => {
    await promise;
    return batch.map(() => 'accepted' as const);
  };
  lane.wake();
  await time.advance(SECOND);
  store.pause('hooks');
  queue('a', { id: 'a2' });
  resolve();
  await time.advance(MINUTE);
  assert.deepEqual(acceptedIds(), ['a1']);
  assert.equal(adapter.calls.length, 1);
});

test('paused and retired at once it is shown as paused, and both are lifted together', async () => {
  const { lane, queue, time, store, acceptedIds } = laneFixture();
  store.retire('hooks', { reason: 'gone', atMs: time.wallMs() });
  store.pause('hooks');
  queue('a', { id: 'a1' });
  lane.start();
  await time.advance(SECOND);
  assert.equal(lane.status().state, 'paused');
  store.resume('hooks');
  lane.wake();
  await time.advance(SECOND);
  assert.deepEqual(acceptedIds(), ['a1']);
});

test('why a delivery failed last is stored with its outcome', async () => {
  const { lane, queue, time, store } = laneFixture({
    answer: always(failure({ disposition: 'retry', status: 500 }, 'the far side failed')),
  });
  queue('a');
  lane.start();
  await time.advance(SECOND);
  assert.equal(store.lastError?.message, 'the far side failed');
});
