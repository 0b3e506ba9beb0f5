// src/model/api-versions.ts: the version table (protocol 4.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSIONS, lacksField } from '../../../src/model/api-versions.ts';
import type { EventField } from '../../../src/model/events.ts';

test('lists the api-versions newest first', () => {
  assert.deepEqual([...API_VERSIONS].sort().reverse(), [...API_VERSIONS]);
  assert.equal(API_VERSIONS[0], '2024-07-09');
});

test('each field is present from the version that added it on', () => {
  const first = (field: EventField) => API_VERSIONS.findLast((version) => !lacksField(version, field));
  assert.equal(first('description'), '2019-04-01');
  assert.equal(first('eventSource'), '2019-08-01');
  assert.equal(first('durationInSeconds'), '2020-07-01');
  for (const field of ['eventType', 'eventStatus', 'notBefore', 'resources', 'resourceType'] as const)
    assert.equal(first(field), '2017-03-01');
});

test('an unknown version has the fields of its date, and one without a date has all fields', () => {
  assert.equal(lacksField('2019-06-01', 'eventSource'), true);
  assert.equal(lacksField('2031-01-01', 'eventSource'), false);
  assert.equal(lacksField('latest', 'eventSource'), false);
});
