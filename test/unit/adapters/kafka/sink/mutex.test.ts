// Callers that want the same turn, some of whom give up → who has it when; no place is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Mutex } from '../../../../../adapters/kafka/sink/mutex.ts';

/** All ask at once; `had` tells who had the turn, in this order. */
function queueOf(turns: Mutex, names: readonly string[]) {
  const had: string[] = [];
  const ends = new Map(names.map((name) => [name, new AbortController()]));
  const entered = names.map(async (name) => {
    await turns.enter((ends.get(name) ?? new AbortController()).signal);
    had.push(name);
  });
  return { had, entered, giveUp: (name: string) => ends.get(name)?.abort(new Error(`${name} gave up`)) };
}

test('the turn goes round in the order of the calls, past those who gave up meanwhile', async () => {
  const turns = new Mutex();
  const { had, entered, giveUp } = queueOf(turns, ['a', 'b', 'c']);
  await entered[0];
  giveUp('b');
  await assert.rejects(entered[1] ?? Promise.resolve(), { message: 'b gave up' });
  turns.leave();
  await entered[2];
  assert.deepEqual(had, ['a', 'c']);
});

test('who gives up with the turn in hand takes nobody out of the queue', async () => {
  const turns = new Mutex();
  const { had, entered, giveUp } = queueOf(turns, ['a', 'b', 'c']);
  await entered[0];
  turns.leave();
  await entered[1];
  giveUp('b');
  turns.leave();
  await entered[2];
  assert.deepEqual(had, ['a', 'b', 'c']);
});

test('what failed for one fails for all who wait now, and the turn is free again after its holder', async () => {
  const turns = new Mutex();
  const { entered } = queueOf(turns, ['a', 'b', 'c']);
  await entered[0];
  turns.failWaiting(new Error('in vain'));
  for (const waiting of entered.slice(1)) await assert.rejects(waiting, { message: 'in vain' });
  turns.leave();
  await queueOf(turns, ['d']).entered[0];
});
