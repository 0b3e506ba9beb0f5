// Appended CloudEvents → what the lanes get, and what becomes of it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import type { QueuePosition } from '../../../src/model/deliveries.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { append, entry, knownEvent, knownState, queuedIds, sinks, testStore } from '../../virtual/outbox-fixture.ts';

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

test('an entry is queued once for each of its sinks, with unchanged bytes', (t) => {
  const store = testStore(t);
  const one = entry('a:scheduled', { partitionKey: 'a', timeMs: 77 });
  append(store, [one], ['audit', 'hooks']);
  append(store, [entry('b:scheduled')], []);
  const [row, ...rest] = store.outbox.queue.queued('hooks', [], 10);
  assert.deepEqual(rest, []);
  assert.deepEqual(row && { ...row, bytes: Buffer.from(row.bytes) }, {
    seq: 2,
    sink: 'hooks',
    id: 'a:scheduled',
    change: 'scheduled',
    partitionKey: 'a',
    timeMs: 77,
    bytes: Buffer.from(one.bytes),
    queuedAtMs: 0,
    attempts: 0,
    endedAtMs: null,
  });
  assert.deepEqual(queuedIds(store.outbox), ['a:scheduled']);
});

test('rows are read in queue order, without the excepted keys, up to the limit', (t) => {
  const store = testStore(t);
  append(
    store,
    ['b:1', 'a:1', 'b:2', 'c:1', 'a:2'].map((id) => entry(id)),
  );
  assert.deepEqual(queuedIds(store.outbox), ['b:1', 'a:1', 'b:2', 'c:1', 'a:2']);
  assert.deepEqual(queuedIds(store.outbox, 'audit', ['a', 'c', 'unheard of']), ['b:1', 'b:2']);
  assert.deepEqual(
    store.outbox.queue.queued('audit', ['b'], 2).map(({ id }) => id),
    ['a:1', 'c:1'],
  );
});

test('a row has the end of its event', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => {
    transaction.saveState(knownState([knownEvent('a', 1)]));
    transaction.append(entry('a:scheduled'), ['audit'], 1);
  });
  assert.equal(store.outbox.queue.queued('audit', [], 1)[0]?.endedAtMs, null);
  store.outbox.transact((transaction) =>
    transaction.saveState(knownState([], { lastGoodAt: { wallMs: 5_000, elapsedMs: 1 } })),
  );
  assert.equal(store.outbox.queue.queued('audit', [], 1)[0]?.endedAtMs, 5_000);
});

test('accepted and dead-lettered rows are no longer queued; failed rows keep their place and count the attempt', (t) => {
  const store = testStore(t);
  append(
    store,
    ['a:1', 'a:2', 'b:1', 'c:1'].map((id) => entry(id)),
  );
  const [first, second, third] = store.outbox.queue.queued('audit', [], 3);
  assert.ok(first && second && third);
  store.outbox.queue.settle(
    'audit',
    [
      { seq: first.seq, result: 'accepted' },
      { seq: second.seq, result: 'failed', status: 503 },
      { seq: third.seq, result: 'dead', reason: 'refused', status: 400 },
    ],
    9,
  );
  store.outbox.queue.settle('audit', [{ seq: second.seq, result: 'failed', status: 'ECONNREFUSED' }], 10);
  assert.deepEqual(
    store.outbox.queue.queued('audit', [], 10).map(({ id, attempts }) => [id, attempts]),
    [
      ['a:2', 2],
      ['c:1', 0],
    ],
  );
});

test('a thousand outcomes are stored at once', (t) => {
  const store = testStore(t, { synchronous: 'FULL' });
  append(
    store,
    Array.from({ length: 1000 }, (_, index) => entry(`e${index}:scheduled`, { occurrence: index + 1 })),
  );
  const rows = store.outbox.queue.queued('audit', [], 1000);
  assert.equal(rows.length, 1000);
  store.outbox.queue.settle(
    'audit',
    rows.map(({ seq }) => ({ seq, result: 'accepted' })),
    1,
  );
  assert.deepEqual(queuedIds(store.outbox), []);
});

