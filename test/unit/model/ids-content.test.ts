// Events → content, canonical JSON and h16, against the worked example (behaviour 3.12).
import assert from 'node:assert/strict';
import test from 'node:test';
import { contentHash16, contentJson, contentOf } from '../../../src/model/ids.ts';
import { scheduledEvent } from '../../support/events.ts';

test('the content of the worked example has the documented hash (behaviour 3.12)', () => {
  assert.equal(contentHash16(scheduledEvent()), '6870c4a0950f67c0');
});

test('the order of the names, repeated names and the letter case of the id do not count', () => {
  const event = scheduledEvent({
    eventId: 'c7061bac-AFDC-4513-b24b-aa5f13a16123',
    resources: ['WestNO_1', 'WestNO_0', 'WestNO_1'],
  });
  assert.equal(contentHash16(event), '6870c4a0950f67c0');
});

test('the letter case of everything else counts', () => {
  for (const fields of [
    { eventType: 'freeze' },
    { eventSource: 'platform' },
    { resources: ['westno_0', 'WestNO_1'] },
  ]) {
    assert.notEqual(contentHash16(scheduledEvent(fields)), '6870c4a0950f67c0');
  }
});

test('names are sorted by UTF-16 code units', () => {
  const { Resources } = contentOf(scheduledEvent({ resources: ['ｚ', '\u{1f600}', 'b', 'B', 'é', 'a_10', 'a_2'] }));
  assert.deepEqual(Resources, ['B', 'a_10', 'a_2', 'b', 'é', '\u{1f600}', 'ｚ']);
});

test('absent fields have their documented values in the canonical JSON (behaviour 3.3)', () => {
  const event = scheduledEvent({
    description: '',
    durationInSeconds: -1,
    eventSource: '',
    notBefore: null,
    resources: [],
    resourceType: '',
  });
  assert.equal(
    contentJson(event),
    '{"Description":"","DurationInSeconds":-1,"EventId":"c7061bac-afdc-4513-b24b-aa5f13a16123","EventSource":"","EventStatus":"Scheduled",' +
      '"EventType":"Freeze","NotBefore":null,"ResourceType":"","Resources":[]}',
  );
});
