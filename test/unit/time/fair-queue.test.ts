// Work of several sides → one piece at a time, each side in its turn; who leaves has none.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FairQueue } from '../../../src/time/fair-queue.ts';
import { settle } from '../../virtual/virtual-time.ts';

/** Work that ends when the test says so; `begun` is the order in which it began. */
function fixture() {
  const turns = new FairQueue();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const take = (side: string, name: string, signal?: AbortSignal) =>
    turns.take(
      side,
      async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        return name;
      },
      signal,
    );
  const endOne = async () => {
    ends.shift()?.();
    await settle();
  };
  return { turns, begun, take, endOne };
}

test('one task runs at a time', async () => {
  const { begun, take, endOne } = fixture();
  const all = [take('a', 'a1'), take('a', 'a2')];
  await settle();
  assert.deepEqual(begun, ['a1']);
  await endOne();
  assert.deepEqual(begun, ['a1', 'a2']);
  await endOne();
  assert.deepEqual(await Promise.all(all), ['a1', 'a2']);
});

test('a network with many tasks waits for itself: each network has its turn', async () => {
  const { begun, take, endOne } = fixture();
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => take('a', name));
  all.push(take('b', 'b1'), take('c', 'c1'), take('b', 'b2'));
  for (let turn = 0; turn < 7; turn++) await endOne();
  await Promise.all(all);
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('a failed task passes its turn on, and no new task overtakes waiting ones', async () => {
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

test('a caller that leaves while it waits has no turn, and does not delay the next ones', async () => {
  const { begun, take, endOne } = fixture();
  const [gone, left] = [new AbortController(), new AbortController()];
  gone.abort(new Error('gone'));
  const first = take('a', 'a1');
  await assert.rejects(take('b', 'b0', gone.signal), /gone/);
  const leaving = [take('a', 'a2', left.signal), take('b', 'b1', left.signal)];
  const staying = [take('a', 'a3'), take('c', 'c1')];
  await settle();
  left.abort(new Error('left'));
  for (const one of leaving) await assert.rejects(one, /left/);
  for (let turn = 0; turn < 3; turn++) await endOne();
  await Promise.all([first, ...staying]);
  assert.deepEqual(begun, ['a1', 'a3', 'c1']);
});

test('work that has begun is not cut off by a signal: it looks at the signal itself', async () => {
  const { begun, take, endOne } = fixture();
  const controller = new AbortController();
  const [first, second] = [take('a', 'a1'), take('b', 'b1', controller.signal)];
  await settle();
  await endOne();
  controller.abort();
  await endOne();
  assert.deepEqual([await first, await second], ['a1', 'b1']);
  assert.deepEqual(begun, ['a1', 'b1']);
});
