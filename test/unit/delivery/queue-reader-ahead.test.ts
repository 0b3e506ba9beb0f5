// ReadAhead on rows made up here: what it gives, in which order, and how seldom it reads.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ReadAhead } from '../../../src/delivery/queue-reader.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';

const SINK = 'hooks';

function fixture(keys: string) {
  const store = new MemoryLaneStore(() => 0);
  for (const key of keys) store.queue(SINK, key);
  const ahead = new ReadAhead((except, limit) => store.queued(SINK, except, limit));
  const accept = (rows: readonly Delivery[]) =>
    store.settle(
      SINK,
      rows.map(({ seq }) => ({ seq, result: 'accepted' })),
    );
  /** What the lane does: these rows are sent. */
  const take = (except: readonly string[], limit: number) => {
    const rows = ahead.rows(except, limit);
    ahead.drop(new Set(rows.map(({ partitionKey }) => partitionKey)));
    return rows;
  };
  return { store, ahead, accept, take };
}

const ids = (rows: readonly Delivery[]) => rows.map(({ id }) => id);

test('rows come in queue order, and the store is read once for many of them', () => {
  const { store, accept, take } = fixture('abcdefghij');
  const taken: string[] = [];
  for (let rows = take([], 1); rows.length > 0; rows = take([], 1)) {
    taken.push(...ids(rows));
    accept(rows);
  }
  assert.deepEqual(taken, ['a:1', 'b:2', 'c:3', 'd:4', 'e:5', 'f:6', 'g:7', 'h:8', 'i:9', 'j:10']);
  assert.equal(store.asked.length, 2);
});

test('less than asked for comes only where the store has no more', () => {
  const { take } = fixture('ab');
  assert.deepEqual(ids(take([], 3)), ['a:1', 'b:2']);
  assert.deepEqual(ids(take(['a'], 3)), ['b:2']);
});

test('what was read ahead of a key that may not go now is left out, and goes later', () => {
  const { store, ahead } = fixture('abc');
  assert.deepEqual(ids(ahead.rows([], 1)), ['a:1']);
  assert.deepEqual(ids(ahead.rows(['b'], 2)), ['a:1', 'c:3']);
  assert.deepEqual(ids(ahead.rows([], 2)), ['a:1', 'b:2']);
  assert.equal(store.asked.length, 1);
});

test('a block of rows is not taken for all of the queue', () => {
  const keys = Array.from({ length: 40 }, (_, index) => String.fromCharCode(0x4e00 + index));
  const { take } = fixture(keys.join(''));
  const busy: string[] = [];
  for (let rows = take(busy, 1); rows.length > 0; rows = take(busy, 1))
    busy.push(...rows.map(({ partitionKey }) => partitionKey));
  assert.deepEqual(busy, keys);
});

test('the next row of a key that a row was taken of is read again: by then it may not go any more', () => {
  const { accept, take } = fixture('aba');
  const [first, second] = [take([], 1), take([], 1)];
  assert.deepEqual([...ids(first), ...ids(second)], ['a:1', 'b:2']);
  accept(second);
  assert.deepEqual(ids(take([], 1)), ['a:1'], 'it failed and is due again');
});

test('the same question has the same answer until rows are sent, and a store that was read to its end is asked no more', () => {
  const { store, ahead, accept, take } = fixture('ab');
  assert.deepEqual(ids(ahead.rows([], 1)), ['a:1']);
  assert.deepEqual(ids(ahead.rows([], 1)), ['a:1']);
  const rows = take([], 2);
  assert.deepEqual(ids(ahead.rows(['a', 'b'], 2)), []);
  assert.equal(store.asked.length, 1);
  accept(rows.slice(1));
  assert.deepEqual(ids(ahead.rows(['b'], 2)), ['a:1'], 'a key that is free again is read again');
});

test('a key that was not free when the store was read to its end is read again, also if as many others are not free now', () => {
  const { ahead } = fixture('ab');
  assert.deepEqual(ids(ahead.rows(['a'], 2)), ['b:2']);
  assert.deepEqual(ids(ahead.rows(['b'], 2)), ['a:1']);
});

test('what is forgotten is read again', () => {
  const { store, ahead, accept, take } = fixture('abc');
  take([], 1);
  accept(store.open.slice(0, 2));
  ahead.invalidate();
  assert.deepEqual(ids(take([], 1)), ['c:3']);
});

test('whatever is taken, and whatever becomes of it, each key stays in order and no row is lost', () => {
  const step = fc.record({
    limit: fc.integer({ min: 1, max: 4 }),
    fails: fc.array(fc.boolean(), { maxLength: 4 }),
    releases: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...'abcdef'), { maxLength: 120 }),
      fc.array(step, { maxLength: 60 }),
      (keys, steps) => {
        const { store, accept, take: next } = fixture(keys.join(''));
        const accepted: Delivery[] = [];
        let blocked = new Set<string>();
        const take = (limit: number, fails: readonly boolean[]) => {
          const seen = new Set<string>();
          for (const [place, row] of next([...blocked], limit).entries()) {
            assert.ok(!blocked.has(row.partitionKey) || seen.has(row.partitionKey), 'a row of a key that may not go');
            seen.add(row.partitionKey);
            if (blocked.has(row.partitionKey) || fails[place]) blocked.add(row.partitionKey);
            else {
              accept([row]);
              accepted.push(row);
            }
          }
        };
        for (const { limit, fails, releases } of steps) {
          if (releases) blocked = new Set();
          take(limit, fails);
        }
        blocked = new Set();
        for (let before = -1; before !== accepted.length; ) {
          before = accepted.length;
          take(7, []);
        }
        assert.equal(store.open.length, 0);
        for (const key of new Set(keys)) {
          const seqs = accepted.filter(({ partitionKey }) => partitionKey === key).map(({ seq }) => seq);
          assert.deepEqual(
            seqs,
            [...seqs].sort((one, other) => one - other),
          );
        }
      },
    ),
  );
});
