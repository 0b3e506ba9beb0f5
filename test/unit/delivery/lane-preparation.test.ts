// A handshake before deliveries → the lane tries until it succeeds, and delivers nothing before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR, type LaneFixtureOptions, laneFixture, MINUTE, SECOND } from '../../virtual/lane-fixture.ts';
import { failure } from '../../virtual/scripted-adapter.ts';

/** A lane whose adapter needs a preparation: fails with `error` while that is set, and tells when it was run. */
function unprepared(options: LaneFixtureOptions = {}) {
  const fixture = laneFixture(options);
  const { adapter, time } = fixture;
  const far = {
    error: failure(
      { disposition: 'misconfigured', scope: 'sink', retryWithinMs: 10 * SECOND },
      'no consent',
    ) as Error | null,
    isNeeded: true,
    ranMs: [] as number[],
    onReady: () => {},
  };
  adapter.preparation = {
    get isNeeded() {
      return far.isNeeded;
    },
    run: async () => {
      far.ranMs.push(time.elapsedMs());
      if (far.error !== null) throw far.error;
      far.isNeeded = false;
      far.onReady();
    },
  };
  return { ...fixture, far };
}

test('without it nothing is delivered, it is tried one at a time, and the sink shows why', async () => {
  const { lane, queue, time, adapter, far, store, logs } = unprepared({ limits: { inFlight: 8 } });
  for (let index = 0; index < 20; index++) queue(`key${index}`);
  lane.start();
  await time.advance(MINUTE);
  assert.deepEqual(adapter.calls, []);
  assert.equal(new Set(far.ranMs).size, far.ranMs.length, 'never two at once');
  assert.ok(far.ranMs.length >= 6);
  assert.equal(lane.status().state, 'misconfigured');
  assert.equal(lane.status().reason, 'no consent');
  assert.equal(logs.filter(({ level }) => level >= 40).length, 1, 'told once');
  far.error = null;
  await time.advance(10 * SECOND);
  assert.equal(store.accepted.length, 20);
  assert.equal(lane.status().state, 'delivering');
});

test('an idle lane prepares nothing', async () => {
  const { lane, time, far } = unprepared();
  lane.start();
  await time.advance(HOUR);
  assert.deepEqual(far.ranMs, []);
});

test('an idle lane starts its adapter, once', async () => {
  const { lane, time, adapter } = unprepared();
  let starts = 0;
  adapter.start = async () => void starts++;
  lane.start();
  await time.advance(HOUR);
  assert.equal(starts, 1);
});

test('it is tried at most 10 s apart, though only events are queued that ended long ago', async () => {
  const { lane, queue, time, far } = unprepared({ random: () => 0.999 });
  for (const key of ['a', 'b']) queue(key, { endedAtMs: time.wallMs() - DAY });
  lane.start();
  await time.advance(HOUR);
  const gapsMs = far.ranMs.slice(1).map((ms, index) => ms - (far.ranMs[index] ?? 0));
  assert.ok(gapsMs.length >= 360);
  assert.ok(Math.max(...gapsMs) <= 10 * SECOND);
});

test('the limit that it brings holds from the first delivery on', async () => {
  const { lane, queue, time, adapter, far } = unprepared({ limits: { inFlight: 8, perMinute: null } });
  far.error = null;
  far.onReady = () => {
    adapter.limits = { ...adapter.limits, perMinute: 3 };
  };
  for (let index = 0; index < 20; index++) queue(`key${index}`);
  lane.start();
  await time.advance(30 * SECOND);
  assert.equal(adapter.calls.length, 3);
});

test('it counts against no rate: lost while the rate is used up, it is tried all the same, and what follows waits for the rate', async () => {
  const { lane, queue, time, adapter, far, watch, store } = unprepared({ limits: { perMinute: 1 } });
  const began = watch();
  far.error = null;
  queue('first');
  lane.start();
  await time.advance(SECOND);
  assert.equal(began.length, 1);
  far.isNeeded = true;
  far.error = failure({ disposition: 'misconfigured', scope: 'sink', retryWithinMs: 10 * SECOND }, 'no consent');
  queue('second');
  await time.advance(30 * SECOND);
  assert.ok(far.ranMs.length >= 3);
  far.error = null;
  await time.advance(11 * SECOND);
  assert.equal(far.isNeeded, false);
  assert.equal(began.length, 1);
  assert.equal(lane.status().state, 'held');
  await time.advance(20 * SECOND);
  assert.equal(began.length, 2);
  assert.equal(store.accepted.length, 2);
  assert.equal(adapter.calls.length, 2);
});

test('what is turned away after a preparation that went well stays in trouble, without being told well in between', async () => {
  const { lane, queue, time, adapter, far, logs } = unprepared();
  far.error = null;
  adapter.answer = (batch) => {
    far.isNeeded = true;
    return batch.map(() => failure({ disposition: 'misconfigured', scope: 'sink', status: 403 }, 'forbidden'));
  };
  queue('one');
  lane.start();
  await time.advance(10 * MINUTE);
  assert.ok(adapter.calls.length > 20);
  assert.equal(far.ranMs.length, adapter.calls.length, 'each after a preparation of its own');
  assert.equal(logs.filter(({ level }) => level >= 30).length, 1);
  assert.equal(lane.status().state, 'misconfigured');
});

