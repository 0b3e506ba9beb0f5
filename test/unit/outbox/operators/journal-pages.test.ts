// The journal by position, event and time, and what became of each CloudEvent.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { JournalRange } from '../../../../src/model/operators.ts';
import { openOutbox } from '../../../../src/outbox/outbox.ts';
import { append, bury, entry, type TestStore, testStore } from '../../../virtual/outbox-fixture.ts';

const ALL: JournalRange = {
  after: 0,
  sinceMs: 0,
  untilMs: Number.POSITIVE_INFINITY,
  eventKey: null,
  limit: 100,
  maxBytes: 1e6,
};

function page({ outbox }: TestStore, range: Partial<JournalRange> = {}) {
  const { items, next } = outbox.journalPages.page({ ...ALL, ...range });
  return { positions: items.map(({ position }) => position), next };
}

test('the journal is read by position, by event and by time, page by page, and the last page says so', (t) => {
  const store = testStore(t);
  append(store, [
    entry('a:1', { timeMs: 100 }),
    entry('b:1', { timeMs: 200 }),
    entry('a:2', { timeMs: 300 }),
    entry('c:1', { timeMs: 150 }),
  ]);
  assert.deepEqual(page(store), { positions: [1, 2, 3, 4], next: null });
  assert.deepEqual(page(store, { limit: 3 }), { positions: [1, 2, 3], next: 3 });
  assert.deepEqual(page(store, { after: 3 }), { positions: [4], next: null });
  assert.deepEqual(page(store, { eventKey: 'a', limit: 1 }), { positions: [1], next: 1 });
  assert.deepEqual(page(store, { eventKey: 'a', after: 1 }), { positions: [3], next: null });
  assert.deepEqual(page(store, { sinceMs: 150, untilMs: 300 }), { positions: [2, 4], next: null });
  assert.deepEqual(page(store, { eventKey: 'b', sinceMs: 201 }), { positions: [], next: null });
  assert.deepEqual(
    store.outbox.journalPages.after(2, 5, 1e6).map(({ position, id }) => [position, id]),
    [
      [3, 'a:2'],
      [4, 'c:1'],
    ],
  );
  assert.deepEqual([store.outbox.journalPages.newest(), store.outbox.journalPages.pruned()], [4, 0]);
});

test('one call reads at most 1,000 rows and returns the next position', (t) => {
  const store = testStore(t);
  const many = Array.from({ length: 1500 }, (_, index) => entry(`e${index}:1`, { timeMs: index < 1200 ? 1 : 500 }));
  append(store, many, []);
  assert.deepEqual(page(store, { sinceMs: 500 }), { positions: [], next: 1000 });
  assert.equal(page(store, { sinceMs: 500, after: 1000, limit: 1000 }).positions.length, 300);
});

test('each delivery has its state, a discarded one too', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')], ['audit', 'hooks']);
  const seq = store.outbox.queue.queued('audit', [], 1)[0]?.seq ?? 0;
  const queuedAt = store.time.wallMs();
  store.outbox.queue.settle('audit', [{ seq, result: 'failed', status: 503 }], 5);
  const deliveries = () => store.outbox.journalPages.page(ALL).items[0]?.deliveries;
  assert.deepEqual(deliveries(), [
    { seq, sink: 'audit', state: 'queued', attempts: 1, atMs: queuedAt, status: 503 },
    { seq: seq + 1, sink: 'hooks', state: 'queued', attempts: 0, atMs: queuedAt, status: null },
  ]);
  store.outbox.queue.settle('audit', [{ seq, result: 'accepted' }], 6);
  bury(store.outbox, 'hooks', 7);
  assert.deepEqual(deliveries(), [
    { seq, sink: 'audit', state: 'delivered', attempts: 2, atMs: 6, status: null },
    { seq: seq + 1, sink: 'hooks', state: 'dead', attempts: 1, atMs: 7, status: 400 },
  ]);
  assert.equal(store.outbox.deadLetters.discard({ sink: 'hooks' }), 1);
  assert.deepEqual(deliveries()?.[1], {
    seq: seq + 1,
    sink: 'hooks',
    state: 'discarded',
    attempts: 1,
    atMs: store.time.wallMs(),
    status: 400,
  });
});