test('settlements of another sink, of unknown rows and of rows already settled change nothing', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')], ['audit']);
  const seq = store.outbox.queue.queued('audit', [], 1)[0]?.seq ?? 0;
  store.outbox.queue.settle('hooks', [{ seq, result: 'accepted' }], 1);
  store.outbox.queue.settle('audit', [{ seq: seq + 99, result: 'accepted' }], 1);
  assert.deepEqual(queuedIds(store.outbox), ['a:1']);
  store.outbox.queue.settle('audit', [{ seq, result: 'accepted' }], 1);
  store.outbox.queue.settle('audit', [{ seq, result: 'dead', reason: 'expired', status: null }], 1);
  assert.equal(store.outbox.queue.backlog('audit').dead, 0);
});

test("rows queued up to a moment of the store's own time are found, even if the clock was set in between", async (t) => {
  const store = testStore(t);
  for (const [id, jumpMs] of [
    ['a:1', 0],
    ['a:2', -10 * YEAR_MS],
    ['a:3', 30 * YEAR_MS],
  ] as const) {
    await store.time.advance(100);
    store.time.jumpWall(jumpMs);
    append(store, [entry(id)]);
  }
  const before = (ms: number, limit = 10): string[] =>
    store.outbox.queue.queuedBefore('audit', ms, limit).map(({ id }) => id);
  assert.deepEqual(before(300), ['a:1', 'a:2', 'a:3']);
  assert.deepEqual(before(299), ['a:1', 'a:2']);
  assert.deepEqual(before(300, 1), ['a:1']);
  assert.deepEqual(before(99), []);
});

test('the backlog counts queued and dead rows, and has the time since which the oldest waits', async (t) => {
  const store = testStore(t);
  assert.deepEqual(store.outbox.queue.backlog('audit'), { queued: 0, oldestQueuedAtMs: null, dead: 0 });
  append(store, [entry('a:1')], ['audit']);
  await store.time.advance(100);
  append(store, [entry('a:2')], ['audit', 'hooks']);
  const firstAtMs = store.time.wallMs() - 100;
  assert.deepEqual(store.outbox.queue.backlog('audit'), { queued: 2, oldestQueuedAtMs: firstAtMs, dead: 0 });
  const [row] = store.outbox.queue.queued('audit', [], 1);
  store.outbox.queue.settle('audit', [{ seq: row?.seq ?? 0, result: 'dead', reason: 'expired', status: null }], 1);
  assert.deepEqual(store.outbox.queue.backlog('audit'), { queued: 1, oldestQueuedAtMs: firstAtMs + 100, dead: 1 });
  assert.deepEqual(store.outbox.queue.backlog('hooks'), { queued: 1, oldestQueuedAtMs: firstAtMs + 100, dead: 0 });
});

test('the age of the oldest row does not depend on the date, which follows the current clock', async (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')]);
  await store.time.advance(5_000);
  for (const jumpMs of [6 * YEAR_MS, -50 * YEAR_MS]) {
    store.time.jumpWall(jumpMs);
    assert.equal(store.outbox.queue.backlog('audit').oldestQueuedAtMs, store.time.wallMs() - 5_000);
  }
});

test('a transaction inside another is rejected, and both are rolled back', (t) => {
  const store = testStore(t);
  assert.throws(
    () =>
      store.outbox.transact((transaction) => {
        transaction.append(entry('a:1'), ['audit'], 1);
        append(store, [entry('b:1')]);
      }),
    { code: 'BRIDGE_INTERNAL' },
  );
  assert.deepEqual(queuedIds(store.outbox), []);
  append(store, [entry('c:1')]);
  assert.deepEqual(queuedIds(store.outbox), ['c:1']);
});

test('a retired sink stays retired across restarts, until its configuration changes', (t) => {
  const store = testStore(t);
  const retirement = { reason: 'gone', atMs: 5 };
  assert.equal(store.outbox.queue.retirement('hooks'), null);
  store.outbox.queue.retire('hooks', retirement);
  store.outbox.close();
  using again = openOutbox(store.folder, { deps: store.time, lock: true });
  assert.deepEqual(again.sinks.sync(sinks('audit', 'hooks')), { added: [], removed: [], unretired: [] });
  assert.deepEqual(again.queue.retirement('hooks'), retirement);
  assert.equal(again.queue.retirement('audit'), null);
  const changed = sinks('audit', 'hooks').map((sink) => ({ ...sink, fingerprint: 'two' }));
  assert.deepEqual(again.sinks.sync(changed), { added: [], removed: [], unretired: ['hooks'] });
  assert.equal(again.queue.retirement('hooks'), null);
});

