// planBatches and halves, on rows made up here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { halves, planBatches } from '../../../src/delivery/batch.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';

function rowsOf(...rows: readonly (readonly [key: string, bytes: number])[]): Delivery[] {
  return rows.map(([partitionKey, bytes], seq) => ({
    seq,
    sink: 'hooks',
    id: String(seq),
    change: 'scheduled',
    partitionKey,
    timeMs: 0,
    bytes: new Uint8Array(bytes),
    queuedAtMs: 0,
    attempts: 0,
    endedAtMs: null,
  }));
}

function plan(rows: readonly Delivery[], batch: number, batchBytes: number, slots: number): number[][] {
  return planBatches(rows, { batch, batchBytes }, slots).map((members) => members.map(({ seq }) => seq));
}

test('one batch takes all that is queued, several rows of a key in order', () => {
  assert.deepEqual(plan(rowsOf(['a', 1], ['b', 1], ['a', 1]), 10, 100, 3), [[0, 1, 2]]);
});

test('batches of one hold different keys', () => {
  assert.deepEqual(plan(rowsOf(['a', 1], ['a', 1], ['b', 1], ['c', 1]), 1, 100, 2), [[0], [2]]);
});

test('a member larger than the byte limit goes alone', () => {
  assert.deepEqual(plan(rowsOf(['a', 5], ['b', 50], ['c', 5]), 10, 10, 5), [[0], [1], [2]]);
});

test('a row that does not fit holds back the later rows of its key, not those of others', () => {
  assert.deepEqual(plan(rowsOf(['a', 6], ['a', 6], ['b', 4], ['a', 0]), 10, 10, 5), [[0, 2]]);
});

test('the next row of a key goes in its batch or stays queued, though a later batch has room', () => {
  assert.deepEqual(plan(rowsOf(['a', 1], ['b', 1], ['c', 1], ['a', 1], ['d', 1]), 2, 100, 2), [
    [0, 1],
    [2, 4],
  ]);
});

test('a key that is to be alone shares its batch with none, and has its own rows in it', () => {
  const rows = rowsOf(['a', 1], ['b', 1], ['alone', 1], ['c', 1], ['alone', 1], ['d', 1]);
  const batches = planBatches(rows, { batch: 10, batchBytes: 100, isAlone: (key) => key === 'alone' }, 5);
  assert.deepEqual(
    batches.map((members) => members.map(({ partitionKey }) => partitionKey)),
    [['a', 'b'], ['alone'], ['c', 'd']],
  );
  const first = planBatches(
    rowsOf(['alone', 1], ['alone', 1], ['a', 1]),
    { batch: 10, batchBytes: 100, isAlone: (key) => key === 'alone' },
    5,
  );
  assert.deepEqual(
    first.map((members) => members.map(({ partitionKey }) => partitionKey)),
    [['alone', 'alone'], ['a']],
  );
});

test('for any rows: limits hold, keys stay together and in order, nothing is in two batches', () => {
  const row = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat(20));
  fc.assert(
    fc.property(
      fc.array(row),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      (given, batch, slots) => {
        const rows = rowsOf(...given);
        const batches = planBatches(rows, { batch, batchBytes: 15 }, slots);
        assert.ok(batches.length <= slots);
        assert.ok(rows.length === 0 || batches[0]?.[0] === rows[0]);
        const owner = new Map<string, number>();
        batches.forEach((members, index) => {
          assert.ok(members.length > 0 && members.length <= batch);
          assert.ok(members.length === 1 || members.reduce((sum, { bytes }) => sum + bytes.length, 0) <= 15);
          for (const { partitionKey } of members) assert.equal(owner.get(partitionKey) ?? index, index);
          for (const { partitionKey } of members) owner.set(partitionKey, index);
        });
        for (const key of owner.keys()) {
          const sent = batches.flat().filter(({ partitionKey }) => partitionKey === key);
          const queued = rows.filter(({ partitionKey }) => partitionKey === key);
          assert.deepEqual(sent, queued.slice(0, sent.length));
        }
      },
    ),
  );
});

test('halves keep the order, and one alone stays whole', () => {
  const rows = rowsOf(['a', 1], ['b', 1], ['c', 1]);
  assert.deepEqual(halves(rows), [rows.slice(0, 2), rows.slice(2)]);
  assert.deepEqual(halves(rows.slice(0, 1)), [rows.slice(0, 1)]);
  assert.deepEqual(halves([]), []);
});
