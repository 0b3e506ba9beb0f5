// An adapter's limit → never more calls of a lane in any 60 s, over restarts too; urgent first.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Outcome } from '../../../adapters/adapter.ts';
import { HOUR, laneFixture, MINUTE, SECOND } from '../../virtual/lane-fixture.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';
import { accept, always, failure } from '../../virtual/scripted-adapter.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

/** The most calls that began within one minute, wherever that minute lies. */
function mostInAMinute(beganMs: readonly number[]): number {
  return Math.max(0, ...beganMs.map((from) => beganMs.filter((ms) => ms >= from && ms < from + MINUTE).length));
}

/** As kill -9: nothing that the lane still does begins a request or changes what is kept of the rate. */
function kill({ adapter }: ReturnType<typeof laneFixture>, store: MemoryLaneStore): void {
  const kept = store.kept.get('hooks');
  assert.ok(kept !== undefined);
  adapter.limits = { ...adapter.limits, perMinute: 0 };
  store.kept.set('hooks', kept);
}

/** A lane that may send once a minute has sent once, and is closed. */
async function afterOneRequest() {
  const time = new VirtualTime();
  const store = new MemoryLaneStore(time.wallMs);
  const first = laneFixture({ time, store, limits: { perMinute: 1 } });
  first.queue('one');
  first.lane.start();
  await time.advance(SECOND);
  await first.lane.close();
  return { time, store };
}

test('so many as are allowed go at once, the next when a minute has passed, and nothing wakes up in between (W-7)', async () => {
  const { lane, queue, time, watch } = laneFixture({ limits: { perMinute: 3 } });
  const began = watch();
  for (let index = 0; index < 5; index++) queue(`key${index}`);
  lane.start();
  await time.advance(SECOND);
  assert.equal(began.length, 3);
  assert.equal(time.pending, 1, 'one timer, for when the rate lets the next one out');
  await time.advance(58 * SECOND);
  assert.equal(began.length, 3);
  await time.advance(2 * SECOND);
  assert.equal(began.length, 5);
  assert.equal(time.pending, 0);
});

test('a sink that may not be sent to now says so, why, since when and until when, and logs it once', async () => {
  const { lane, queue, time, logs } = laneFixture({ limits: { perMinute: 2 } });
  for (let index = 0; index < 5; index++) queue(`key${index}`);
  lane.start();
  const startMs = time.wallMs();
  await time.advance(SECOND);
  const { state, reason, sinceMs, untilMs } = lane.status();
  assert.equal(state, 'held');
  assert.match(reason ?? '', /rate of 2 requests a minute is used up/);
  assert.equal(sinceMs, startMs);
  assert.ok(untilMs !== null && untilMs >= startMs + MINUTE && untilMs < startMs + MINUTE + SECOND);
  await time.advance(3 * MINUTE);
  assert.equal(lane.status().state, 'delivering');
  assert.equal(lane.status().untilMs, null);
  const told = logs.map(({ msg }) => msg).filter((msg) => msg.includes('rate'));
  assert.deepEqual(told, [
    'more is queued than the rate of this sink lets out: the most urgent goes first',
    'nothing waits for the rate of this sink any more',
  ]);
});

test('failed calls count, and a batch counts once', async () => {
  const failing = laneFixture({ limits: { perMinute: 4 }, answer: always(failure()) });
  const began = failing.watch();
  failing.queue('one');
  failing.lane.start();
  await failing.time.advance(HOUR);
  assert.equal(mostInAMinute(began.map(({ ms }) => ms)), 4);

  const batches = laneFixture({ limits: { perMinute: 2, inFlight: 1, batch: 10 } });
  for (let index = 0; index < 25; index++) batches.queue(`key${index}`);
  batches.lane.start();
  await batches.time.advance(SECOND);
  assert.deepEqual(
    batches.adapter.calls.map(({ length }) => length),
    [10, 10],
  );
});

test('a minute counts from the end of a call, which the other side may have taken at any moment until then', async () => {
  const { lane, queue, time, adapter, watch } = laneFixture({ limits: { perMinute: 1 } });
  adapter.answer = (batch) =>
    new Promise((resolve) => time.after(20 * SECOND, () => resolve(batch.map(() => 'accepted'))));
  const began = watch();
  queue('one');
  queue('two');
  lane.start();
  await time.advance(10 * SECOND);
  assert.equal(lane.status().state, 'held');
  assert.equal(lane.status().untilMs, null, 'the running call has to end first');
  await time.advance(2 * MINUTE);
  assert.equal(began.length, 2);
  assert.ok((began[1]?.ms ?? 0) >= 80 * SECOND);
});

