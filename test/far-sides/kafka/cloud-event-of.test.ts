// Records of both modes → the same CloudEvents, whatever the SDK makes of keys and media types.
import assert from 'node:assert/strict';
import test from 'node:test';
import { cloudEventOf } from './cloud-event-of.ts';
import type { ReadRecord } from './records.ts';

const ATTRIBUTES = {
  id: '1',
  source: '/a',
  type: 'b',
  specversion: '1.0',
  time: '2022-04-11T22:26:58.000Z',
  partitionkey: 'own',
  impact: 'freeze',
};
const RECORD = { partition: 0, offset: 0, timestampMs: 0, key: 'another' };
const BINARY: ReadRecord = {
  ...RECORD,
  headers: [
    ['content-type', 'application/json'],
    ...Object.entries(ATTRIBUTES).map(([name, value]) => [`ce_${name}`, value] as const),
  ],
  value: '{"x":1}',
};
const STRUCTURED: ReadRecord = {
  ...RECORD,
  headers: [['content-type', 'application/cloudevents+json; charset=UTF-8']],
  value: JSON.stringify({ ...ATTRIBUTES, datacontenttype: 'application/json', data: { x: 1 } }),
};

for (const [mode, record] of Object.entries({ BINARY, STRUCTURED })) {
  test(`a record in ${mode.toLowerCase()} mode is read with all its attributes and its own partitionkey`, () => {
    const event = cloudEventOf(record);
    assert.deepEqual(JSON.parse(JSON.stringify(event)), {
      ...ATTRIBUTES,
      datacontenttype: 'application/json',
      data: { x: 1 },
    });
  });
}

test('a record that is not a CloudEvent is an error', () => {
  assert.throws(() => cloudEventOf({ ...BINARY, headers: [] }), /No CloudEvent/);
  assert.throws(() => cloudEventOf({ ...BINARY, value: null }), /Value is null/);
});
