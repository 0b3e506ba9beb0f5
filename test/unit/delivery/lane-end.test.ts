// Lane: rows that are given up, retired sinks, a store that fails, and closing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR, laneFixture, MINUTE, SECOND, WARN } from '../../virtual/lane-fixture.ts';
import { accept, always, failure, hang } from '../../virtual/scripted-adapter.ts';
import { settle } from '../../virtual/virtual-time.ts';

test('a refused delivery is a dead letter at once, and its key goes on', async () => {
  const { lane, queue, time, adapter, store, acceptedIds } = laneFixture();
  adapter.answer = (batch) =>
    batch.map(({ id }) => (id === 'a1' ? failure({ disposition: 'refused', status: 422 }) : 'accepted'));
  queue('a', { id: 'a1' });
  queue('a', { id: 'a2' });
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual(
    store.dead.map(({ row, reason, status }) => [row.id, reason, status]),
    [['a1', 'refused', 422]],
  );
  assert.deepEqual(acceptedIds(), ['a2']);
  assert.equal(time.pending, 0);
});

test('a delivery expires by a failed attempt past maxAge, 24 h by default', async () => {
  const { lane, queue, time, store, attempts } = laneFixture({ answer: always(failure({ status: 'ECONNREFUSED' })) });
  queue('a');
  lane.start();
  await time.advance(DAY - SECOND);
  assert.equal(store.dead.length, 0);
  await time.advance(MINUTE);
  assert.deepEqual(
    store.dead.map(({ reason, status }) => [reason, status]),
    [['expired', 'ECONNREFUSED']],
  );
  assert.equal(attempts.at(-1)?.outcome, 'expired');
  assert.equal(lane.status().state, 'delivering');
  assert.equal(time.pending, 0);
});

test('a delivery far older than maxAge is attempted first', async () => {
  const { lane, queue, time, store } = laneFixture({ maxAgeMs: HOUR });
  queue('a', { queuedAtMs: time.wallMs() - 30 * DAY });
  lane.start();
  await time.advance(SECOND);
  assert.equal(store.accepted.length, 1);
});

test('a retired sink is stored and told once; nothing more is sent, and its old rows expire without an attempt', async () => {
  const { lane, queue, time, adapter, store, logs } = laneFixture({
    answer: always(failure({ disposition: 'retired', status: 410 }, 'gone for good')),
    limits: { inFlight: 1 },
  });
  for (const key of ['a', 'b']) queue(key);
  lane.start();
  await time.advance(MINUTE);
  assert.deepEqual(store.retirement('hooks')?.reason, 'gone for good');
  assert.deepEqual([lane.status().state, lane.status().reason], ['retired', 'gone for good']);
  assert.equal(adapter.calls.length, 1);
  await time.advance(DAY - 2 * MINUTE);
  queue('c');
  assert.equal(store.dead.length, 0);
  await time.advance(3 * MINUTE);
  assert.deepEqual(
    store.dead.map(({ row, reason }) => [row.partitionKey, reason]),
    [
      ['a', 'expired'],
      ['b', 'expired'],
    ],
  );
  assert.equal(store.open.length, 1);
  assert.equal(adapter.calls.length, 1);
  assert.equal(logs.filter(({ msg }) => msg.includes('wants no more deliveries')).length, 1);
  await time.advance(DAY);
  assert.equal(store.dead.length, 3);
  assert.equal(time.pending, 0);
});

test('rows of a retired sink expire when they are due, not at the next look a minute later', async () => {
  const { lane, queue, time, store, attempts, logs } = laneFixture({
    maxAgeMs: 2 * SECOND,
    answer: always(failure({ disposition: 'retired', status: 410 })),
  });
  queue('a');
  lane.start();
  await time.advance(SECOND);
  queue('b');
  lane.wake();
  await time.advance(999);
  assert.equal(store.dead.length, 0);
  await time.advance(1);
  assert.equal(store.dead.length, 1);
  await time.advance(SECOND);
  assert.deepEqual(
    store.dead.map(({ reason, status }) => [reason, status]),
    [
      ['expired', null],
      ['expired', null],
    ],
  );
  assert.deepEqual(
    attempts.slice(1).map(({ outcome }) => outcome),
    ['expired', 'expired'],
  );
  await time.advance(MINUTE);
  assert.equal(logs.filter(({ msg }) => msg.includes('could not be read')).length, 0);
});

