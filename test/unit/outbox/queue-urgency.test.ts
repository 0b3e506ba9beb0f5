// Known events, the VM's own name and queued rows → which deliveries a lane gets first.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { scheduledEvent } from '../../support/events.ts';
import { append, entry, knownEvent, knownState, type TestStore, testStore } from '../../virtual/outbox-fixture.ts';

/** A store that knows the event `late` of 10 minutes from now, `soon` of 1 minute from now, and no other. */
function start(t: TestContext): TestStore {
  const store = testStore(t);
  const events = [
    ['late', 10],
    ['soon', 1],
  ] as const;
  store.outbox.transact((transaction) =>
    transaction.saveState(
      knownState(
        events.map(([key, minutes], index) => {
          const notBefore = new Date(store.time.wallMs() + minutes * 60_000).toISOString();
          return knownEvent(key, index + 1, { event: scheduledEvent({ eventId: key.toUpperCase(), notBefore }) });
        }),
      ),
    ),
  );
  return store;
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

test('deliveries of known events come first, the most urgent at the front, then those of the VM itself, then the others', (t) => {
  const store = start(t);
  store.outbox.identity.save({ name: 'Web_0' });
  append(
    store,
    ['old:1', 'web_0:1', 'late:1', 'soon:1', 'late:2', 'soon:2', 'new:1'].map((id) => entry(id)),
  );
  const ids = (limit: number, except: readonly string[] = []) =>
    idsOf(store.outbox.queue.queuedByUrgency('audit', except, limit));
  assert.deepEqual(ids(10), ['soon:1', 'soon:2', 'late:1', 'late:2', 'web_0:1', 'old:1', 'new:1']);
  assert.deepEqual(ids(3), ['soon:1', 'soon:2', 'late:1']);
  assert.deepEqual(ids(5), ['soon:1', 'soon:2', 'late:1', 'late:2', 'web_0:1']);
  assert.deepEqual(ids(6), ['soon:1', 'soon:2', 'late:1', 'late:2', 'web_0:1', 'old:1']);
  assert.deepEqual(ids(10, ['soon', 'old']), ['late:1', 'late:2', 'web_0:1', 'new:1']);
  assert.deepEqual(idsOf(store.outbox.queue.queuedByUrgency('hooks', [], 10)), []);
});

test('if every key of a known event and of the VM is excepted, the others are read', (t) => {
  const store = start(t);
  store.outbox.identity.save({ name: 'web_0' });
  append(
    store,
    ['soon:1', 'old:1'].map((id) => entry(id)),
  );
  assert.deepEqual(idsOf(store.outbox.queue.queuedByUrgency('audit', ['soon', 'late', 'web_0'], 10)), ['old:1']);
});

test('before the name of the VM is known, the id of the observer is its key', (t) => {
  const store = start(t);
  const { observerId } = store.outbox.identity.current;
  append(store, [entry('old:1'), entry('own:1', { partitionKey: observerId })]);
  assert.deepEqual(idsOf(store.outbox.queue.queuedByUrgency('audit', [], 1)), ['own:1']);
});

test('rows of given keys are read in the order of the keys, each in queue order, up to the limit', (t) => {
  const store = testStore(t);
  append(
    store,
    ['a:1', 'b:1', 'a:2', 'c:1'].map((id) => entry(id)),
  );
  assert.deepEqual(idsOf(store.outbox.queue.queuedOf('audit', ['b', 'a'], 10)), ['b:1', 'a:1', 'a:2']);
  assert.deepEqual(idsOf(store.outbox.queue.queuedOf('audit', ['b', 'a'], 2)), ['b:1', 'a:1']);
});

test('events that go before all others follow the clock', async (t) => {
  const { outbox, time } = start(t);
  const urgentFromMs = time.wallMs() + 8 * 60_000;
  const { keys, nextMs } = outbox.queue.urgent();
  assert.deepEqual(keys, ['soon']);
  assert.ok(nextMs !== null && Math.abs(nextMs - urgentFromMs) <= 1);
  await time.advance(8 * 60_000 + 1);
  assert.deepEqual(outbox.queue.urgent().keys, ['soon', 'late']);
});
