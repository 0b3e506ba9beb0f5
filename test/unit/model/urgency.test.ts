// Known events and queued rows → which a sink with a rate gets first; what the store keeps.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { keysByUrgency, UrgentEvents, urgentAmong } from '../../../src/model/urgency.ts';
import { Database } from '../../../src/outbox/database.ts';
import { MIGRATIONS, migrate } from '../../../src/outbox/migrations/schema.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { scheduledEvent } from '../../support/events.ts';
import {
  append,
  entry,
  knownEvent,
  knownState,
  sinks,
  temporaryFolder,
  testStore,
} from '../../virtual/outbox-fixture.ts';

const NOW = Date.UTC(2026, 0, 1);
const after = (seconds: number) => new Date(NOW + seconds * 1000).toISOString().replace('.000Z', 'Z');

function known(key: string, occurrence: number, event: Parameters<typeof scheduledEvent>[0]) {
  return knownEvent(key, occurrence, { event: scheduledEvent({ eventId: key.toUpperCase(), ...event }) });
}

const EVENTS = [
  known('later', 1, { notBefore: after(900) }),
  known('started', 2, { eventStatus: 'Started', notBefore: null }),
  known('soon', 3, { notBefore: after(30) }),
  known('overdue', 4, { notBefore: after(-5) }),
  known('tomorrow', 5, { notBefore: after(86_400) }),
  known('unknown', 6, { notBefore: null }),
];

test('less time left sorts first; without NotBefore no time is left; a started event counts as two minutes', () => {
  const near = [
    known('started', 1, { eventStatus: 'Started', notBefore: null }),
    known('near', 2, { notBefore: after(119) }),
  ];
  assert.deepEqual(keysByUrgency([...near, known('far', 3, { notBefore: after(121) })], NOW), [
    'near',
    'started',
    'far',
  ]);
  assert.deepEqual(keysByUrgency(EVENTS, NOW), ['overdue', 'unknown', 'soon', 'started', 'later', 'tomorrow']);
  assert.deepEqual(keysByUrgency(EVENTS, NOW + 870_000), [
    'soon',
    'overdue',
    'unknown',
    'later',
    'started',
    'tomorrow',
  ]);
});

test('urgent events are Scheduled with under two minutes of notice, past it or without it; the result has the time of the next one', () => {
  assert.deepEqual(urgentAmong(EVENTS, NOW), { keys: ['overdue', 'unknown', 'soon'], nextMs: NOW + 780_001 });
  assert.deepEqual(urgentAmong(EVENTS, NOW + 780_000).keys, ['soon', 'overdue', 'unknown']);
  assert.deepEqual(urgentAmong(EVENTS, NOW + 780_001).keys, ['soon', 'overdue', 'unknown', 'later']);
  assert.deepEqual(urgentAmong([], NOW), { keys: [], nextMs: null });
});

test('asked again it is the same answer until the events are others, one becomes urgent or the clock is set back', () => {
  const [events, others] = [
    new Map(EVENTS.map((each) => [each.key, each])),
    new Map(EVENTS.slice(0, 2).map((each) => [each.key, each])),
  ];
  const urgent = new UrgentEvents();
  const first = urgent.among(events, NOW);
  assert.equal(urgent.among(events, NOW + 780_000), first);
  for (const [known, wallMs] of [
    [events, NOW + 780_001],
    [events, NOW + 86_280_001],
    [events, NOW],
    [others, NOW],
    [events, NOW - 3_600_000],
  ] as const)
    assert.deepEqual(urgent.among(known, wallMs), urgentAmong(known.values(), wallMs));
});

test('the store finds urgent keys by its rows, and rows of keys in the order of the keys', (t) => {
  const store = testStore(t);
  const { queue } = store.outbox;
  assert.deepEqual(queue.urgent(), { keys: [], nextMs: null });
  const soon = known('soon', 1, { notBefore: new Date(store.time.wallMs() + 30_000).toISOString() });
  store.outbox.transact((transaction) => transaction.saveState(knownState([soon])));
  assert.deepEqual(queue.urgent().keys, ['soon']);
  append(
    store,
    ['over:ended', 'soon:scheduled', 'later:scheduled', 'soon:updated'].map((id, index) =>
      entry(id, { occurrence: 100 + index }),
    ),
  );
  const of = (keys: readonly string[], limit: number) => queue.queuedOf('audit', keys, limit).map(({ id }) => id);
  assert.deepEqual(of(['later', 'soon', 'nobody'], 10), ['later:scheduled', 'soon:scheduled', 'soon:updated']);
  assert.deepEqual(of(['soon'], 1), ['soon:scheduled']);
  store.outbox.transact((transaction) => transaction.saveState(knownState([])));
  assert.deepEqual(queue.urgent().keys, [], 'it has ended');
});