test('what expired while a sink was retired is not sent when it is resumed, even if nothing wakes the lane', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ maxAgeMs: HOUR, limits: { inFlight: 1 } });
  adapter.answer = always(failure({ disposition: 'retired' }));
  queue('a', { id: 'a' });
  queue('b', { id: 'b', queuedAtMs: time.wallMs() - HOUR + 10 * SECOND });
  queue('c', { id: 'c' });
  lane.start();
  await time.advance(MINUTE);
  assert.deepEqual(
    store.dead.map(({ row }) => row.id),
    ['b'],
  );
  adapter.answer = accept;
  store.resume('hooks');
  await time.advance(2 * MINUTE);
  assert.deepEqual(adapter.calls, [['a'], ['a'], ['c']]);
});

test('rows of a retired sink are looked at when the first is too old, and once a minute until then', async () => {
  const { lane, queue, time, store } = laneFixture({ maxAgeMs: HOUR });
  store.retire('hooks', { reason: 'gone', atMs: 0 });
  queue('a');
  const queuedBefore = store.queuedBefore.bind(store);
  let looks = 0;
  store.queuedBefore = (...asked) => {
    looks += 1;
    return queuedBefore(...asked);
  };
  lane.start();
  await time.advance(10 * MINUTE);
  assert.equal(looks, 11);
});

test('a row whose call still runs when the sink retires does not expire meanwhile', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ maxAgeMs: HOUR });
  let accepts = () => {};
  adapter.answer = (batch) => {
    if (batch[0]?.partitionKey === 'b') return [failure({ disposition: 'retired' })];
    return new Promise((resolve) => {
      accepts = () => resolve(['accepted']);
    });
  };
  queue('a', { queuedAtMs: time.wallMs() - DAY });
  queue('b');
  lane.start();
  await time.advance(2 * MINUTE);
  assert.equal(lane.status().state, 'retired');
  accepts();
  await time.advance(SECOND);
  assert.deepEqual(
    store.accepted.map(({ partitionKey }) => partitionKey),
    ['a'],
  );
  assert.equal(store.dead.length, 0);
});

test('rows of a retired sink expire in chunks', async () => {
  const { lane, queue, time, store } = laneFixture({ maxAgeMs: HOUR });
  store.retire('hooks', { reason: 'gone', atMs: 0 });
  for (let index = 0; index < 1_200; index++) queue(`k${index % 7}`, { queuedAtMs: time.wallMs() - DAY });
  lane.start();
  await time.advance(SECOND);
  assert.deepEqual(
    store.settled.map(({ length }) => length),
    [500, 500, 200],
  );
});

test('a retirement found at the start pauses the lane at once', async () => {
  const { lane, queue, time, adapter, store, logs } = laneFixture();
  store.retire('hooks', { reason: 'gone', atMs: time.wallMs() });
  queue('a');
  lane.start();
  await time.advance(HOUR);
  assert.equal(adapter.calls.length, 0);
  assert.deepEqual([lane.status().state, lane.status().reason], ['retired', 'gone']);
  assert.equal(logs.filter(({ level }) => level === WARN).length, 1);
});

test('a sink retired until the restart is not stored as retired', async () => {
  const { lane, queue, time, store } = laneFixture({
    answer: always(failure({ disposition: 'retired', untilRestart: true })),
  });
  queue('a');
  lane.start();
  await time.advance(MINUTE);
  assert.equal(lane.status().state, 'retired');
  assert.equal(store.retirement('hooks'), null);
});

test('a retirement that could not be stored is stored later', async () => {
  const { lane, queue, time, store } = laneFixture({ answer: always(failure({ disposition: 'retired' })) });
  store.faults.retire = new Error('disk full');
  queue('a');
  lane.start();
  await time.advance(MINUTE);
  assert.equal(store.retirement('hooks'), null);
  assert.equal(store.open[0]?.attempts, 1);
  delete store.faults.retire;
  await time.advance(MINUTE);
  assert.notEqual(store.retirement('hooks'), null);
});

test('what was accepted while the disk was full is not sent again, and its key waits', async () => {
  const { lane, queue, time, adapter, store, acceptedIds, logs } = laneFixture();
  store.faults.settle = new Error('disk full');
  queue('a', { id: 'a1' });
  queue('a', { id: 'a2' });
  queue('b', { id: 'b1' });
  lane.start();
  await time.advance(HOUR);
  assert.deepEqual(adapter.calls, [['a1'], ['b1']]);
  delete store.faults.settle;
  await time.advance(MINUTE);
  assert.deepEqual(acceptedIds(), ['a1', 'b1', 'a2']);
  assert.equal(logs.filter(({ msg }) => msg.includes('could not be stored;')).length, 1);
  assert.equal(logs.filter(({ msg }) => msg.includes('can be stored again')).length, 1);
});

