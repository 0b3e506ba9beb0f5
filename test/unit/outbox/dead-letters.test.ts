// Deliveries that were given up, and journalled ones → lists, another try, a way out.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Outbox, openOutbox } from '../../../src/outbox/outbox.ts';
import { scheduledEvent } from '../../support/events.ts';
import { holdStore } from '../../support/store-hold.ts';
import {
  append,
  bury,
  entry,
  knownEvent,
  knownState,
  queuedIds,
  sinks,
  type TestStore,
  testStore,
} from '../../virtual/outbox-fixture.ts';

/** The same store as a verb opens it, beside the one that holds the lock. */
function beside(store: TestStore): Outbox {
  return openOutbox(store.folder, { deps: store.time, lock: false, synchronous: 'OFF' });
}

function letters(outbox: Outbox, choice?: { sink?: string; ids?: string[] }): string[] {
  return [...outbox.deadLetters.list(choice)].map(({ sink, id }) => `${sink} ${id}`);
}

test('a dead letter has its event, sink, reason, time and CloudEvent', (t) => {
  const store = testStore(t);
  const event = scheduledEvent();
  append(store, [entry('a:scheduled', { data: { ...event, previousStatus: null } })]);
  const seq = store.outbox.queue.queued('audit', [], 1)[0]?.seq ?? 0;
  store.outbox.queue.settle('audit', [{ seq, result: 'failed', status: 503 }], 1);
  store.outbox.queue.settle(
    'audit',
    [{ seq, result: 'dead', reason: 'refused', status: 400 }],
    Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  );
  const type = 'io.github.scheduled-events-bridge.scheduled.v1';
  assert.deepEqual(
    [...store.outbox.deadLetters.list()],
    [
      {
        id: 'a:scheduled',
        eventId: event.eventId,
        eventType: event.eventType,
        resources: event.resources,
        sink: 'audit',
        type,
        reason: 'refused',
        status: 400,
        attempts: 2,
        at: '2026-01-02T03:04:05Z',
        cloudEvent: { specversion: '1.0', id: 'a:scheduled', type, data: { ...event, previousStatus: null } },
      },
    ],
  );
});

test('a row that expired without an attempt has no attempts, and one about the source names no event', (t) => {
  const store = testStore(t);
  append(store, [entry('source-blind:1', { change: 'source.blind', key: null, occurrence: null, data: {} })]);
  const seq = store.outbox.queue.queued('audit', [], 1)[0]?.seq ?? 0;
  store.outbox.queue.settle('audit', [{ seq, result: 'dead', reason: 'expired', status: null }], 1);
  const [letter] = store.outbox.deadLetters.list();
  assert.deepEqual([letter?.eventId, letter?.attempts, letter?.status], [null, 0, null]);
});

test('a CloudEvent without data names no event and no resources', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1', { bytes: Buffer.from('{"id":"a:1","type":"t"}') })]);
  bury(store.outbox);
  const letters = [...store.outbox.deadLetters.list()];
  assert.deepEqual(
    letters.map(({ eventId, eventType, resources, type }) => ({ eventId, eventType, resources, type })),
    [{ eventId: null, eventType: null, resources: [], type: 't' }],
  );
});

test('a row that expired after a failed attempt keeps the status of that attempt', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')]);
  const seq = store.outbox.queue.queued('audit', [], 1)[0]?.seq ?? 0;
  store.outbox.queue.settle('audit', [{ seq, result: 'failed', status: 410 }], 1);
  store.outbox.queue.settle('audit', [{ seq, result: 'dead', reason: 'expired', status: null }], 2);
  const [letter] = store.outbox.deadLetters.list();
  assert.deepEqual([letter?.attempts, letter?.status], [1, 410]);
});