test('the deliveries of a CloudEvent are in the order in which they were queued, whatever became of them', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')], ['audit', 'hooks']);
  append(store, [entry('b:1')], []);
  for (const _ of ['once', 'again']) store.outbox.replay.queue({ sink: 'hooks', sinceMs: 0, eventKey: 'a' });
  bury(store.outbox, 'audit');
  store.outbox.deadLetters.discard({ sink: 'audit' });
  assert.deepEqual(
    store.outbox.journalPages.page(ALL).items.map(({ deliveries }) => deliveries.map(({ seq, state }) => [seq, state])),
    [
      [
        [1, 'discarded'],
        [2, 'queued'],
        [3, 'queued'],
        [4, 'queued'],
      ],
      [],
    ],
  );
});

test('the newest pruned position is known, also after a restart; a discarded delivery keeps no row', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1', { timeMs: 1 }), entry('b:1', { timeMs: 2 })], []);
  append(store, [entry('c:1', { timeMs: 3 })]);
  append(store, [entry('d:1', { timeMs: 4 })]);
  bury(store.outbox, 'audit', 4);
  store.outbox.deadLetters.discard({ ids: ['d:1'] });
  const prune = () => store.outbox.retention.prune({ retainMs: 0, nowMs: store.time.wallMs() + 1 });
  while (prune() > 0);
  assert.deepEqual(page(store).positions, [3], 'a dead letter keeps its CloudEvent');
  assert.equal(store.outbox.journalPages.pruned(), 4);
  using beside = openOutbox(store.folder, { deps: store.time, lock: false, synchronous: 'OFF' });
  assert.deepEqual([beside.journalPages.newest(), beside.journalPages.pruned()], [4, 4]);
});

test('dead letters are paged in queue order, for all sinks or one', (t) => {
  const { outbox, ...rest } = testStore(t);
  append({ outbox, ...rest }, [entry('a:1'), entry('b:1')], ['audit', 'hooks']);
  bury(outbox, 'audit');
  bury(outbox, 'hooks');
  const page = (sink: string | null, after: number, limit: number, maxBytes = 1e6) => {
    const { items, next } = outbox.deadLetters.page({ sink, after, limit, maxBytes });
    return { letters: items.map((letter) => `${letter.sink} ${letter.id}`), next };
  };
  assert.deepEqual(page(null, 1, 2), { letters: ['hooks a:1', 'audit b:1'], next: 3 });
  assert.deepEqual(page(null, 3, 2), { letters: ['hooks b:1'], next: null });
  assert.deepEqual(page('hooks', 0, 5), { letters: ['hooks a:1', 'hooks b:1'], next: null });
  assert.deepEqual(page('hooks', 4, 5), { letters: [], next: null });
  assert.deepEqual(page(null, 0, 5, 1), { letters: ['audit a:1'], next: 1 }, 'one at least, whatever its size');
});

test('no step reads more bytes than it may, but one CloudEvent at least', (t) => {
  const store = testStore(t);
  const sized = (id: string, bytes: number, timeMs = 100) => entry(id, { data: { text: 'x'.repeat(bytes) }, timeMs });
  append(store, [sized('a:1', 3000), sized('a:2', 100), sized('b:1', 100), sized('a:3', 5000), sized('a:4', 100, 200)]);
  const pages = (range: Partial<JournalRange>) => {
    const found: number[][] = [];
    for (let after: number | null = 0; after !== null; ) {
      const { positions, next } = page(store, { ...range, after, maxBytes: 2000 });
      found.push(positions);
      after = next;
    }
    return found;
  };
  assert.deepEqual(pages({}), [[1], [2, 3], [4], [5]]);
  assert.deepEqual(pages({ eventKey: 'a' }), [[1], [2], [4], [5]]);
  assert.deepEqual(pages({ untilMs: 150 }), [[1], [2, 3], [4]]);
  const behind = (position: number) => store.outbox.journalPages.after(position, 10, 2000).map((row) => row.position);
  assert.deepEqual([behind(0), behind(1), behind(3), behind(5)], [[1], [2, 3], [4], []]);
});

test('an empty journal has one page, without items', (t) => {
  const store = testStore(t);
  assert.deepEqual(store.outbox.journalPages.page(ALL), { items: [], next: null });
  assert.deepEqual(store.outbox.journalPages.page({ ...ALL, eventKey: 'a' }), { items: [], next: null });
  assert.equal(store.outbox.journalPages.newest(), 0);
});

