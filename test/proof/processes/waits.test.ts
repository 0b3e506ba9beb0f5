// Spans in which programs waited → how much of a span they waited.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Waits } from './waits.ts';

test('waits count as far as they lie in the span, and at the same time once', () => {
  const waits = new Waits();
  waits.add(1000, 300);
  waits.add(900, 100);
  waits.add(1200, 250);
  waits.add(5000, 1000);
  assert.equal(waits.within(0, 10_000), 500 + 1000);
  assert.equal(waits.within(750, 850), 100);
  assert.equal(waits.within(1150, 4200), 50 + 200);
  assert.equal(waits.within(1300, 3900), 0);
});

test('no wait adds nothing', () => {
  const waits = new Waits();
  waits.add(1000, 0);
  waits.add(2000, -5);
  assert.equal(waits.within(0, 3000), 0);
});