test('the list is chosen by sink and by ids', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1'), entry('a:2')], ['audit', 'hooks']);
  bury(store.outbox, 'audit');
  bury(store.outbox, 'hooks');
  assert.deepEqual(letters(store.outbox), ['audit a:1', 'audit a:2', 'hooks a:1', 'hooks a:2']);
  assert.deepEqual(letters(store.outbox, { sink: 'hooks' }), ['hooks a:1', 'hooks a:2']);
  assert.deepEqual(letters(store.outbox, { ids: ['a:2', 'a:9'] }), ['audit a:2', 'hooks a:2']);
  assert.deepEqual(letters(store.outbox, { sink: 'audit', ids: ['a:2'] }), ['audit a:2']);
  assert.deepEqual(letters(store.outbox, { sink: 'nobody' }), []);
});

test('a list longer than one step is complete, and reading it slowly keeps nothing open', (t) => {
  const store = testStore(t);
  const ids = Array.from({ length: 450 }, (_, index) => `e${index}:1`);
  append(
    store,
    ids.map((id) => entry(id)),
  );
  bury(store.outbox);
  using verb = beside(store);
  const read: string[] = [];
  for (const { id } of verb.deadLetters.list()) {
    if (read.length === 0) append(store, [entry('meanwhile:1')]);
    read.push(id);
  }
  assert.deepEqual(read, ids);
});

test('a retried dead letter is queued again behind its key, with the same id and bytes, without attempts or age', async (t) => {
  const store = testStore(t);
  append(store, [entry('a:1'), entry('b:1')]);
  const [first] = store.outbox.queue.queued('audit', [], 1);
  assert.ok(first);
  store.outbox.queue.settle('audit', [{ seq: first.seq, result: 'dead', reason: 'refused', status: 400 }], 1);
  append(store, [entry('a:2')]);
  await store.time.advance(60_000);
  assert.equal(store.outbox.deadLetters.retry({ ids: ['a:1'] }), 1);
  assert.deepEqual(queuedIds(store.outbox), ['b:1', 'a:2', 'a:1']);
  const again = store.outbox.queue.queued('audit', [], 10).at(-1);
  assert.deepEqual([again?.attempts, again?.queuedAtMs, again?.bytes], [0, 60_000, first.bytes]);
  assert.ok((again?.seq ?? 0) > first.seq);
  assert.deepEqual(letters(store.outbox), []);
  assert.equal(store.outbox.deadLetters.retry(), 0);
});

test('dead letters are retried by sink, over more than one step', (t) => {
  const store = testStore(t);
  append(
    store,
    Array.from({ length: 450 }, (_, index) => entry(`e${index}:1`)),
    ['audit', 'hooks'],
  );
  bury(store.outbox, 'audit');
  bury(store.outbox, 'hooks');
  assert.equal(store.outbox.deadLetters.retry({ sink: 'audit' }), 450);
  assert.equal(queuedIds(store.outbox, 'audit').length, 450);
  assert.equal(letters(store.outbox).length, 450);
});

test('dead letters of a removed sink stay: it cannot be retried by name, and all others can', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')], ['audit', 'hooks']);
  bury(store.outbox, 'audit');
  store.outbox.sinks.sync(sinks('audit'));
  assert.throws(() => store.outbox.deadLetters.retry({ sink: 'hooks' }), {
    code: 'BRIDGE_STORE_SINK_UNKNOWN',
    message: /no sink "hooks"; it has "audit"/,
  });
  assert.equal(store.outbox.deadLetters.retry(), 1);
  assert.deepEqual(letters(store.outbox), ['hooks a:1']);
});

test('discarded dead letters are deleted permanently', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1'), entry('a:2')], ['audit', 'hooks']);
  bury(store.outbox, 'audit');
  bury(store.outbox, 'hooks');
  assert.equal(store.outbox.deadLetters.discard({ ids: ['a:1'] }), 2);
  assert.equal(store.outbox.deadLetters.discard({ sink: 'hooks' }), 1);
  assert.deepEqual(letters(store.outbox), ['audit a:2']);
  assert.equal(store.outbox.deadLetters.discard({ sink: 'hooks' }), 0);
});

