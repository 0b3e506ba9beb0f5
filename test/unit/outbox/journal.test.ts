// CloudEvents in the journal → found again by id, compared with their event, counted as sent.
import assert from 'node:assert/strict';
import test from 'node:test';
import { scheduledEvent } from '../../support/events.ts';
import {
  append,
  entry,
  knownEvent,
  knownState,
  queuedIds,
  type TestStore,
  testStore,
} from '../../virtual/outbox-fixture.ts';

/** Occurrence 1 with key `a`, as each entry of these tests has it. */
function openOccurrence({ outbox }: TestStore): void {
  outbox.transact((transaction) => transaction.saveState(knownState([knownEvent('a', 1)])));
}

test('an id is used once, and a second CloudEvent with it is rejected with its whole transaction', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => {
    transaction.append(entry('a:1'), ['audit'], 1);
    assert.equal(store.outbox.journal.isUsed('a:1'), true, 'within its own transaction too');
  });
  assert.deepEqual([store.outbox.journal.isUsed('a:1'), store.outbox.journal.isUsed('a:2')], [true, false]);
  assert.throws(() => append(store, [entry('a:2'), entry('a:1')]), {
    code: 'BRIDGE_INTERNAL',
    message: /rejected a row: UNIQUE constraint failed: used_ids\.id$/,
  });
  assert.deepEqual([store.outbox.journal.isUsed('a:2'), queuedIds(store.outbox)], [false, ['a:1']]);
});

test('a CloudEvent is found by its id with its event; one that is not about an event is not', (t) => {
  const store = testStore(t);
  const event = scheduledEvent({ notBefore: null, durationInSeconds: -1 });
  const started = { ...event, eventStatus: 'Started' } as const;
  const ended = { ...event, eventStatus: 'Ended' };
  append(store, [
    entry('a:scheduled', { data: { ...event, previousStatus: null, observer: { name: null } } }),
    entry('a:updated', { change: 'updated', data: { ...event, previousStatus: 'Scheduled' } }),
    entry('a:started', { change: 'started', data: { ...started, previousStatus: 'Scheduled' } }),
    entry('a:ended', { change: 'ended', data: { ...ended, previousStatus: 'Scheduled', outcome: 'completed' } }),
    entry('b:ended', { change: 'ended', occurrence: 2, data: { ...ended, previousStatus: null } }),
    entry('a:approval', { change: 'approval.confirmed' }),
    entry('without-key', { key: null }),
    entry('without-occurrence', { occurrence: null }),
    entry('source-blind:1', { change: 'source.blind', key: null, occurrence: null, data: {} }),
  ]);
  const a = { key: 'a', occurrence: 1 };
  const expected = {
    'a:scheduled': { change: 'scheduled', ...a, event },
    'a:updated': { change: 'updated', ...a, event },
    'a:started': { change: 'started', ...a, event: started },
    'a:ended': { change: 'ended', ...a, event },
    'b:ended': { change: 'ended', key: 'b', occurrence: 2, event: started },
    'a:approval': null,
    'without-key': null,
    'without-occurrence': null,
    'source-blind:1': null,
    'a:unknown': null,
  };
  const seen = Object.keys(expected).map((id) => [id, store.outbox.journal.seen(id)]);
  assert.deepEqual(Object.fromEntries(seen), expected);
});

test('only a later change of its event supersedes a delivery', (t) => {
  const changes = ['scheduled', 'updated', 'started', 'ended', 'approval.confirmed'];
  const superseded = changes.map((change) => {
    const store = testStore(t);
    openOccurrence(store);
    append(store, [entry('a:1'), entry('a:2', { change })]);
    return store.outbox.queue.superseded('audit', ['a'], 10).map(({ seq }) => seq);
  });
  assert.deepEqual(superseded, [[1], [1], [1], [1], []]);
});

test('each sink that a CloudEvent is queued for counts as having been sent its event, and no other', (t) => {
  const store = testStore(t);
  openOccurrence(store);
  append(store, [entry('a:1')], ['audit']);
  append(store, [entry('source-blind:1', { change: 'source.blind', key: null, occurrence: null })], ['hooks']);
  const { sinks } = store.outbox;
  assert.deepEqual(
    [sinks.wasSent('audit', 1), sinks.wasSent('audit', 2), sinks.wasSent('hooks', 1)],
    [true, false, false],
  );
});
