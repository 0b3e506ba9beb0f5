// Known states, saved and read back by the next process.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import type { KnownEvent, KnownState } from '../../../src/model/events.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { scheduledEvent } from '../../support/events.ts';
import { at, knownEvent, knownState, type TestStore, testStore } from '../../virtual/outbox-fixture.ts';

function save(store: TestStore, state: KnownState): void {
  store.outbox.transact((transaction) => transaction.saveState(state));
}

function reopened(store: TestStore): KnownState {
  store.outbox.close();
  using outbox = openOutbox(store.folder, { deps: store.time, lock: true });
  return outbox.known.load();
}

test('a new store has no state, no blindness and nothing known', (t) => {
  const { outbox } = testStore(t);
  assert.equal(outbox.known.load().lastGoodAt !== null, false);
  assert.equal(outbox.known.blindness(), null);
  assert.deepEqual(outbox.known.load(), {
    incarnation: null,
    apiVersion: null,
    lastGoodAt: null,
    epoch: null,
    emptyRow: null,
    events: new Map(),
    nextOccurrence: 1,
  });
});

test('a state is loaded as it was saved, moments without elapsed time, events in the order of their first document', (t) => {
  const store = testStore(t);
  const missing = { at: at(990_000), scheduledJustBefore: true };
  const events = [
    knownEvent('b', 2),
    knownEvent('a', 3, {
      listed: false,
      lastListedAt: at(980_000),
      missing,
      event: scheduledEvent({ notBefore: null, resources: [] }),
    }),
    knownEvent('__proto__', 4),
  ];
  const state = knownState(events, { incarnation: Number.MAX_SAFE_INTEGER, nextOccurrence: 9 });
  save(store, { ...state, lastGoodAt: { wallMs: 1_000_000, elapsedMs: 17 }, emptyRow: { count: 2, firstAt: at(1) } });
  assert.equal(store.outbox.known.load().lastGoodAt !== null, true);
  assert.deepEqual(reopened(store), state);
});

test('a state without incarnation or epoch is loaded unchanged', (t) => {
  const store = testStore(t);
  const state = knownState([], { incarnation: null, epoch: null });
  save(store, state);
  assert.deepEqual(reopened(store), state);
});

test('the next state replaces changed events and deletes missing ones', (t) => {
  const store = testStore(t);
  const [stays, changes, goes] = [knownEvent('stays', 1), knownEvent('changes', 2), knownEvent('goes', 3)];
  save(store, knownState([stays, changes, goes]));
  const next = knownState(
    [stays, { ...changes, event: scheduledEvent({ eventStatus: 'Started' }) }, knownEvent('new', 4)],
    {
      incarnation: 2,
    },
  );
  save(store, next);
  assert.deepEqual(reopened(store), next);
});

test('an event that is known already is not written again', (t) => {
  const store = testStore(t);
  const events = Array.from({ length: 50 }, (_, index) => knownEvent(`e${index}`, index + 1));
  save(store, knownState(events));
  const reader = new DatabaseSync(join(store.folder, 'outbox.db'));
  t.after(() => reader.close());
  reader.exec(
    `CREATE TABLE written (key TEXT); CREATE TRIGGER spy AFTER INSERT ON known_events BEGIN INSERT INTO written VALUES (new.key); END`,
  );
  save(
    store,
    knownState(
      events.map((event) => (event.key === 'e7' ? { ...event, listed: false } : { ...event })),
      { incarnation: 2 },
    ),
  );
  assert.deepEqual(
    reader
      .prepare('SELECT key FROM written')
      .all()
      .map((row) => row['key']),
    ['e7'],
  );
});

for (const [what, change] of Object.entries<Partial<KnownEvent>>({
  'the content': { event: scheduledEvent({ eventStatus: 'Started' }) },
  'the version of the metadata service': { apiVersion: '2019-01-01' },
  'the epoch': { epoch: 2 },
  'whether it is listed': { listed: false },
  'the time of its last document': { lastListedAt: at(950_000) },
  'since when it is missing': { missing: { at: at(960_000), scheduledJustBefore: true } },
  'whether it was scheduled before it was missing': { missing: { at: at(960_000), scheduledJustBefore: false } },
}))
  test(`an event of which only this has changed is stored: ${what}`, (t) => {
    const store = testStore(t);
    const before = knownEvent('a', 1);
    save(store, knownState([before]));
    const next = knownState([{ ...before, ...change }]);
    save(store, next);
    assert.deepEqual(reopened(store), next);
  });

