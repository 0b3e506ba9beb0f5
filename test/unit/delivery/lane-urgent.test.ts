// Lane: events with little notice → before all else, in a place of their own, at no cost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR, laneFixture, MINUTE, SECOND } from '../../virtual/lane-fixture.ts';
import { accept, failure } from '../../virtual/scripted-adapter.ts';

type Fixture = ReturnType<typeof laneFixture>;

/** The event of the key is Scheduled, and NotBefore is so far ahead. */
function announce({ store, time }: Fixture, key: string, noticeMs: number): void {
  store.notBefore.set(key, time.wallMs() + noticeMs);
}

/** Every call takes so long. */
function slow({ adapter, time }: Fixture, ms: number): void {
  adapter.answer = (batch) => new Promise((resolve) => time.after(ms, () => resolve(batch.map(() => 'accepted'))));
}

/** Aborts what runs. */
async function end({ lane, time }: Fixture): Promise<void> {
  const closed = lane.close(0);
  await time.advance(0);
  await closed;
}

test('an event with 30 s notice goes next, whatever was queued before it', async () => {
  const fixture = laneFixture({ limits: { inFlight: 16 } });
  const { lane, queue, time, adapter } = fixture;
  slow(fixture, 500);
  for (let index = 0; index < 5_000; index++) queue(`over${index}`);
  lane.start();
  await time.advance(10 * SECOND);
  const at = fixture.watch();
  announce(fixture, 'preempt', 30 * SECOND);
  queue('preempt');
  const fromMs = time.elapsedMs();
  await time.advance(SECOND);
  assert.ok((at.find(({ key }) => key === 'preempt')?.ms ?? Number.POSITIVE_INFINITY) <= fromMs + 500);
  assert.ok(adapter.mostRunning <= 16);
  await end(fixture);
});

test('of several the one with the least notice goes first, each in its own order, and what follows it goes at once', async () => {
  const fixture = laneFixture({ limits: { inFlight: 1 } });
  const { lane, queue, adapter, time } = fixture;
  for (let index = 0; index < 50; index++) queue(`over${index}`);
  for (const id of ['late1', 'late2']) queue('late', { id });
  for (const id of ['soon1', 'soon2', 'approval']) queue('soon', { id });
  queue('far', { id: 'far1' });
  announce(fixture, 'late', 119 * SECOND);
  announce(fixture, 'soon', -SECOND);
  announce(fixture, 'far', 121 * SECOND);
  lane.start();
  await time.advance(100);
  assert.deepEqual(adapter.calls.flat().slice(0, 5), ['soon1', 'soon2', 'approval', 'late1', 'late2']);
  assert.equal(adapter.calls.flat().at(-1), 'far1', 'two minutes are not under two minutes');
});

test('where all places are taken each urgent event finds one more, as many as the adapter says, and nothing else does', async () => {
  const fixture = laneFixture({ limits: { inFlight: 2, urgentInFlight: 2 } });
  const { lane, queue, time, adapter } = fixture;
  slow(fixture, MINUTE);
  for (const key of ['a', 'b', 'c', 'd']) queue(key, { id: key });
  lane.start();
  await time.advance(SECOND);
  for (const key of ['p', 'q', 'r']) {
    announce(fixture, key, 30 * SECOND);
    queue(key, { id: key });
  }
  await time.advance(SECOND);
  assert.deepEqual(adapter.calls.flat(), ['a', 'b', 'p', 'q']);
  await time.advance(58_500);
  assert.deepEqual(adapter.calls.flat(), ['a', 'b', 'p', 'q', 'r'], 'the first places that are free are for it');
  await time.advance(2 * SECOND);
  assert.equal(adapter.mostRunning, 4);
  await time.advance(HOUR);
  assert.deepEqual([adapter.calls.flat().toSorted(), adapter.overlaps], [['a', 'b', 'c', 'd', 'p', 'q', 'r'], []]);
});

test('if the places of a sink become fewer while calls run, urgent rows wait until enough have ended', async () => {
  const fixture = laneFixture({ limits: { inFlight: 3 } });
  const { lane, queue, time, adapter } = fixture;
  slow(fixture, MINUTE);
  for (let index = 0; index < 9; index++) {
    announce(fixture, `p${index}`, 30 * SECOND + index);
    queue(`p${index}`);
  }
  lane.start();
  await time.advance(SECOND);
  adapter.limits = { ...adapter.limits, inFlight: 1 };
  lane.wake();
  await time.advance(SECOND);
  assert.equal(adapter.calls.length, 3);
  await time.advance(MINUTE);
  assert.equal(adapter.calls.length, 4);
  await end(fixture);
});

test('an event that waits for a place finds one when two minutes are left', async () => {
  const fixture = laneFixture({ limits: { inFlight: 1, urgentInFlight: 1, callMs: 2 * HOUR } });
  const { lane, queue, time, adapter } = fixture;
  slow(fixture, HOUR);
  queue('a', { id: 'a' });
  announce(fixture, 'b', 10 * MINUTE);
  queue('b', { id: 'b' });
  lane.start();
  await time.advance(8 * MINUTE - SECOND);
  assert.deepEqual(adapter.calls.flat(), ['a']);
  await time.advance(2 * SECOND);
  assert.deepEqual(adapter.calls.flat(), ['a', 'b']);
  await end(fixture);
});