test('the rate may change at any time: a smaller one counts what went before, none at all lets everything out', async () => {
  const { lane, queue, time, adapter, watch } = laneFixture({ limits: { perMinute: 10 } });
  const began = watch();
  for (let index = 0; index < 6; index++) queue(`first${index}`);
  lane.start();
  await time.advance(SECOND);
  assert.equal(began.length, 6);
  adapter.limits = { ...adapter.limits, perMinute: 2 };
  for (let index = 0; index < 4; index++) queue(`second${index}`);
  await time.advance(SECOND);
  assert.equal(began.length, 6);
  await time.advance(MINUTE);
  assert.equal(began.length, 8);
  adapter.limits = { ...adapter.limits, perMinute: null };
  queue('third');
  await time.advance(SECOND);
  assert.equal(began.length, 11);
});

test('what waits has no turn but its urgency: a notice of 30 s goes before a hundred that are over', async () => {
  const { lane, queue, time, store, adapter } = laneFixture({ limits: { perMinute: 2, inFlight: 1 } });
  for (let index = 0; index < 100; index++) queue(`over${index}`, { change: 'ended' });
  lane.start();
  await time.advance(SECOND);
  assert.equal(adapter.calls.length, 2);
  store.urgency.set('soon', 30 * SECOND);
  store.urgency.set('later', 15 * MINUTE);
  queue('later', { change: 'scheduled' });
  const first = queue('soon', { change: 'scheduled' });
  const second = queue('soon', { change: 'updated' });
  await time.advance(61 * SECOND);
  assert.deepEqual(adapter.calls.slice(2), [[first.id], [second.id]], 'and its own order is kept');
  await time.advance(MINUTE);
  assert.match(adapter.calls[4]?.[0] ?? '', /^later/);
  assert.match(adapter.calls[5]?.[0] ?? '', /^over2:/);
});

test('a restart goes on with the window: what was sent counts, and what was running when the process was killed counts from the start', async () => {
  const time = new VirtualTime();
  const store = new MemoryLaneStore(time.wallMs);
  const first = laneFixture({ time, store, limits: { perMinute: 4 } });
  const began = first.watch();
  for (let index = 0; index < 3; index++) first.queue(`key${index}`);
  first.lane.start();
  await time.advance(20 * SECOND);
  first.adapter.answer = () => new Promise(() => {});
  first.queue('running');
  await time.advance(10 * SECOND);
  kill(first, store);

  const second = laneFixture({ time, store, limits: { perMinute: 4 } });
  const again = second.watch();
  for (let index = 0; index < 4; index++) second.queue(`new${index}`);
  second.lane.start();
  await time.advance(SECOND);
  assert.equal(again.length, 0);
  assert.equal(second.lane.status().state, 'held');
  await time.advance(30 * SECOND);
  assert.equal(again.length, 3, 'the three of the first minute no longer count');
  await time.advance(30 * SECOND);
  assert.equal(again.length, 4);
  assert.equal(began.length, 3);
});

test('a kill long after the last request does not count it anew: its end was written down too', async () => {
  const time = new VirtualTime();
  const store = new MemoryLaneStore(time.wallMs);
  const first = laneFixture({ time, store, limits: { perMinute: 3 } });
  for (let index = 0; index < 3; index++) first.queue(`key${index}`);
  first.lane.start();
  await time.advance(50 * SECOND);
  kill(first, store);

  const second = laneFixture({ time, store, limits: { perMinute: 3 } });
  const again = second.watch();
  for (let index = 0; index < 3; index++) second.queue(`new${index}`);
  second.lane.start();
  await time.advance(9 * SECOND);
  assert.equal(again.length, 0);
  await time.advance(2 * SECOND);
  assert.equal(again.length, 3, 'a minute after they ended, not a minute after the start');
});

test('a lane that is closed without having sent anything leaves the window as it was', async () => {
  const { time, store } = await afterOneRequest();
  const idle = laneFixture({ time, store, limits: { perMinute: 1 } });
  await idle.lane.close();
  const third = laneFixture({ time, store, limits: { perMinute: 1 } });
  third.queue('two');
  third.lane.start();
  await time.advance(50 * SECOND);
  assert.equal(store.accepted.length, 1);
  await time.advance(20 * SECOND);
  assert.equal(store.accepted.length, 2);
});

test('a clock that was set back over a restart lets nothing out early', async () => {
  const { time, store } = await afterOneRequest();
  time.jumpWall(-HOUR);
  const second = laneFixture({ time, store, limits: { perMinute: 1 } });
  const began = second.watch();
  second.queue('two');
  second.lane.start();
  await time.advance(59 * SECOND);
  assert.equal(began.length, 0);
  await time.advance(2 * SECOND);
  assert.equal(began.length, 1, 'nor for longer than a minute');
});

test('a store that cannot count does not hold up what is urgent, and is told once', async () => {
  const { lane, queue, time, store, logs, acceptedIds } = laneFixture({ limits: { perMinute: 5 } });
  store.faults.saveRequests = new Error('disk full');
  for (let index = 0; index < 5; index++) queue(`key${index}`);
  lane.start();
  await time.advance(SECOND);
  assert.equal(acceptedIds().length, 5);
  assert.equal(logs.filter(({ msg }) => msg.includes('could not be counted')).length, 1);
});