test('an unknown sink can neither be retired nor resumed', (t) => {
  const { outbox } = testStore(t);
  assert.throws(() => outbox.queue.retire('nobody', { reason: 'gone', atMs: 1 }), {
    code: 'BRIDGE_STORE_SINK_UNKNOWN',
  });
  assert.throws(() => outbox.queue.resume('nobody'), { code: 'BRIDGE_STORE_SINK_UNKNOWN' });
});

test('resume lifts a retirement once, only for that sink, and another process notices the change', (t) => {
  const store = testStore(t);
  for (const sink of ['hooks', 'audit']) store.outbox.queue.retire(sink, { reason: `${sink} is gone`, atMs: 5 });
  using beside = openOutbox(store.folder, { deps: store.time, lock: false });
  store.outbox.changedOutside();
  assert.deepEqual(beside.queue.resume('hooks'), { reason: 'hooks is gone', atMs: 5 });
  assert.equal(store.outbox.changedOutside(), true);
  assert.equal(store.outbox.queue.retirement('hooks'), null);
  assert.equal(beside.queue.resume('hooks'), null);
  assert.equal(store.outbox.changedOutside(), false);
  assert.notEqual(store.outbox.queue.retirement('audit'), null);
});

test('an added sink starts empty; rows of a removed sink are dead-lettered, and a sink added again under its name starts empty', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1', { occurrence: 1 }), entry('a:2', { occurrence: 1 })], ['hooks']);
  assert.deepEqual(store.outbox.sinks.sync(sinks('audit', 'later')), {
    added: ['later'],
    removed: [{ sink: 'hooks', deadLettered: 2 }],
    unretired: [],
  });
  assert.deepEqual(queuedIds(store.outbox, 'hooks'), []);
  assert.deepEqual(queuedIds(store.outbox, 'later'), []);
  assert.equal(store.outbox.sinks.wasSent('hooks', 1), false);
  const letters = [...store.outbox.deadLetters.list({ sink: 'hooks' })];
  assert.deepEqual(
    letters.map(({ id, reason, status, attempts }) => ({ id, reason, status, attempts })),
    ['a:1', 'a:2'].map((id) => ({ id, reason: 'sink removed', status: null, attempts: 0 })),
  );
  assert.deepEqual(store.outbox.sinks.sync(sinks('audit', 'hooks', 'later')), {
    added: ['hooks'],
    removed: [],
    unretired: [],
  });
  assert.deepEqual(queuedIds(store.outbox, 'hooks'), []);
});

test('a later change of the same occurrence overtakes rows, whichever sinks get it; approvals do not', (t) => {
  const store = testStore(t);
  const { queue } = store.outbox;
  let position: QueuePosition | null = null;
  /** As a lane looks: at what has moved on since. What a look at the whole queue finds has to be the same. */
  const moved = new Set<string>();
  const superseded = () => {
    const now = queue.position();
    for (const key of queue.movedOn('audit', position)) moved.add(key);
    position = now;
    const found = (keys: readonly string[]) =>
      queue.superseded('audit', keys, 10).map(({ partitionKey }) => partitionKey);
    assert.deepEqual(found([...moved]).toSorted(), found([...new Set(queue.movedOn('audit', null))]).toSorted());
    return found([...moved].toSorted());
  };
  store.outbox.transact((transaction) => {
    transaction.saveState(knownState([knownEvent('a', 1), knownEvent('b', 2)]));
    transaction.append(entry('a:scheduled', { occurrence: 1 }), ['audit'], 1);
    transaction.append(entry('b:scheduled', { occurrence: 2 }), ['audit'], 1);
    transaction.append(entry('b:approval.recorded', { occurrence: 2, change: 'approval.recorded' }), ['audit'], 1);
  });
  const before = superseded();
  append(store, [entry('b:updated', { occurrence: 2, change: 'updated' })], []);
  const changed = superseded();
  store.outbox.transact((transaction) => {
    transaction.saveState(knownState([]));
    transaction.append(entry('a:ended', { occurrence: 1, change: 'ended' }), ['audit'], 1);
  });
  const ended = superseded();
  store.outbox.transact((transaction) => {
    transaction.saveState(knownState([knownEvent('a', 3)]));
    transaction.append(entry('a:scheduled:r2', { occurrence: 3 }), ['hooks'], 1);
  });
  assert.deepEqual([before, changed, ended, superseded()], [[], ['b'], ['a', 'b'], ['a', 'b']]);
  const rows = queue.superseded('audit', ['a', 'b'], 10);
  queue.settle(
    'audit',
    rows.map(({ seq }) => ({ seq, result: 'accepted', status: 'superseded' })),
    5,
  );
  assert.deepEqual(superseded(), []);
  assert.deepEqual(queue.movedOn('audit', queue.position()), [], 'nothing has moved on since');
  assert.ok(store.outbox.replay.queue({ sink: 'audit', sinceMs: 0 }) > 0);
  assert.deepEqual(superseded(), ['a', 'b'], 'what is queued again is judged as well');
});