test('a wall clock that is set forward is noticed within half a minute', async () => {
  const fixture = laneFixture({ limits: { inFlight: 1, urgentInFlight: 1, callMs: 2 * HOUR } });
  const { lane, queue, time, adapter } = fixture;
  slow(fixture, HOUR);
  queue('a', { id: 'a' });
  announce(fixture, 'b', HOUR);
  queue('b', { id: 'b' });
  lane.start();
  await time.advance(MINUTE);
  time.jumpWall(HOUR - MINUTE);
  await time.advance(30 * SECOND);
  assert.deepEqual(adapter.calls.flat(), ['a', 'b']);
  await end(fixture);
});

test('a batch that is being halved lets an urgent event go in between', async () => {
  const fixture = laneFixture({ limits: { inFlight: 1, batch: 64 } });
  const { lane, queue, time, adapter, store } = fixture;
  adapter.answer = (batch) =>
    new Promise((resolve) =>
      time.after(SECOND, () =>
        resolve(
          batch.map(() => (batch.some(({ id }) => id === 'bad') ? failure({ disposition: 'refused' }) : 'accepted')),
        ),
      ),
    );
  for (let index = 0; index < 63; index++) queue(`over${index}`);
  queue('bad', { id: 'bad' });
  lane.start();
  await time.advance(1500);
  announce(fixture, 'p', 30 * SECOND);
  queue('p', { id: 'p' });
  await time.advance(2 * SECOND);
  assert.ok(adapter.calls.flat().includes('p'), 'one call at most comes before it');
  await time.advance(MINUTE);
  assert.deepEqual([store.accepted.length, store.dead.map(({ row }) => row.id)], [64, ['bad']]);
});

test('an event that becomes urgent in a batch that is being halved does not interrupt it', async () => {
  const fixture = laneFixture({ limits: { inFlight: 1, batch: 4 } });
  const { lane, queue, time, adapter } = fixture;
  adapter.answer = (batch) => {
    const outcome = batch.some(({ id }) => id === 'bad') ? failure({ disposition: 'refused' }) : 'accepted';
    return new Promise((resolve) => time.after(SECOND, () => resolve(batch.map(() => outcome))));
  };
  announce(fixture, 'p', 2 * MINUTE + 500);
  for (const id of ['a', 'b', 'p', 'bad']) queue(id, { id });
  lane.start();
  await time.advance(MINUTE);
  assert.deepEqual(adapter.calls, [['a', 'b', 'p', 'bad'], ['a', 'b'], ['p', 'bad'], ['p'], ['bad']]);
});

test('where nothing is urgent, or nothing of it is queued, the store is asked no more than before', async () => {
  const rounds = async (prepare: (fixture: Fixture) => void) => {
    const fixture = laneFixture({ limits: { inFlight: 1 } });
    const { lane, queue, time, store } = fixture;
    for (let index = 0; index < 5_000; index++) queue(`over${index}`);
    prepare(fixture);
    lane.start();
    await time.advance(SECOND);
    assert.equal(store.accepted.length, 5_000);
    return { asked: store.asked.length, askedOf: store.askedOf.length };
  };
  const plain = await rounds(() => {});
  assert.equal(plain.askedOf, 0);
  const far = await rounds((fixture) => announce(fixture, 'far', HOUR));
  assert.deepEqual(far, plain);
  const told = await rounds((fixture) => announce(fixture, 'told before', 30 * SECOND));
  assert.deepEqual([told.asked, told.askedOf], [plain.asked, 1]);
});

test('a sink that fails as a whole is probed with an urgent event first, every other time with it, and every 2 s at least', async () => {
  const fixture = laneFixture({ limits: { inFlight: 1 }, random: () => 0.999 });
  const { lane, queue, time, adapter, store } = fixture;
  adapter.answer = (batch) => batch.map(() => failure({ scope: 'sink' }));
  for (let index = 0; index < 200; index++) queue(`over${index}`);
  lane.start();
  await time.advance(10 * MINUTE);
  const at = fixture.watch();
  const fromMs = time.elapsedMs();
  announce(fixture, 'p', 30 * SECOND);
  queue('p', { id: 'p' });
  await time.advance(30 * SECOND);
  assert.equal(at[0]?.key, 'p');
  const gaps = at.map(({ ms }, index) => ms - (at[index - 1]?.ms ?? fromMs));
  assert.ok(Math.max(...gaps) <= 2 * SECOND, gaps.join());
  assert.ok(at.length < 40, 'and not hammered');
  const own = at.filter(({ key }) => key === 'p').length;
  assert.ok(own >= at.length / 2 - 1 && own < at.length, `${own} of ${at.length}`);
  adapter.answer = accept;
  await time.advance(2 * SECOND);
  assert.ok(store.accepted.some(({ id }) => id === 'p'));
});

test('extra places do not exceed a rate', async () => {
  const fixture = laneFixture({ limits: { inFlight: 1, urgentInFlight: 1, perMinute: 1 } });
  const { lane, queue, time, adapter } = fixture;
  slow(fixture, 90 * SECOND);
  queue('a', { id: 'a' });
  lane.start();
  await time.advance(SECOND);
  announce(fixture, 'p', 30 * SECOND);
  queue('p', { id: 'p' });
  await time.advance(MINUTE);
  assert.deepEqual(adapter.calls.flat(), ['a']);
  await time.advance(2 * MINUTE);
  assert.deepEqual(adapter.calls.flat(), ['a', 'p']);
});