test('the first preparation is no recovery if it succeeds while the sink is in trouble', async () => {
  const { lane, queue, time, adapter, far, logs } = unprepared();
  far.error = null;
  far.isNeeded = false;
  adapter.answer = (batch) => {
    far.isNeeded = true;
    return batch.map(() => failure({ disposition: 'misconfigured', scope: 'sink', status: 403 }, 'forbidden'));
  };
  queue('one');
  lane.start();
  await time.advance(MINUTE);
  assert.ok(far.ranMs.length >= 3);
  assert.equal(logs.filter(({ msg }) => msg.includes('takes deliveries')).length, 0);
});

test('a probe that is prepared and then has to wait for the rate keeps its turn', async () => {
  const { lane, queue, time, adapter, far } = unprepared({ limits: { inFlight: 1, perMinute: 1 } });
  far.error = null;
  adapter.answer = (batch) => {
    far.isNeeded = true;
    return batch.map(() => failure({ disposition: 'misconfigured', scope: 'sink', status: 403 }, 'forbidden'));
  };
  const [one, other] = ['one', 'other'].map((key) => queue(key));
  lane.start();
  await time.advance(90 * SECOND);
  assert.deepEqual(adapter.calls, [[one?.id], [other?.id]]);
});

test('a probe that is prepared goes out in its turn', async () => {
  const { lane, queue, time, adapter, far } = unprepared({ limits: { inFlight: 1 }, random: () => 0.5 });
  far.error = null;
  adapter.answer = (batch) => {
    far.isNeeded = true;
    return batch.map(() => failure({ scope: 'sink' }));
  };
  const rows = ['one', 'two', 'three'].map((key) => queue(key));
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual(
    adapter.calls.slice(0, 3),
    rows.map(({ id }) => [id]),
  );
});

test('a key that failed before, and whose probe has to wait for the rate behind a preparation, is the next probe', async () => {
  const limits = { inFlight: 1, perMinute: 4 };
  const { lane, queue, time, adapter, far } = unprepared({ limits, random: () => 0.5 });
  far.error = null;
  adapter.answer = (batch) => {
    far.isNeeded = true;
    return batch.map(() => failure({ scope: 'sink' }));
  };
  const [one, two, three] = ['one', 'two', 'three'].map((key) => queue(key).id);
  lane.start();
  await time.advance(59 * SECOND);
  assert.deepEqual(adapter.calls.flat(), [one, two, three, one]);
  await time.advance(3 * SECOND);
  assert.equal(adapter.calls[4]?.[0], two);
});

test('what had to wait for the rate behind a preparation goes in one batch with what was queued since', async () => {
  const { lane, queue, time, adapter, far } = unprepared({ limits: { inFlight: 1, batch: 10, perMinute: 1 } });
  far.error = null;
  queue('first');
  lane.start();
  await time.advance(SECOND);
  far.isNeeded = true;
  queue('a');
  await time.advance(SECOND);
  for (const key of ['b', 'c', 'd']) queue(key);
  await time.advance(MINUTE);
  assert.deepEqual(
    adapter.calls.map(({ length }) => length),
    [1, 4],
  );
});

test('rows that grow too old meanwhile become dead letters, each after an attempt', async () => {
  const { lane, queue, time, store, adapter } = unprepared({ maxAgeMs: HOUR });
  for (let index = 0; index < 3; index++) queue(`key${index}`);
  lane.start();
  await time.advance(2 * HOUR);
  assert.deepEqual(adapter.calls, []);
  assert.deepEqual(
    store.dead.map(({ reason, status }) => [reason, status]),
    Array.from({ length: 3 }, () => ['expired', 'BRIDGE_INTERNAL']),
  );
});

test('one that fails with a foreign error, or never ends, is a failure like any other', async () => {
  const { lane, queue, time, adapter, far } = unprepared();
  far.error = new TypeError('of no contract');
  queue('one');
  lane.start();
  await time.advance(SECOND);
  assert.match(lane.status().reason ?? '', /adapter of sink hooks failed with a TypeError/);
  const hanging = unprepared();
  hanging.adapter.preparation = { isNeeded: true, run: () => new Promise(() => {}) };
  hanging.queue('one');
  hanging.lane.start();
  await hanging.time.advance(6 * MINUTE);
  assert.match(hanging.lane.status().reason ?? '', /had not ended after 5 min/);
  assert.deepEqual([...adapter.calls, ...hanging.adapter.calls], []);
});

test('closing ends one that runs, and the row stays as it was', async () => {
  const { lane, queue, time, store, adapter } = unprepared();
  adapter.preparation = { isNeeded: true, run: () => new Promise(() => {}) };
  queue('one');
  lane.start();
  await time.advance(SECOND);
  const closed = lane.close(0);
  await time.advance(SECOND);
  await closed;
  assert.equal(adapter.disposed, 1);
  assert.equal(store.open[0]?.attempts, 0);
});