test('a key that was superseded before a position is not found since then', (t) => {
  const store = testStore(t);
  const { queue } = store.outbox;
  store.outbox.transact((transaction) => transaction.saveState(knownState([knownEvent('a', 1)])));
  append(store, [entry('a:scheduled'), entry('a:updated', { change: 'updated' })]);
  assert.deepEqual([queue.movedOn('audit', null), queue.movedOn('audit', queue.position())], [['a'], []]);
});

test('the status of an acceptance is stored with the delivery', (t) => {
  const store = testStore(t);
  append(store, [entry('a:scheduled'), entry('b:scheduled')]);
  const [first, second] = store.outbox.queue.queued('audit', [], 2).map(({ seq }) => seq);
  store.outbox.queue.settle('audit', [{ seq: first ?? 0, result: 'accepted', status: 'superseded' }], 5);
  store.outbox.queue.settle('audit', [{ seq: second ?? 0, result: 'accepted' }], 5);
  using reader = new DatabaseSync(join(store.folder, 'outbox.db'), { readOnly: true });
  const rows = reader.prepare('SELECT state, status FROM deliveries ORDER BY seq').all();
  assert.deepEqual(
    rows.map(({ state, status }) => [state, status]),
    [
      ['delivered', 'superseded'],
      ['delivered', null],
    ],
  );
});

test('a dead letter is on disk at once, with the outcomes beside it; a power failure may lose others', (t) => {
  const store = testStore(t, { synchronous: 'FULL' });
  const { queue } = store.outbox;
  append(
    store,
    ['a:1', 'b:1', 'c:1', 'd:1'].map((id) => entry(id)),
  );
  using other = new DatabaseSync(join(store.folder, 'outbox.db'));
  other.exec(`CREATE TABLE settled (seq INTEGER, synchronous INTEGER);
    CREATE TRIGGER settles AFTER UPDATE ON deliveries BEGIN
      INSERT INTO settled SELECT new.seq, synchronous FROM pragma_synchronous;
    END`);
  queue.settle('audit', [{ seq: 1, result: 'accepted' }], 1);
  queue.settle('audit', [{ seq: 2, result: 'failed', status: 503 }], 2);
  const dead = { seq: 3, result: 'dead', reason: 'refused', status: 400 } as const;
  queue.settle('audit', [dead, { seq: 4, result: 'accepted' }], 3);
  queue.settle('audit', [{ seq: 2, result: 'accepted' }], 4);
  const [normal, full] = [1, 2];
  assert.deepEqual(
    other
      .prepare('SELECT seq, synchronous FROM settled ORDER BY rowid')
      .all()
      .map((row) => [row['seq'], row['synchronous']]),
    [
      [1, normal],
      [2, normal],
      [3, full],
      [4, full],
      [2, normal],
    ],
  );
});

test('one acceptance among several outcomes is the last one, and a failure is none', (t) => {
  const store = testStore(t);
  const { queue } = store.outbox;
  append(store, [entry('a:1'), entry('b:1')]);
  const lastError = { code: 'BRIDGE_DELIVERY_FAILED', message: 'it failed', atMs: 3 };
  const failed = { seq: 1, result: 'failed', status: 503 } as const;
  queue.settle('audit', [failed], 3, lastError);
  assert.deepEqual(queue.record('audit'), { pause: null, lastAcceptedAtMs: null, lastError });
  queue.settle('audit', [failed, { seq: 2, result: 'accepted' }], 4);
  assert.deepEqual(queue.record('audit'), { pause: null, lastAcceptedAtMs: 4, lastError });
});
