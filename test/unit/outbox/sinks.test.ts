// What the store keeps for each sink → read by the next process, and gone with the sink.
import assert from 'node:assert/strict';
import test from 'node:test';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { holdStore } from '../../support/store-hold.ts';
import { append, entry, queuedIds, sinks, testStore } from '../../virtual/outbox-fixture.ts';

test('the consent of a receiver is stored until it is taken back or the configuration of the sink changes', (t) => {
  const { outbox, folder, time } = testStore(t);
  assert.deepEqual([outbox.sinks.consent('audit'), outbox.sinks.consent('nobody')], [null, null]);
  outbox.sinks.saveConsent('audit', 'yes');
  outbox.close();
  using next = openOutbox(folder, { deps: time, lock: true });
  assert.deepEqual([next.sinks.consent('audit'), next.sinks.consent('hooks')], ['yes', null]);
  next.sinks.saveConsent('audit', null);
  assert.equal(next.sinks.consent('audit'), null);
  next.sinks.saveConsent('audit', 'yes');
  next.sinks.put(sinks('audit').map((sink) => ({ ...sink, fingerprint: 'two' })));
  assert.equal(next.sinks.consent('audit'), null);
});

test('the type of each sink is known, and changes with its configuration', (t) => {
  const { outbox } = testStore(t);
  outbox.sinks.put([{ name: 'audit', type: 'file', fingerprint: 'two' }]);
  assert.deepEqual(
    [...outbox.sinks.types()],
    [
      ['audit', 'file'],
      ['hooks', 'webhook'],
    ],
  );
  assert.deepEqual(outbox.sinks.names(), ['audit', 'hooks']);
});

test('a sink that is put alone removes no other, and counts as new or changed once', (t) => {
  const { outbox } = testStore(t);
  outbox.queue.retire('hooks', { reason: 'gone', atMs: 1 });
  assert.deepEqual(outbox.sinks.put(sinks('later')), { added: ['later'], unretired: [] });
  assert.deepEqual(outbox.sinks.put(sinks('later', 'hooks')), { added: [], unretired: [] });
  const changed = sinks('later', 'hooks').map((sink) => ({ ...sink, fingerprint: 'two' }));
  assert.deepEqual(outbox.sinks.put(changed), { added: [], unretired: ['hooks'] });
  assert.deepEqual(outbox.sinks.names(), ['audit', 'hooks', 'later']);
});

test('sinks without a change stay as they are, and need no lock of the store', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')]);
  holdStore(t, store.folder);
  assert.deepEqual(store.outbox.sinks.sync(sinks('audit', 'hooks')), { added: [], unretired: [], removed: [] });
  assert.deepEqual(queuedIds(store.outbox), ['a:1']);
});

test('an unknown sink is named together with the known ones, or with none', (t) => {
  const { outbox } = testStore(t);
  const tail = '"run" adds the configured sinks to the store when it starts';
  assert.throws(() => outbox.sinks.expect('nobody'), {
    code: 'BRIDGE_STORE_SINK_UNKNOWN',
    message: `the store has no sink "nobody"; it has "audit", "hooks". ${tail}`,
  });
  outbox.sinks.sync([]);
  assert.throws(() => outbox.sinks.expect('nobody'), {
    message: `the store has no sink "nobody"; it has none. ${tail}`,
  });
});

test('a removed sink with more deliveries than one step holds loses none of them', (t) => {
  const store = testStore(t);
  const count = 5001;
  append(
    store,
    Array.from({ length: count }, (_, index) => entry(`a:${index}`)),
    ['hooks'],
  );
  assert.equal(store.outbox.sinks.remove('hooks'), count);
  assert.deepEqual([queuedIds(store.outbox, 'hooks'), store.outbox.queue.backlog('hooks').dead], [[], count]);
});

test('the requests of the last minute are stored for the next process', (t) => {
  const { outbox, folder, time } = testStore(t);
  assert.deepEqual([outbox.queue.requests('audit'), outbox.queue.requests('nobody')], [null, null]);
  outbox.queue.saveRequests('audit', '[1,2]');
  outbox.close();
  using next = openOutbox(folder, { deps: time, lock: true });
  assert.deepEqual([next.queue.requests('audit'), next.queue.requests('hooks')], ['[1,2]', null]);
});

test('pause and resume are noted once, in the same transaction', (t) => {
  const { outbox } = testStore(t);
  const notes: string[] = [];
  const note = (what: string) => () => void notes.push(what);
  outbox.queue.pause('audit', { by: 'ops', atMs: 1 }, note('pause'));
  outbox.queue.pause('audit', { by: 'ops', atMs: 2 }, note('again'));
  outbox.queue.resume('audit', note('resume'));
  outbox.queue.resume('audit', note('nothing to resume'));
  assert.deepEqual(notes, ['pause', 'resume']);
  const broken = () => {
    throw new Error('no note');
  };
  assert.throws(() => outbox.queue.pause('audit', { by: 'ops', atMs: 3 }, broken), /no note/);
  assert.equal(outbox.queue.record('audit').pause, null);
});

test('the retirement of a paused sink is what resume lifts', (t) => {
  const { outbox } = testStore(t);
  outbox.queue.pause('audit', { by: 'ops', atMs: 1 });
  outbox.queue.retire('audit', { reason: 'gone', atMs: 2 });
  assert.deepEqual(outbox.queue.resume('audit'), { reason: 'gone', atMs: 2 });
  assert.deepEqual([outbox.queue.retirement('audit'), outbox.queue.record('audit').pause], [null, null]);
});

test('the record of an unknown sink is empty, and so are its backlog and its position', (t) => {
  const { outbox } = testStore(t);
  assert.deepEqual(outbox.queue.record('nobody'), { pause: null, lastAcceptedAtMs: null, lastError: null });
  assert.deepEqual(outbox.queue.backlog('nobody'), { queued: 0, oldestQueuedAtMs: null, dead: 0 });
  assert.equal(outbox.queue.retirement('nobody'), null);
  assert.deepEqual(outbox.queue.position(), { journal: 0, delivery: 0 });
});
