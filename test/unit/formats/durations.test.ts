// Seconds → time spans for people.
import assert from 'node:assert/strict';
import test from 'node:test';
import { spokenTime } from '../../../src/formats/durations.ts';

test('a time span has its two largest units and whole seconds', () => {
  const spans = [-3, 0, 5.4, 59.7, 65, 3600, 3 * 86_400 + 4 * 3600 + 59];
  assert.deepEqual(spans.map(spokenTime), ['0s', '0s', '5s', '1m 0s', '1m 5s', '1h 0m', '3d 4h']);
});