test('no more is sent than can be kept while the disk is full', async () => {
  const { lane, queue, time, adapter, store } = laneFixture();
  store.faults.settle = new Error('disk full');
  for (let index = 0; index < 500; index++) queue(`k${index}`);
  lane.start();
  await time.advance(HOUR);
  assert.ok(adapter.calls.length <= 72, `${adapter.calls.length} calls`);
  delete store.faults.settle;
  await time.advance(MINUTE);
  assert.equal(store.accepted.length, 500);
  assert.equal(adapter.calls.length, 500);
});

test('a store that cannot be read is read again', async () => {
  for (const method of ['queued', 'retirement'] as const) {
    const { lane, queue, time, store, logs } = laneFixture();
    store.faults[method] = new Error('disk I/O error');
    queue('a');
    lane.start();
    await time.advance(MINUTE);
    delete store.faults[method];
    await time.advance(10 * SECOND);
    assert.equal(store.accepted.length, 1);
    assert.equal(logs.filter(({ level, msg }) => level > WARN && msg.includes('could not be read')).length, 1);
  }
});

test('closing lets running deliveries end, begins no more, then disposes the adapter', async () => {
  const { lane, queue, time, adapter, acceptedIds } = laneFixture({ limits: { inFlight: 1 } });
  const order: string[] = [];
  adapter.onDispose = async () => {
    order.push('disposed');
  };
  let end = () => {};
  adapter.answer = (batch) =>
    new Promise((resolve) => {
      end = () => resolve(batch.map(() => 'accepted'));
    });
  queue('a');
  queue('b');
  lane.start();
  await time.advance(1);
  const closed = lane.close().then(() => order.push('closed'));
  await time.advance(9 * SECOND);
  assert.deepEqual(order, []);
  end();
  await time.advance(0);
  await closed;
  assert.deepEqual(order, ['disposed', 'closed']);
  assert.equal(acceptedIds().length, 1);
  queue('c');
  lane.start();
  await time.advance(MINUTE);
  assert.equal(adapter.calls.length, 1);
  assert.equal(time.pending, 0);
});

test('closing aborts what has not ended after the grace, and leaves it queued as it was', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ answer: hang });
  queue('a');
  lane.start();
  await time.advance(1);
  const closed = lane[Symbol.asyncDispose]();
  await time.advance(10 * SECOND);
  await closed;
  assert.equal(adapter.disposed, 1);
  assert.deepEqual(
    store.open.map(({ attempts }) => attempts),
    [0],
  );
  assert.equal(time.pending, 0);
});

test('closing ends though the adapter heeds no abort and its dispose hangs', async () => {
  const { lane, queue, time, adapter, logs } = laneFixture({ answer: () => new Promise(() => {}) });
  adapter.onDispose = () => new Promise(() => {});
  queue('a');
  lane.start();
  await time.advance(1);
  const closed = lane.close(SECOND);
  await time.advance(5 * SECOND);
  await closed;
  assert.ok(logs.some(({ msg }) => msg.includes('closed cleanly')));
  assert.equal(time.pending, 0);
});

test('closing tells of a dispose that fails, and does not fail itself', async () => {
  const { lane, time, adapter, logs } = laneFixture();
  adapter.onDispose = () => Promise.reject(new Error('no way'));
  const closed = lane.close();
  await time.advance(0);
  await closed;
  assert.ok(logs.some(({ reason }) => reason === 'no way'));
});

test('closing twice disposes once, also of a lane that never started', async () => {
  const { lane, time, adapter } = laneFixture();
  const both = Promise.all([lane.close(), lane.close()]);
  await time.advance(0);
  await both;
  assert.equal(adapter.disposed, 1);
  assert.equal(adapter.calls.length, 0);
});

test('closing stores what has just been accepted, and says so where it cannot', async () => {
  for (const fault of [undefined, new Error('disk full')]) {
    const { lane, queue, time, store, logs } = laneFixture({ answer: accept });
    if (fault) store.faults.settle = fault;
    queue('a');
    lane.start();
    await settle();
    assert.equal(store.accepted.length, 0);
    const closed = lane.close();
    await time.advance(0);
    await closed;
    assert.equal(store.accepted.length, fault ? 0 : 1);
    assert.equal(logs.filter(({ msg }) => msg.includes('repeated after the next start')).length, fault ? 1 : 0);
  }
});

