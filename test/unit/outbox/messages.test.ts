// Messages of approval sources → what the store knows of them, after a restart too, how long.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ReceivedMessage } from '../../../src/model/approvals.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { at, type TestStore, testStore } from '../../virtual/outbox-fixture.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const REFUSAL = { reason: 'unknown', description: 'The metadata service lists no event a.' };

function message(id: string, more: Partial<ReceivedMessage> = {}): ReceivedMessage {
  const place = { topic: 'approvals', partition: 0, offset: 7 };
  return {
    source: 'topic',
    id,
    approver: 'ops',
    place,
    body: Buffer.from('{}'),
    sentMs: 1000,
    receivedAt: at(2000),
    ...more,
  };
}

function ids(store: TestStore): string[] {
  return store.outbox.messages.parked().map(({ source, id }) => `${source} ${id}`);
}

test('a parked message is found with all of its data, in the order of arrival, also after a restart', (t) => {
  const store = testStore(t);
  const first = message('b');
  store.outbox.transact((transaction) =>
    transaction.parkMessage({ ...first, receivedAt: { wallMs: 2000, elapsedMs: 5 } }),
  );
  store.outbox.transact((transaction) => transaction.parkMessage(message('a')));
  assert.deepEqual(ids(store), ['topic b', 'topic a']);
  assert.deepEqual(store.outbox.messages.find('topic', 'a'), { kind: 'parked' });
  store.outbox.close();
  using reopened = openOutbox(store.folder, { deps: store.time, lock: true });
  const [kept] = reopened.messages.parked();
  assert.deepEqual(kept && { ...kept, body: Buffer.from(kept.body) }, first);
});

test('a handled message is no longer parked, and is found with its refusal', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => {
    transaction.parkMessage(message('a'));
    transaction.parkMessage(message('a', { source: 'queue' }));
  });
  store.outbox.transact((transaction) => {
    transaction.handleMessage(message('a'), REFUSAL, 3000);
    transaction.handleMessage(message('b'), null, 3000);
  });
  assert.deepEqual(ids(store), ['queue a'], 'the same id of another source is another message');
  assert.deepEqual(store.outbox.messages.find('topic', 'a'), { kind: 'handled', refusal: REFUSAL });
  assert.deepEqual(store.outbox.messages.find('topic', 'b'), { kind: 'handled', refusal: null });
  assert.equal(store.outbox.messages.find('queue', 'b'), null);
});

test('a failed transaction stores no message', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => transaction.parkMessage(message('a')));
  assert.throws(() =>
    store.outbox.transact((transaction) => {
      transaction.handleMessage(message('a'), null, 3000);
      transaction.parkMessage(message('b'));
      throw new Error('a mistake');
    }),
  );
  assert.deepEqual(ids(store), ['topic a']);
  assert.equal(store.outbox.messages.find('topic', 'b'), null);
});

test('a handled message is stored for 400 days, a parked one as long as it is parked', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => {
    transaction.parkMessage(message('a', { receivedAt: at(0) }));
    for (const id of ['b', 'c', 'd']) transaction.handleMessage(message(id), null, 0);
  });
  const prune = (nowMs: number) => store.outbox.retention.prune({ retainMs: DAY_MS, nowMs, limit: 2 });
  assert.equal(prune(400 * DAY_MS), 0);
  assert.deepEqual([prune(400 * DAY_MS + 1), prune(400 * DAY_MS + 1), prune(400 * DAY_MS + 1)], [2, 1, 0]);
  assert.equal(store.outbox.messages.find('topic', 'b'), null);
  assert.deepEqual(ids(store), ['topic a']);
});

test('the oldest messages of a source with very many are deleted, in steps, and those of no other source', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => transaction.handleMessage(message('a', { source: 'queue' }), null, 0));
  store.outbox.transact((transaction) => {
    for (let place = 0; place < 105_000; place++) transaction.handleMessage(message(String(place)), null, place);
  });
  const isKnown = (id: number) => store.outbox.messages.find('topic', String(id)) !== null;
  assert.deepEqual([0, 4998, 5000, 104_999].map(isKnown), [false, false, true, true]);
  assert.notEqual(store.outbox.messages.find('queue', 'a'), null);
});