test('the newest notice of an occurrence is found up to a position, and the id that an approval names as seen', (t) => {
  const store = testStore(t);
  const { journalPages } = store.outbox;
  const started = entry('a:started', { change: 'started' });
  append(store, [
    entry('a:scheduled'),
    entry('a:updated', { change: 'updated' }),
    entry('a:approval', { change: 'approval.confirmed' }),
    started,
    entry('a:ended', { change: 'ended' }),
    entry('a:again', { occurrence: 2, change: 'started' }),
  ]);
  const first = { key: 'a', occurrence: 1 };
  const notices = [0, 1, 3, 5].map((position) => journalPages.notice(first, position)?.id ?? null);
  assert.deepEqual(notices, [null, 'a:scheduled', 'a:updated', 'a:started']);
  const notice = journalPages.notice(first, 9);
  assert.deepEqual(notice && { ...notice, bytes: Buffer.from(notice.bytes) }, {
    ...started,
    position: 4,
    bytes: Buffer.from(started.bytes),
  });
  assert.equal(journalPages.notice({ key: 'b', occurrence: 1 }, 9), null);
  const seenIds = [first, { key: 'a', occurrence: 2 }, { key: 'b', occurrence: 1 }].map((of) =>
    journalPages.seenId(of),
  );
  assert.deepEqual(seenIds, ['a:updated', null, null]);
});

test('the changes of an event are returned without their CloudEvents', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1'), entry('b:1'), entry('a:2', { change: 'ended' })], ['audit']);
  const [first, second, ...others] = store.outbox.journalPages.changesOf('a', 10);
  assert.deepEqual([first?.change, second?.change, others], ['scheduled', 'ended', []]);
  assert.deepEqual(
    second?.deliveries.map(({ sink, state }) => [sink, state]),
    [['audit', 'queued']],
  );
  assert.equal(store.outbox.journalPages.changesOf('a', 1).length, 1);
});

test('several dead letters are retried or discarded all together or not at all, with a line of the record', (t) => {
  const { outbox, ...rest } = testStore(t);
  append({ outbox, ...rest }, [entry('a:1'), entry('b:1')]);
  bury(outbox);
  const note = (count: number) =>
    outbox.operatorActs.add({ atMs: 1, operator: 'orders', act: 'retry', subject: 'audit', detail: { count } });
  assert.deepEqual(outbox.deadLetters.decide('retry', 'audit', ['a:1', 'x:1'], note), ['x:1']);
  assert.deepEqual([outbox.operatorActs.last(5), outbox.queue.backlog('audit').dead], [[], 2]);
  assert.equal(outbox.deadLetters.decide('retry', 'audit', ['a:1'], note), null);
  assert.equal(
    outbox.deadLetters.decide('discard', 'audit', ['b:1'], () => {}),
    null,
  );
  assert.deepEqual(outbox.operatorActs.last(5), [
    { atMs: 1, operator: 'orders', act: 'retry', subject: 'audit', detail: { count: 1 } },
  ]);
  assert.deepEqual(outbox.queue.backlog('audit'), { queued: 1, oldestQueuedAtMs: rest.time.wallMs(), dead: 0 });
  assert.throws(() => outbox.deadLetters.decide('retry', 'nobody', ['a:1'], note), {
    code: 'BRIDGE_STORE_SINK_UNKNOWN',
  });
});

test('a pause survives the process and a change of configuration, and resume lifts it like a retirement', (t) => {
  const { outbox, folder, time } = testStore(t);
  outbox.queue.pause('audit', { by: 'orders', atMs: 5 });
  outbox.queue.pause('audit', { by: 'billing', atMs: 6 });
  outbox.sinks.put([{ name: 'audit', type: 'webhook', fingerprint: 'two' }]);
  using beside = openOutbox(folder, { deps: time, lock: false, synchronous: 'OFF' });
  assert.deepEqual(beside.queue.record('audit'), {
    pause: { by: 'orders', atMs: 5 },
    lastAcceptedAtMs: null,
    lastError: null,
  });
  assert.deepEqual(beside.queue.resume('audit'), { reason: 'paused by orders', atMs: 5 });
  assert.equal(beside.queue.resume('audit'), null);
  assert.throws(() => outbox.queue.pause('nobody', { by: 'orders', atMs: 5 }), { code: 'BRIDGE_STORE_SINK_UNKNOWN' });
});

test('the time of the last acceptance and the last error are stored', (t) => {
  const { outbox, ...rest } = testStore(t);
  append({ outbox, ...rest }, [entry('a:1'), entry('b:1')]);
  const [first, second] = outbox.queue.queued('audit', [], 2).map(({ seq }) => seq);
  const error = { code: 'BRIDGE_DELIVERY_FAILED', message: 'it failed', atMs: 3 };
  outbox.queue.settle('audit', [{ seq: first ?? 0, result: 'failed', status: 500 }], 4, error);
  outbox.queue.settle('audit', [{ seq: second ?? 0, result: 'accepted' }], 9);
  assert.deepEqual(outbox.queue.record('audit'), { pause: null, lastAcceptedAtMs: 9, lastError: error });
});