test('a retry next to a running bridge is visible to it as an outside change, once', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')]);
  bury(store.outbox);
  assert.equal(store.outbox.changedOutside(), false, 'its own writes are none');
  using verb = beside(store);
  assert.equal(verb.deadLetters.retry(), 1);
  assert.equal(store.outbox.changedOutside(), true);
  assert.equal(store.outbox.changedOutside(), false);
  assert.deepEqual(queuedIds(store.outbox), ['a:1']);
});

test('a verb that only reads changes nothing', (t) => {
  const store = testStore(t);
  using verb = beside(store);
  letters(verb);
  assert.equal(store.outbox.changedOutside(), false);
});

test('a verb finds no store if there is none, and creates none', (t) => {
  const { folder, time } = testStore(t);
  const elsewhere = `${folder}-elsewhere`;
  assert.throws(() => openOutbox(elsewhere, { deps: time, lock: false }), {
    code: 'BRIDGE_STORE_MISSING',
    message: new RegExp(elsewhere),
  });
  assert.throws(() => openOutbox(elsewhere, { deps: time, lock: false }), { code: 'BRIDGE_STORE_MISSING' });
});

test('replay queues the journal of a span again for one sink, in its order, at the end of the queue', (t) => {
  const store = testStore(t);
  append(store, [
    entry('a:1', { timeMs: 100 }),
    entry('b:1', { timeMs: 200 }),
    entry('a:2', { timeMs: 300 }),
    entry('c:1', { timeMs: 150 }),
  ]);
  const accepted = store.outbox.queue.queued('audit', [], 2).map(({ seq }) => ({ seq, result: 'accepted' }) as const);
  store.outbox.queue.settle('audit', accepted, 1);
  assert.equal(store.outbox.replay.queue({ sink: 'audit', sinceMs: 100, untilMs: 200 }), 3);
  assert.deepEqual(queuedIds(store.outbox), ['a:2', 'c:1', 'a:1', 'b:1', 'c:1']);
  assert.equal(store.outbox.replay.queue({ sink: 'hooks', sinceMs: 0, eventKey: 'a' }), 2);
  assert.deepEqual(queuedIds(store.outbox, 'hooks'), ['a:1', 'a:2']);
  assert.equal(store.outbox.replay.queue({ sink: 'audit', sinceMs: 301 }), 0);
});

test('replay handles spans longer than one step', (t) => {
  const store = testStore(t);
  const ids = Array.from({ length: 1001 }, (_, index) => `e${index}:1`);
  append(
    store,
    ids.map((id) => entry(id)),
    [],
  );
  assert.equal(store.outbox.replay.queue({ sink: 'audit', sinceMs: 0 }), 1001);
  assert.deepEqual(
    store.outbox.queue.queued('audit', [], 2000).map(({ id }) => id),
    ids,
  );
});

test('a replay that finds nothing needs no lock of the store', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1', { timeMs: 100 })]);
  holdStore(t, store.folder);
  assert.equal(store.outbox.replay.queue({ sink: 'audit', sinceMs: 101 }), 0);
});

test('a sink that got an event by replay counts as having been sent it, while the event lasts', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => {
    transaction.saveState(knownState([knownEvent('a', 1), knownEvent('b', 2)]));
    transaction.append(entry('a:1', { occurrence: 1 }), [], 1);
    transaction.append(entry('b:1', { occurrence: 2 }), [], 1);
  });
  store.outbox.transact((transaction) => transaction.saveState(knownState([knownEvent('b', 2)])));
  store.outbox.replay.queue({ sink: 'hooks', sinceMs: 0 });
  assert.equal(store.outbox.sinks.wasSent('hooks', 1), false);
  assert.equal(store.outbox.sinks.wasSent('hooks', 2), true);
});

test('replay for an unknown sink names the known ones', (t) => {
  const { outbox } = testStore(t);
  assert.throws(() => outbox.replay.queue({ sink: 'nobody', sinceMs: 0 }), {
    code: 'BRIDGE_STORE_SINK_UNKNOWN',
    message: /no sink "nobody"; it has "audit", "hooks"/,
  });
});
