// Work of several sides → one piece at a time, each side in its turn, failures or not.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FairQueue } from '../../../src/auth/fair-queue.ts';
import { settle } from '../../virtual/virtual-time.ts';

/** Work that ends when the test says so; `begun` is the order in which it began. */
function fixture() {
  const turns = new FairQueue();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const take = (side: string, name: string) =>
    turns.take(side, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      return name;
    });
  const endOne = async () => {
    ends.shift()?.();
    await settle();
  };
  return { turns, begun, take, endOne };
}

test('one piece of work runs at a time', async () => {
  const { begun, take, endOne } = fixture();
  const all = [take('a', 'a1'), take('a', 'a2')];
  await settle();
  assert.deepEqual(begun, ['a1']);
  await endOne();
  assert.deepEqual(begun, ['a1', 'a2']);
  await endOne();
  assert.deepEqual(await Promise.all(all), ['a1', 'a2']);
});

test('whoever brings much waits behind himself: each side has its turn', async () => {
  const { begun, take, endOne } = fixture();
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => take('a', name));
  all.push(take('b', 'b1'), take('c', 'c1'), take('b', 'b2'));
  for (let turn = 0; turn < 7; turn++) await endOne();
  await Promise.all(all);
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('work that fails gives its turn on, and nobody passes those who wait', async () => {
  const { turns, begun, take, endOne } = fixture();
  const failing = turns.take('a', () => Promise.reject(new Error('no')));
  const next = take('b', 'b1');
  await assert.rejects(failing, /no/);
  await settle();
  const late = take('c', 'c1');
  await settle();
  assert.deepEqual(begun, ['b1']);
  await endOne();
  await endOne();
  await Promise.all([next, late]);
  assert.deepEqual(begun, ['b1', 'c1']);
});