test('a lane that leaves gives a running call all its time; a limit that is set later counts from then on', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ answer: hang });
  queue('a');
  lane.start();
  await time.advance(SECOND);
  let hasEnded = false;
  void lane
    .leave(() => {})
    .then(() => {
      hasEnded = true;
    });
  queue('b');
  await time.advance(4 * MINUTE);
  assert.deepEqual([hasEnded, adapter.calls.length], [false, 1]);
  const closed = lane.close(SECOND);
  await time.advance(SECOND);
  await closed;
  assert.deepEqual([hasEnded, adapter.disposed, store.accepted.length, time.pending], [true, 1, 0, 0]);
});

test('a lane that leaves has ended once what its calls brought is stored, and says when their keys are free', async () => {
  const { lane, queue, time, adapter, store } = laneFixture();
  adapter.answer = (batch) => new Promise((resolve) => time.after(MINUTE, () => resolve(batch.map(() => 'accepted'))));
  queue('a');
  lane.start();
  await time.advance(SECOND);
  const told: string[] = [];
  void lane.leave(() => told.push('released')).then(() => told.push('ended'));
  assert.deepEqual(lane.busyKeys(), ['a']);
  store.faults.settle = new Error('disk full');
  await time.advance(2 * MINUTE);
  assert.deepEqual([told, lane.busyKeys(), adapter.disposed], [[], ['a'], 1]);
  delete store.faults.settle;
  await time.advance(10 * SECOND);
  assert.deepEqual([told, lane.busyKeys(), store.accepted.length], [['released', 'ended'], [], 1]);
});

test('a lane that leaves begins nothing behind its preparation, and stores no retirement that it learnt before', async () => {
  const { lane, queue, time, adapter, store } = laneFixture({ limits: { inFlight: 1 } });
  let isPrepared = false;
  adapter.preparation = {
    get isNeeded() {
      return !isPrepared;
    },
    run: () =>
      new Promise((resolve) =>
        time.after(SECOND, () => {
          isPrepared = true;
          resolve();
        }),
      ),
  };
  queue('a');
  lane.start();
  await time.advance(500);
  const left = lane.leave(() => {});
  await time.advance(SECOND);
  await left;
  assert.deepEqual([adapter.calls.length, store.open.length], [0, 1]);

  const retiring = laneFixture({ answer: always(failure({ disposition: 'retired', status: 410 })) });
  retiring.store.faults.retire = new Error('disk full');
  retiring.queue('a');
  retiring.lane.start();
  await retiring.time.advance(SECOND);
  const gone = retiring.lane.leave(() => {});
  delete retiring.store.faults.retire;
  await retiring.time.advance(MINUTE);
  await gone;
  assert.equal(retiring.store.retirement('hooks'), null);
});

test('keys that another lane holds are not called, probed, superseded or expired until they are free', async () => {
  const held = new Set(['a']);
  const { lane, queue, time, adapter, store } = laneFixture({ heldKeys: () => held, cancels: true, maxAgeMs: HOUR });
  const row = queue('a');
  store.overtake(row);
  queue('b');
  lane.start();
  await time.advance(MINUTE);
  assert.deepEqual([adapter.calls, store.open.length], [[['b:2']], 1]);
  adapter.answer = always(failure({ scope: 'sink' }));
  queue('c');
  await time.advance(MINUTE);
  assert.ok(adapter.calls.flat().every((id) => !id.startsWith('a')));
  store.retire('hooks', { reason: 'gone', atMs: 0 });
  held.clear();
  lane.wake();
  await time.advance(SECOND);
  assert.ok(
    store.accepted.some(({ partitionKey }) => partitionKey === 'a'),
    'superseded, once it is free',
  );
});

test('a call that fails after its lane has left counts for its row, and says nothing of the sink', async () => {
  for (const [disposition, ending, attempts, dead] of [
    ['misconfigured', 'it goes again by the new ones', [1], 0],
    ['retired', 'it goes again by the new ones', [1], 0],
    ['refused', 'it is a dead letter now', [], 1],
  ] as const) {
    const { lane, queue, time, adapter, store, logs } = laneFixture();
    adapter.answer = (batch) =>
      new Promise((resolve) => time.after(SECOND, () => resolve(batch.map(() => failure({ disposition })))));
    queue('a');
    lane.start();
    await time.advance(1);
    const left = lane.leave(() => {});
    await time.advance(MINUTE);
    await left;
    assert.deepEqual([store.open.map((row) => row.attempts), store.dead.length], [attempts, dead]);
    assert.deepEqual(
      logs.map(({ msg }) => msg.endsWith(ending)),
      [true],
    );
    assert.deepEqual([store.retirement('hooks'), lane.status().state], [null, 'delivering']);
  }
});

