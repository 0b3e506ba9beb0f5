// Notes that sinks write of single deliveries → what a later process finds, and for how long.
import assert from 'node:assert/strict';
import test from 'node:test';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { append, entry, testStore } from '../../virtual/outbox-fixture.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

test('the next process reads the notes of each sink in queue order, until they are deleted', (t) => {
  const { folder, time, outbox } = testStore(t);
  outbox.notes.write('audit', 9, 'pid 9');
  outbox.notes.write('audit', 2, 'pid 1');
  outbox.notes.write('audit', 2, 'pid 2');
  outbox.notes.write('hooks', 3, 'pid 3');
  outbox.close();
  using next = openOutbox(folder, { deps: time, lock: true, synchronous: 'OFF' });
  const found = next.notes.all('audit');
  next.notes.write('audit', 2, null);
  next.notes.write('audit', 77, null);
  assert.deepEqual(
    [found, next.notes.all('audit'), next.notes.all('hooks')],
    [
      [
        { seq: 2, text: 'pid 2' },
        { seq: 9, text: 'pid 9' },
      ],
      [{ seq: 9, text: 'pid 9' }],
      [{ seq: 3, text: 'pid 3' }],
    ],
  );
});

test('each sink with notes is named once, whether it is configured or not', (t) => {
  const { outbox } = testStore(t);
  assert.deepEqual(outbox.notes.sinks(), []);
  for (const [sink, seq] of [
    ['hooks', 3],
    ['0', 1],
    ['former', 1],
    ['former', 2],
  ] as const)
    outbox.notes.write(sink, seq, 'a note');
  assert.deepEqual(outbox.notes.sinks(), ['0', 'former', 'hooks']);
});

test('a note is stored as long as delivered rows, or as long as its delivery if that is longer', (t) => {
  const store = testStore(t);
  append(store, [entry('a:scheduled')]);
  const [row] = store.outbox.queue.queued('audit', [], 1);
  store.outbox.notes.write('audit', row?.seq ?? 0, 'of a delivery');
  store.outbox.notes.write('audit', 77, 'of none');
  const startMs = store.time.wallMs();
  const left = (nowMs: number) => {
    store.outbox.retention.prune({ retainMs: 30 * DAY_MS, nowMs });
    return store.outbox.notes.all('audit').map(({ text }) => text);
  };
  assert.deepEqual(
    [left(startMs + 29 * DAY_MS), left(startMs + 31 * DAY_MS)],
    [['of a delivery', 'of none'], ['of a delivery']],
  );
});