test('an EventId that is not a plain partition key is found by the hashed key of its rows', () => {
  assert.match(keysByUrgency([known('not a plain id!', 1, {})], NOW)[0] ?? '', /^h[0-9a-f]{32}$/);
});

test('rows of known events come first, then those of the bridge itself, then the rest, each key in its order', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => transaction.saveState(knownState(EVENTS)));
  const observer = store.outbox.identity.current.observerId;
  const ids = [
    'over1:ended',
    'later:scheduled',
    'soon:scheduled',
    'over2:ended',
    'soon:updated',
    'started:scheduled',
    'soon:approval',
  ];
  append(store, [
    ...ids.map((id, index) => entry(id, { occurrence: 100 + index })),
    entry('blind', { partitionKey: observer, key: null }),
  ]);
  append(store, [entry('over1:again', { partitionKey: 'over1', occurrence: 200 })]);
  const first = (limit: number, except: readonly string[] = []) =>
    store.outbox.queue.queuedByUrgency('audit', except, limit).map(({ id }) => id);
  const all = [
    ...['soon:scheduled', 'soon:updated', 'soon:approval', 'started:scheduled', 'later:scheduled'],
    ...['blind', 'over1:ended', 'over2:ended', 'over1:again'],
  ];
  assert.deepEqual(first(100), all);
  for (let limit = 1; limit <= all.length; limit++) assert.deepEqual(first(limit), all.slice(0, limit));
  assert.deepEqual(first(3, ['soon', 'over1']), ['started:scheduled', 'later:scheduled', 'blind']);
  assert.deepEqual(first(100, ['soon', 'started', 'later', observer]), ['over1:ended', 'over2:ended', 'over1:again']);
  assert.deepEqual(
    store.outbox.queue.queuedByUrgency('hooks', [], 10).map(({ id }) => id),
    [],
  );
});

test('without known events and queued rows the list is empty', (t) => {
  assert.deepEqual(testStore(t).outbox.queue.queuedByUrgency('audit', [], 10), []);
});

test('consent is kept over restarts and dropped with the configuration that it was given for; requests are kept over both', (t) => {
  const store = testStore(t);
  assert.equal(store.outbox.sinks.consent('hooks'), null);
  assert.equal(store.outbox.queue.requests('hooks'), null);
  store.outbox.sinks.saveConsent('hooks', 'yes');
  store.outbox.queue.saveRequests('hooks', 'three');
  store.outbox.queue.saveRequests('unheard of', 'four');
  store.outbox.close();
  using again = openOutbox(store.folder, { deps: store.time, lock: true });
  again.sinks.sync(sinks('audit', 'hooks'));
  assert.equal(again.sinks.consent('hooks'), 'yes');
  assert.equal(again.sinks.consent('audit'), null);
  assert.equal(again.queue.requests('unheard of'), null);
  again.sinks.sync(sinks('audit', 'hooks').map((sink) => ({ ...sink, fingerprint: 'two' })));
  assert.equal(again.sinks.consent('hooks'), null);
  assert.equal(again.queue.requests('hooks'), 'three');
  again.sinks.sync(sinks('audit'));
  again.sinks.sync(sinks('audit', 'hooks'));
  assert.equal(again.queue.requests('hooks'), null, 'a removed sink is forgotten');
});

test('consent that is withdrawn is deleted', (t) => {
  const { outbox } = testStore(t);
  outbox.sinks.saveConsent('hooks', 'yes');
  outbox.sinks.saveConsent('hooks', null);
  assert.equal(outbox.sinks.consent('hooks'), null);
});

test('a store of the first version keeps its sinks and rows', (t) => {
  const file = join(temporaryFolder(t), 'a.db');
  {
    using old = new Database(file, { synchronous: 'OFF' });
    migrate(old, MIGRATIONS.slice(0, 1));
    old.exec(
      `INSERT INTO sinks (name, type, fingerprint, added_ms, consent) VALUES ('hooks', 'webhook', 'one', 1, 'yes')`,
    );
    old.exec(
      `INSERT INTO deliveries (sink, journal, partition_key, queued_ms, state) VALUES ('hooks', 1, 'a', 1, 'queued')`,
    );
  }
  using database = new Database(file, { synchronous: 'OFF' });
  migrate(database);
  const [row] = database
    .prepare<Record<string, unknown>>(
      `SELECT s.consent, s.requests, d.partition_key FROM deliveries d INDEXED BY deliveries_key JOIN sinks s ON s.name = d.sink
       WHERE d.sink = 'hooks' AND d.partition_key = 'a' AND d.state = 'queued'`,
    )
    .all();
  assert.deepEqual({ ...row }, { consent: 'yes', requests: null, partition_key: 'a' });
});
