// The annotation's text ↔ the record; what somebody else wrote there, and many events.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  EMPTY_RECORD,
  readRecord,
  withEvent,
  withMark,
  withoutEvent,
  writeRecord,
} from '../../../../../adapters/kubernetes/node/record.ts';

test('a record is read as it was written', () => {
  const record = withMark(withEvent(EMPTY_RECORD, { key: 'a', type: 'Reboot' }), 'cordon');
  assert.deepEqual(readRecord(writeRecord(record)), record);
  assert.deepEqual(withoutEvent(record, 'a'), { events: [], did: ['cordon'], conditions: [] });
});

test('an event that is there already keeps its place, with its new type', () => {
  const two = withEvent(withEvent(EMPTY_RECORD, { key: 'a', type: 'Freeze' }), { key: 'b', type: 'Reboot' });
  assert.deepEqual(withEvent(two, { key: 'a', type: 'Redeploy' }).events, [
    { key: 'a', type: 'Redeploy' },
    { key: 'b', type: 'Reboot' },
  ]);
});

test('what this program did not write is no record', () => {
  for (const text of ['', 'yes', '[]', '{}', '{"events":1,"did":[]}', 'null']) assert.equal(readRecord(text), null);
  assert.deepEqual(readRecord('{"events":[1,{"key":"a","type":"x"}],"did":["cordon","rm"]}'), {
    events: [{ key: 'a', type: 'x' }],
    did: ['cordon'],
    conditions: [],
  });
  assert.equal(readRecord(undefined), EMPTY_RECORD);
});

test('it has a bound: of more than 32 events the oldest is forgotten', () => {
  let record = EMPTY_RECORD;
  for (let index = 0; index < 40; index += 1) record = withEvent(record, { key: `${index}`, type: 'Reboot' });
  assert.deepEqual([record.events.length, record.events[0]?.key], [32, '8']);
});

test('conditions are written only if they are not those of an earlier release', () => {
  const usual = { events: [], did: ['condition'], conditions: [{ type: 'ScheduledEvent', before: null }] } as const;
  assert.equal(writeRecord(usual), '{"events":[],"did":["condition"]}');
  assert.deepEqual(readRecord(writeRecord(usual)), usual);
  const before = { status: 'False', reason: 'None', message: 'no event' };
  const more = { ...usual, conditions: [...usual.conditions, { type: 'VMEventScheduled', before }] };
  assert.deepEqual(readRecord(writeRecord(more)), more);
});
