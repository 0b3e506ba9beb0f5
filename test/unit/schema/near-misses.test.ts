// Keys that are nearly right → the name that was meant; others are left alone.
import assert from 'node:assert/strict';
import test from 'node:test';
import { nearMiss } from '../../../src/schema/near-misses.ts';

const NAMES = ['EventId', 'Seen'];

test('another case, other characters in between and a final s are near misses', () => {
  for (const key of ['seen', 'SEEN', 'sEEN', 'Seens', '_seen', 'Seen ', 'S.e.e.n', '"Seen"'])
    assert.equal(nearMiss({ [key]: 1 }, NAMES), 'Seen', key);
  for (const key of ['eventId', 'EventID', 'event_id', 'EVENT-ID', 'EventIds', 'Event Id:'])
    assert.equal(nearMiss({ [key]: 1 }, NAMES), 'EventId', key);
  assert.equal(nearMiss({ StartRequest: [] }, ['StartRequests']), 'StartRequests');
  assert.equal(nearMiss({ EventId: 'a', Seen: 'b', seen: 'c' }, NAMES), 'Seen', 'beside the right one, too');
});

test('the names themselves and all other keys are not reported', () => {
  assert.equal(nearMiss({ EventId: 'a', Seen: 'b' }, NAMES), null);
  for (const key of ['DocumentIncarnation', 'SeenBy', 'Unseen', 'See', 'Event', 'Id', '', '__proto__', 'Send', 'seed'])
    assert.equal(nearMiss(JSON.parse(`{${JSON.stringify(key)}: 1}`), NAMES), null, key);
});

test('a key of any length is checked quickly', () => {
  const hostile = [
    `seen${'-'.repeat(60_000)}x`,
    `${'-'.repeat(60_000)}see`,
    `s${'e-'.repeat(30_000)}`,
    'seens'.repeat(12_000),
  ];
  for (const key of hostile) assert.equal(nearMiss({ [key]: 1 }, NAMES), null);
});
