// Stored bytes → the record, its flat form and its line of text.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import { flatRecord, toText } from '../../../src/log-record/formats.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import { scheduledEvent } from '../../support/events.ts';
import { approvalChange, context, eventChange, sightChange } from '../cloudevents/changes.ts';
import { hostileRecord, recordOf, sampleRecords } from './samples.ts';

test('a record has the time, every attribute that is set, the data unchanged, and the machine that saw it', () => {
  const { bytes } = toJournalEntry(eventChange(), context);
  const { data, ...attributes } = JSON.parse(new TextDecoder().decode(bytes));
  const record = logRecord(bytes);
  assert.deepEqual(record.attributes, attributes);
  assert.deepEqual(record.data, data);
  assert.deepEqual([record.time, record.host], [attributes.time, 'WestNO_0']);
  assert.equal(recordOf(eventChange(), { observer: { name: null, id: 'x' } }).host, null);
});

test('the severity has the number of the CloudEvent and one of three names', () => {
  const impacts = ['Freeze', 'Reboot', 'Terminate'].map((eventType) =>
    recordOf(eventChange({ event: scheduledEvent({ eventType }) })),
  );
  const severities = [...impacts, recordOf(sightChange()), recordOf(approvalChange())].map((record) => [
    record.severityNumber,
    record.severity,
  ]);
  assert.deepEqual(severities, [
    [9, 'INFO'],
    [13, 'WARN'],
    [17, 'ERROR'],
    [13, 'WARN'],
    [9, 'INFO'],
  ]);
});

test('the same bytes give the same record, byte for byte', () => {
  const { bytes } = toJournalEntry(eventChange(), context);
  assert.equal(JSON.stringify(logRecord(bytes)), JSON.stringify(logRecord(bytes)));
});

test('bytes that are not a CloudEvent with an object as its data are refused', () => {
  for (const text of ['', '[]', '{"data":1}', 'null', '\ufffd'])
    assert.throws(() => logRecord(new TextEncoder().encode(text)));
});

test('the flat record has attributes by their names, data with dots, and no object', () => {
  const flat = flatRecord(recordOf(eventChange()));
  assert.equal(flat['severity'], 'INFO');
  assert.equal(flat['id'], 'c7061bac-afdc-4513-b24b-aa5f13a16123:scheduled');
  assert.equal(flat['data.observer.name'], 'WestNO_0');
  assert.deepEqual(flat['data.resources'], ['WestNO_0', 'WestNO_1']);
  assert.equal(flat['data.previousStatus'], null);
  const objects = sampleRecords().flatMap((record) =>
    Object.values(flatRecord(record)).filter(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    ),
  );
  assert.deepEqual(objects, []);
});

test('hostile texts do not change in the flat record', () => {
  fc.assert(
    fc.property(hostileRecord, (record) => {
      const back = JSON.parse(JSON.stringify(flatRecord(record)));
      const { data } = record;
      for (const field of ['description', 'eventType', 'eventSource', 'resources'])
        assert.deepEqual(back[`data.${field}`], data[field]);
      assert.equal(back['data.observer.name'], record.host);
    }),
  );
});

test('the line of text is time, severity, message and the id', () => {
  assert.equal(
    toText(recordOf(eventChange({ event: scheduledEvent({ description: 'paused\nnow' }) }))),
    '2022-04-11T22:00:01.234Z INFO Platform will freeze WestNO_0 and WestNO_1, not before 2022-04-11T22:26:58Z: paused now (c7061bac-afdc-4513-b24b-aa5f13a16123:scheduled)',
  );
});
