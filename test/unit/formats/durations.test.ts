// Durations as people write them → milliseconds; seconds → time spans for people.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseDuration, spokenTime } from '../../../src/formats/durations.ts';

test('a duration of more digits than a number can hold is not a duration', () => {
  const nines = '9'.repeat(400);
  assert.deepEqual([`${nines}h`, `${nines}.5ms`, '1.5h'].map(parseDuration), [null, null, 5_400_000]);
});

test('a time span has its two largest units and whole seconds', () => {
  const spans = [-3, 0, 5.4, 59.7, 65, 3600, 3 * 86_400 + 4 * 3600 + 59];
  assert.deepEqual(spans.map(spokenTime), ['0s', '0s', '5s', '1m 0s', '1m 5s', '1h 0m', '3d 4h']);
});