test('a preparation that fails after its lane has left counts for the rows that waited for it', async () => {
  const { lane, queue, time, adapter, store, logs } = laneFixture();
  adapter.preparation = {
    isNeeded: true,
    run: () => new Promise((_, reject) => time.after(SECOND, () => reject(failure({}, 'no consent')))),
  };
  queue('a');
  lane.start();
  await time.advance(1);
  const left = lane.leave(() => {});
  await time.advance(MINUTE);
  await left;
  assert.deepEqual([adapter.calls.length, store.open[0]?.attempts], [0, 1]);
  assert.deepEqual(
    logs.map(({ reason }) => reason),
    ['no consent'],
  );
});

test('a lane that leaves while the disk is full ends when it is closed, and says once what will be repeated', async () => {
  const { lane, queue, time, store, logs } = laneFixture();
  store.faults.settle = new Error('disk full');
  queue('a');
  lane.start();
  await time.advance(SECOND);
  let hasEnded = false;
  void lane
    .leave(() => {})
    .then(() => {
      hasEnded = true;
    });
  await time.advance(MINUTE);
  const repeated = () => logs.filter(({ msg }) => msg.includes('repeated after the next start')).length;
  assert.deepEqual([hasEnded, repeated()], [false, 0]);
  const closed = lane.close(SECOND);
  await time.advance(SECOND);
  await closed;
  assert.deepEqual([hasEnded, repeated(), time.pending], [true, 1, 0]);
});

test('after a lane has left, its calls can be given a limit, and its adapter is disposed even if the disk is full', async () => {
  const { lane, queue, time, adapter, store } = laneFixture();
  store.faults.settle = new Error('disk full');
  queue('a');
  lane.start();
  await time.advance(SECOND);
  adapter.answer = hang;
  queue('b');
  await time.advance(SECOND);
  let hasEnded = false;
  void lane
    .leave(() => {})
    .then(() => {
      hasEnded = true;
    });
  const disposed = lane.disposed(MINUTE);
  await time.advance(MINUTE - 1);
  assert.equal(adapter.disposed, 0);
  await time.advance(1);
  await disposed;
  assert.deepEqual([adapter.disposed, hasEnded], [1, false]);
});

test('a lane that is closed leaves no timer behind, and asks the store nothing more', async () => {
  const { lane, queue, time, store } = laneFixture({ answer: always(failure()), cancels: true });
  queue('a');
  lane.start();
  await time.advance(SECOND);
  const closed = lane.close();
  await time.advance(0);
  await closed;
  assert.equal(time.pending, 0);
  let asked = store.asked.length;
  store.movedOn = () => {
    asked = -1;
    return [];
  };
  lane.wake();
  await time.advance(MINUTE);
  assert.equal(asked, store.asked.length);
});

test('each time that a store cannot be read any more is logged', async () => {
  const { lane, queue, time, store, logs } = laneFixture();
  lane.start();
  for (const id of ['a1', 'a2']) {
    store.faults.queued = new Error('disk I/O error');
    queue('a', { id });
    await time.advance(HOUR);
    delete store.faults.queued;
    await time.advance(10 * SECOND);
  }
  assert.equal(logs.filter(({ level, msg }) => level > WARN && msg.includes('could not be read')).length, 2);
});

test('what an adapter works on is what its lane has running', () => {
  const { lane, adapter } = laneFixture();
  assert.deepEqual(lane.running(), []);
  const work = { seq: 1, eventId: null, sinceMs: 5, attempt: 1, last: null };
  Object.assign(adapter, { running: () => [work] });
  assert.deepEqual(lane.running(), [work]);
});

test('closing waits for all running calls, not for the first that ends', async () => {
  const { lane, queue, time, adapter, acceptedIds } = laneFixture();
  adapter.answer = ([row]) =>
    new Promise((resolve) => time.after(row?.id === 'a' ? SECOND : 5 * SECOND, () => resolve(['accepted'])));
  for (const id of ['a', 'b']) queue(id, { id });
  lane.start();
  await time.advance(1);
  const closed = lane.close();
  await time.advance(2 * SECOND);
  assert.equal(adapter.disposed, 0);
  await time.advance(4 * SECOND);
  await closed;
  assert.deepEqual([acceptedIds(), adapter.disposed], [['a', 'b'], 1]);
});
