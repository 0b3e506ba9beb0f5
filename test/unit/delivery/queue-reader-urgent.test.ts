// Keys of urgent events, and what is queued of them → their rows, with as few reads as possible.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UrgentRows } from '../../../src/delivery/queue-reader.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';

function given(queued: readonly string[]) {
  const store = new MemoryLaneStore(() => 0);
  for (const id of queued) store.queue('hooks', id.replace(/\d*$/, ''), { id });
  const rows = new UrgentRows((keys, limit) => store.queuedOf('hooks', keys, limit));
  /** What the lane does: these rows are sent. */
  const take = (keys: readonly string[], limit: number, except: readonly string[] = []) => {
    const taken = rows.rows(keys, except, limit);
    rows.drop(new Set(taken.map(({ partitionKey }) => partitionKey)));
    return taken.map(({ id }) => id);
  };
  return { store, rows, take, reads: () => store.askedOf.length };
}

test('rows come in the order of the keys, each key in its own order, and a key that a row was taken of is read again', () => {
  const { take } = given(['b1', 'a1', 'a2', 'c1']);
  const keys = ['a', 'b', 'c'];
  assert.deepEqual(take(keys, 10), ['a1', 'a2', 'b1', 'c1']);
  assert.deepEqual(take(keys, 10, ['a']), ['b1', 'c1']);
  assert.deepEqual(take(keys, 1), ['a1']);
});

test('a key without rows is asked for once, until new rows may be queued', () => {
  const { store, rows, take, reads } = given(['a1']);
  const keys = ['a', 'b', 'c'];
  assert.deepEqual(take(keys, 10, ['a']), []);
  assert.deepEqual(store.askedOf, [['b', 'c']]);
  for (let again = 0; again < 5; again++) assert.deepEqual(take(keys, 10, ['a']), []);
  assert.equal(reads(), 1);
  assert.deepEqual(take(keys, 10), ['a1'], 'a key that was not free is not taken for one without rows');
  store.queue('hooks', 'b', { id: 'b1' });
  rows.invalidate();
  assert.deepEqual(take(keys, 10, ['a']), ['b1']);
});

test('thousands of urgent keys are read in parts, and one part serves several takes', () => {
  const keys = Array.from({ length: 3_000 }, (_, index) => `key-${index}-`);
  const { store, take, reads } = given(keys.slice(2_000).map((key) => `${key}1`));
  const busy: string[] = [];
  for (let round = 0; round < 1_000; round++) busy.push(...take(keys, 1, busy).map((id) => id.slice(0, -1)));
  assert.deepEqual(busy, keys.slice(2_000));
  assert.ok(store.askedOf.every((asked) => asked.length <= 256));
  assert.ok(reads() < 60, `${reads()} reads`);
});

test('when the events are others, what was read before is not taken for urgent any more', () => {
  const { rows, take } = given(['a1', 'a2', 'b1']);
  const [before, now] = [['a', 'b'], ['b']];
  assert.deepEqual(take(before, 1), ['a1']);
  assert.ok(rows.has(before, 'a'));
  assert.ok(!rows.has(now, 'a'));
  assert.deepEqual(take(now, 10), ['b1']);
});

test('what was read of an event that is not urgent any more is left out', () => {
  const { rows } = given(['a1', 'b1']);
  assert.equal(rows.rows(['a', 'b'], [], 2).length, 2);
  assert.deepEqual(
    rows.rows(['b'], [], 2).map(({ id }) => id),
    ['b1'],
  );
});

test('a row that was sent and accepted does not come again', () => {
  const { store, take } = given(['a1', 'a2']);
  const keys = ['a'];
  assert.deepEqual(take(keys, 1), ['a1']);
  store.settle('hooks', [{ seq: 1, result: 'accepted' }]);
  assert.deepEqual(take(keys, 1), ['a2']);
});

test('a key whose rows did not fit in one read is not taken for one without rows', () => {
  const many = (key: string, count: number) => Array.from({ length: count }, (_, index) => `${key}${index}`);
  const few = given([...many('a', 40), 'b1']);
  assert.deepEqual(few.take(['a', 'b'], 1), ['a0']);
  assert.deepEqual(few.take(['a', 'b'], 1, ['a']), ['b1']);

  const keys = [...many('key', 299).map((key) => `${key}-`), 'x', 'y'];
  const parts = given(['key0-1', ...many('x', 40), 'y1']);
  assert.deepEqual(parts.take(keys, 1), ['key0-1']);
  assert.deepEqual(parts.take(keys, 1, ['key0-', 'x']), ['y1']);
});

test('a key without rows is not asked for again with those whose rows are read again', () => {
  const { store, take } = given(['a1', 'a2']);
  const keys = ['a', 'b'];
  take(keys, 1);
  store.settle('hooks', [{ seq: 1, result: 'accepted' }]);
  assert.deepEqual(take(keys, 1), ['a2']);
  assert.deepEqual(store.askedOf, [['a', 'b'], ['a']]);
});
