// Deliveries of two maintenances, with one fault each → the count of that fault.
import assert from 'node:assert/strict';
import test from 'node:test';
import { alteredBetween, expectedTypes, judgedDeliveries } from './judged-deliveries.ts';
import { eventIdOf } from './mix.ts';

function delivery(index: number, type: string, more: object = {}): string {
  const partitionkey = eventIdOf(index).toLowerCase();
  const event = { id: `${partitionkey}:${type}`, type: `io.github.scheduled-events-bridge.${type}.v1`, partitionkey };
  return JSON.stringify({ ...event, ...more });
}

const GOOD = [0, 1].flatMap((index) => expectedTypes(index).map((type) => delivery(index, type)));
const NONE = { lost: 0, misordered: 0, invented: 0, twice: 0 };

test('all of two maintenances is without fault: six deliveries of the approved one, four of the other', () => {
  assert.equal(GOOD.length, 10);
  assert.deepEqual(judgedDeliveries(GOOD, 2), NONE);
});

test('each fault is counted as what it is', () => {
  const swapped = [...GOOD.slice(1, 2), ...GOOD.slice(0, 1), ...GOOD.slice(2)];
  assert.deepEqual(judgedDeliveries(GOOD.slice(1), 2), { ...NONE, lost: 1 });
  assert.deepEqual(judgedDeliveries([...GOOD, GOOD[0] ?? ''], 2), { ...NONE, twice: 1 });
  assert.deepEqual(judgedDeliveries(swapped, 2), { ...NONE, misordered: 1 });
  assert.deepEqual(judgedDeliveries([...GOOD, delivery(7, 'scheduled')], 2), { ...NONE, invented: 1 });
  assert.deepEqual(judgedDeliveries([...GOOD, delivery(1, 'approval.submitted')], 2), { ...NONE, invented: 1 });
  assert.deepEqual(judgedDeliveries([...GOOD, delivery(1, 'updated', { id: 'another' })], 2), {
    ...NONE,
    invented: 1,
    misordered: 1,
  });
});

test('other bytes under the same id are altered', () => {
  assert.equal(alteredBetween(GOOD, GOOD), 0);
  assert.equal(alteredBetween(GOOD, [...GOOD.slice(1), delivery(0, 'scheduled', { subject: 'other' })]), 1);
});