test('an epoch from before schema 8 has its own begin as that of its row', (t) => {
  const store = testStore(t);
  const state = knownState([], { epoch: { number: 4, startedAt: at(900_000), rowStartedAt: at(700_000) } });
  save(store, state);
  store.outbox.close();
  {
    using older = new DatabaseSync(join(store.folder, 'outbox.db'));
    older.exec('UPDATE known_state SET epoch_row_started_ms = NULL, sum = NULL');
  }
  const startedAt = at(900_000);
  assert.deepEqual(reopened(store), { ...state, epoch: { number: 4, startedAt, rowStartedAt: startedAt } });
});

test('an event has ended when its occurrence is no longer in the state, also if it comes back', (t) => {
  const store = testStore(t);
  save(store, knownState([knownEvent('a', 1)]));
  assert.equal(store.outbox.known.lastEndedMs('a'), null);
  save(store, knownState([], { lastGoodAt: at(1_000_100) }));
  assert.equal(store.outbox.known.lastEndedMs('a'), 1_000_100);
  save(store, knownState([knownEvent('a', 2)], { lastGoodAt: at(1_000_200) }));
  assert.equal(store.outbox.known.lastEndedMs('a'), 1_000_100);
  save(store, knownState([], { lastGoodAt: at(1_000_300) }));
  assert.equal(store.outbox.known.lastEndedMs('a'), 1_000_300, 'its last end counts');
  assert.equal(store.outbox.known.lastEndedMs('never'), null);
});

test('the last occurrence of an event is its newest, ended or not, also if the clock was set back', (t) => {
  const store = testStore(t);
  const last = () => store.outbox.known.lastOccurrence('a');
  save(store, knownState([knownEvent('b', 1)]));
  assert.equal(last(), null);
  save(store, knownState([knownEvent('a', 2)]));
  assert.deepEqual(last(), { occurrence: 2, endedMs: null });
  save(store, knownState([knownEvent('c', 3)], { lastGoodAt: at(1_000_300) }));
  assert.deepEqual(last(), { occurrence: 2, endedMs: 1_000_300 });
  save(store, knownState([knownEvent('a', 4)], { lastGoodAt: at(1_000_100) }));
  assert.deepEqual(last(), { occurrence: 4, endedMs: null });
  save(store, knownState([], { lastGoodAt: at(1_000_200) }));
  assert.deepEqual(last(), { occurrence: 4, endedMs: 1_000_200 });
});

test('an occurrence that replaces another of the same event ends it', (t) => {
  const store = testStore(t);
  save(store, knownState([knownEvent('a', 1)]));
  const next = knownState([knownEvent('a', 2)]);
  save(store, next);
  assert.equal(store.outbox.known.lastEndedMs('a'), 1_000_000);
  assert.deepEqual(reopened(store), next);
});

test('writes of a failed transaction do not count as saved', (t) => {
  const store = testStore(t);
  const before = knownState([knownEvent('a', 1)]);
  save(store, before);
  const next = knownState([knownEvent('b', 2)], { incarnation: 2 });
  assert.throws(
    () =>
      store.outbox.transact((transaction) => {
        transaction.saveState(next);
        throw new Error('no');
      }),
    /^Error: no$/,
  );
  assert.deepEqual(store.outbox.known.load(), before);
  save(store, next);
  assert.deepEqual(reopened(store), next);
});

test('blindness is stored until sight is back', (t) => {
  const store = testStore(t);
  const blindness = { since: '2026-01-01T00:00:00Z', lastDocumentAt: null };
  store.outbox.transact((transaction) => transaction.saveBlindness(blindness));
  store.outbox.close();
  using again = openOutbox(store.folder, { deps: store.time, lock: true });
  assert.deepEqual(again.known.blindness(), blindness);
  again.transact((transaction) => transaction.saveBlindness(null));
  assert.equal(again.known.blindness(), null);
});

test('an event that begins again is stored as its new occurrence, even if its content is the same', (t) => {
  const store = testStore(t);
  const first = knownEvent('a', 1);
  save(store, knownState([first]));
  const again = knownState([{ ...first, occurrence: 2 }]);
  save(store, again);
  assert.deepEqual(store.outbox.known.lastOccurrence('a'), { occurrence: 2, endedMs: null });
  assert.deepEqual(reopened(store), again);
});