test('requests that could not be counted in the store are, at the latest, when the lane closes', async () => {
  const { lane, queue, time, store } = laneFixture({ limits: { perMinute: 5 } });
  store.faults.saveRequests = new Error('disk full');
  queue('a');
  lane.start();
  await time.advance(SECOND);
  delete store.faults.saveRequests;
  assert.equal(store.kept.size, 0);
  await lane.close();
  assert.match(store.kept.get('hooks') ?? '', /"ended":\[\[\d+,1\]\]/);
});

test('where the rate cuts the search short, the one that a batch is refused for is found all the same', async () => {
  const { lane, queue, time, store, adapter } = laneFixture({ limits: { perMinute: 1, inFlight: 2, batch: 8 } });
  adapter.answer = (batch) => {
    const refused = batch.some(({ partitionKey }) => partitionKey === 'bad');
    return batch.map((): Outcome => (refused ? failure({ disposition: 'refused' }) : 'accepted'));
  };
  for (const key of ['a', 'b', 'c', 'd', 'e', 'bad', 'f', 'g']) queue(key);
  lane.start();
  await time.advance(10 * MINUTE);
  assert.equal(store.accepted.length, 7);
  assert.deepEqual(
    store.dead.map(({ row, reason }) => [row.partitionKey, reason]),
    [['bad', 'refused']],
  );
});

const script = fc.record({
  seed: fc.integer(),
  perMinute: fc.integer({ min: 1, max: 12 }),
  inFlight: fc.integer({ min: 1, max: 4 }),
  batch: fc.integer({ min: 1, max: 3 }),
  keys: fc.integer({ min: 1, max: 40 }),
  outcomes: fc.array(fc.constantFrom('accepted', 'retry', 'sink', 'misconfigured', 'refused', 'throw'), {
    maxLength: 40,
  }),
  delays: fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 8 }),
  /** When each process ends, and whether it is killed. */
  lives: fc.array(fc.record({ ms: fc.integer({ min: 1, max: 100_000 }), killed: fc.boolean() }), { maxLength: 4 }),
});

test('for any failures and restarts: no 60 s see more arrivals than allowed, and every row ends (W-7)', async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ seed, perMinute, inFlight, batch, keys, outcomes, delays, lives }) => {
      const time = new VirtualTime({ seed });
      const store = new MemoryLaneStore(time.wallMs);
      const arrived: number[] = [];
      let drawn = 0;
      const begin = () => {
        // What a killed process still has to say reaches nobody.
        const life = { alive: true };
        const own = new Proxy(store, {
          get: (target, name) => {
            const value = Reflect.get(target, name) as unknown;
            return typeof value === 'function'
              ? (...given: unknown[]) => (life.alive ? value.apply(target, given) : [])
              : value;
          },
        });
        const { lane, adapter } = laneFixture({ time, store: own, limits: { perMinute, inFlight, batch } });
        adapter.answer = (members, signal) =>
          new Promise((resolve, reject) => {
            if (!life.alive) return;
            const delayMs = delays[drawn % delays.length] ?? 0;
            const outcome = outcomes[drawn++] ?? 'accepted';
            // Anywhere between the beginning and the end of the call.
            let hasArrived = false;
            const arrive = () => {
              if (!hasArrived) arrived.push(time.elapsedMs());
              hasArrived = true;
            };
            time.after(delayMs * time.random(), () => life.alive && arrive());
            signal.addEventListener('abort', () => {
              arrive();
              reject(signal.reason);
            });
            time.after(delayMs, () => {
              if (outcome === 'throw') reject(new Error('a mistake'));
              const details = outcome === 'sink' ? { scope: 'sink' as const } : { disposition: outcome as 'retry' };
              resolve(members.map((): Outcome => (outcome === 'accepted' ? outcome : failure(details))));
            });
          });
        lane.start();
        return { lane, life };
      };
      for (let index = 0; index < keys; index++) store.queue('hooks', `key${index % 15}`);
      for (const { ms, killed } of lives) {
        const { lane, life } = begin();
        await time.advance(ms);
        const closed = lane.close(0);
        if (killed) life.alive = false;
        await time.advance(0);
        await time.advance(0);
        await closed;
      }
      const { lane } = begin();
      await time.advance(8 * HOUR);
      assert.ok(mostInAMinute(arrived) <= perMinute, `${mostInAMinute(arrived)} in a minute, ${perMinute} allowed`);
      assert.deepEqual(store.open, []);
      assert.equal(time.pending, 0);
      await lane.close();
    }),
    { numRuns: 120 },
  );
});

test('a sink without a limit is asked in queue order and keeps no count', async () => {
  const { lane, queue, time, store, acceptedIds } = laneFixture({ answer: accept, limits: { inFlight: 1 } });
  store.urgency.set('soon', 1);
  const ids = ['over', 'soon'].map((key) => queue(key).id);
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual(acceptedIds(), ids);
  assert.equal(store.kept.size, 0);
});