test('an occurrence that named this VM once is its own, also after a restart and after its end', (t) => {
  const store = testStore(t);
  save(store, knownState([knownEvent('a', 1), knownEvent('b', 2)]));
  store.outbox.transact((transaction) => {
    transaction.markOwn(1);
    transaction.markOwn(1);
  });
  save(store, knownState([], { nextOccurrence: 3 }));
  store.outbox.close();
  using again = openOutbox(store.folder, { deps: store.time, lock: true });
  assert.deepEqual(
    [1, 2, 3].map((occurrence) => again.known.isOwn(occurrence)),
    [true, false, false],
  );
});

test('a heartbeat stores only the time of the last good document', (t) => {
  const store = testStore(t, { synchronous: 'FULL' });
  const state = knownState([knownEvent('a', 1)]);
  save(store, state);
  assert.equal(store.outbox.heartbeat({ wallMs: 5_000_000, elapsedMs: 3 }), true);
  assert.deepEqual(reopened(store), { ...state, lastGoodAt: at(5_000_000) });
});

test('heartbeats are written at most every two seconds', async (t) => {
  const store = testStore(t);
  save(store, knownState([]));
  const written = (): unknown => store.outbox.known.load().lastGoodAt?.wallMs;
  store.outbox.heartbeat(at(1));
  await store.time.advance(1899);
  assert.equal(store.outbox.heartbeat(at(2)), true);
  assert.equal(written(), 1);
  await store.time.advance(1);
  store.outbox.heartbeat(at(3));
  assert.equal(written(), 3);
});

test('a heartbeat never waits for a lock; only a lock of 5 s is a fault', async (t) => {
  const store = testStore(t);
  save(store, knownState([]));
  const other = new DatabaseSync(join(store.folder, 'outbox.db'));
  t.after(() => other.close());
  const written = (): unknown => store.outbox.known.load().lastGoodAt?.wallMs;
  other.exec('BEGIN IMMEDIATE');
  assert.equal(store.outbox.heartbeat(at(1)), true);
  other.exec('ROLLBACK');
  assert.equal(store.outbox.heartbeat(at(2)), true);
  assert.equal(written(), 2, 'it was due at once');
  await store.time.advance(1900);
  other.exec('BEGIN IMMEDIATE');
  assert.equal(store.outbox.heartbeat(at(3)), true);
  await store.time.advance(4999);
  assert.equal(store.outbox.heartbeat(at(4)), true, 'and who keeps it anew has 5 s again');
  await store.time.advance(1);
  assert.equal(store.outbox.heartbeat(at(5)), false);
  other.exec('ROLLBACK');
  assert.equal(store.outbox.heartbeat(at(6)), false, 'and says so until it is due again');
  await store.time.advance(1000);
  assert.equal(store.outbox.heartbeat(at(7)), true);
  assert.equal(written(), 7);
});

test('a verb that closes the store does not delay the bridge', (t) => {
  const store = testStore(t);
  save(store, knownState([]));
  const other = new DatabaseSync(join(store.folder, 'outbox.db'));
  t.after(() => other.close());
  const log = (): number => statSync(join(store.folder, 'outbox.db-wal')).size;
  const before = log();
  assert.ok(before > 0);
  openOutbox(store.folder, { deps: store.time, lock: false }).close();
  assert.equal(log(), before, 'no checkpoint, which takes the lock of writers');
});

test('the identity is stored, and the observer has one id for the life of the store', (t) => {
  const store = testStore(t);
  const { observerId } = store.outbox.identity.current;
  assert.match(observerId, /^[0-9a-f]{32}$/);
  assert.deepEqual(store.outbox.identity.current, { vmId: null, name: null, source: null, vm: null, observerId });
  store.outbox.identity.save({ vmId: 'vm', name: 'web_0' });
  store.outbox.identity.save({ source: '/subscriptions/s', vm: { zone: '2', tags: { team: 'shop' } } });
  store.outbox.close();
  using again = openOutbox(store.folder, { deps: store.time, lock: true });
  const vm = { zone: '2', tags: { team: 'shop' } };
  assert.deepEqual(again.identity.current, { vmId: 'vm', name: 'web_0', source: '/subscriptions/s', vm, observerId });
});
