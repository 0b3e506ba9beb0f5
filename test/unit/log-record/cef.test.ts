// Log records → CEF, read back by the test's own reader.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { toCef } from '../../../src/log-record/cef.ts';
import type { LogRecord } from '../../../src/log-record/log-record.ts';
import { drillEventId } from '../../../src/model/ids.ts';
import { scheduledEvent } from '../../support/events.ts';
import { approvalChange, eventChange, sightChange } from '../cloudevents/changes.ts';
import { HEADER, parseCef } from './read-cef.ts';
import { hostileRecord, hostileText, recordOf, sampleRecords } from './samples.ts';

function read(line: string): { readonly header: readonly string[]; readonly fields: Readonly<Record<string, string>> } {
  const entries = [...parseCef(line)];
  return {
    header: entries.slice(0, HEADER.length).map(([, value]) => value),
    fields: Object.fromEntries(entries.slice(HEADER.length)),
  };
}

/** Characters without an escape in CEF become blanks. */
function blanked(text: unknown): string {
  return String(text).replaceAll(/[[\p{Cc}\p{Bidi_Control}\u2028\u2029]--[\n\r]]/gv, ' ');
}

test('the header has the format, the program, the change and the severity, and no version that a repeat could change', () => {
  const severe = ['Freeze', 'Reboot', 'Terminate'].map(
    (eventType) => read(toCef(recordOf(eventChange({ event: scheduledEvent({ eventType }) })))).header,
  );
  assert.deepEqual(severe, [
    ['CEF:0', 'scheduled-events-bridge', 'scheduled-events-bridge', '2', 'scheduled', 'Maintenance scheduled', '3'],
    ['CEF:0', 'scheduled-events-bridge', 'scheduled-events-bridge', '2', 'scheduled', 'Maintenance scheduled', '6'],
    ['CEF:0', 'scheduled-events-bridge', 'scheduled-events-bridge', '2', 'scheduled', 'Maintenance scheduled', '9'],
  ]);
});

test('an event has keys of the CEF dictionary, each custom one with its label', () => {
  const { message, ...record } = recordOf(
    eventChange({ phase: 'ended', outcome: 'completed', event: scheduledEvent() }),
  );
  assert.deepEqual(read(toCef({ message, ...record })).fields, {
    cnt: '1',
    rt: String(Date.parse(record.time)),
    externalId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    msg: message,
    ...{ cs1: '/subscriptions/s/resourcegroups/g', cs1Label: 'source' },
    ...{ cs2: 'io.github.scheduled-events-bridge.ended.v1', cs2Label: 'type' },
    ...{ cs3: 'Platform', cs3Label: 'eventSource', cs4: 'Freeze', cs4Label: 'eventType' },
    ...{ cs5: 'WestNO_0, WestNO_1', cs5Label: 'resources' },
    ...{ cs6: 'c7061bac-afdc-4513-b24b-aa5f13a16123:ended', cs6Label: 'id' },
    ...{ cn1: '5', cn1Label: 'durationInSeconds' },
    ...{ deviceCustomDate1: String(Date.parse('2022-04-11T22:26:58Z')), deviceCustomDate1Label: 'notBefore' },
    outcome: 'completed',
    dvchost: 'WestNO_0',
  });
});

test('approvals and lost sight have their approver, reason and machine', () => {
  const approval = read(toCef(recordOf(approvalChange({ phase: 'failed', reason: 'changed' })))).fields;
  assert.deepEqual([approval['suser'], approval['reason'], approval['cs4']], ['orders', 'changed', 'freeze']);
  assert.equal(read(toCef(recordOf(sightChange()))).fields['reason'], 'no answer within 10 s');
});

test('no field and no label is without a value', () => {
  for (const record of sampleRecords()) {
    const { fields } = read(toCef(record));
    for (const [key, value] of Object.entries(fields)) {
      assert.notEqual(value, '', key);
      if (key.endsWith('Label')) assert.ok(fields[key.slice(0, -5)], key);
    }
  }
});

test('bars and backslashes in the header, and backslashes, equals signs and line ends in a value are escaped as CEF says', () => {
  const record: LogRecord = {
    ...recordOf(eventChange({ event: scheduledEvent({ resources: ['a=b|c\\d\nnext\r'] }) })),
    attributes: { type: 'bri\\d|ge\nx', id: 'x', time: 'x' },
  };
  assert.match(toCef(record), /^CEF:0\|scheduled-events-bridge\|scheduled-events-bridge\|2\|bri\\\\d\\\|ge x\|/);
  assert.match(toCef(record), / cs5=a\\=b\|c\\\\d\\nnext\\r cs5Label=resources/);
});

test('hostile texts are read back from one line, with blanks for characters that CEF cannot escape', () => {
  fc.assert(
    fc.property(hostileRecord, (record) => {
      const line = toCef(record);
      assert.doesNotMatch(line, /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
      const { fields } = read(line);
      const { eventType, eventSource, resources } = record.data as {
        eventType: string;
        eventSource: string;
        resources: string[];
      };
      assert.equal(fields['msg'], record.message);
      assert.equal(fields['cs4'] ?? '', blanked(eventType));
      assert.equal(fields['cs3'] ?? '', blanked(eventSource));
      assert.equal(fields['cs5'] ?? '', blanked(resources.join(', ')));
      assert.equal(fields['dvchost'] ?? '', blanked(record.host));
    }),
  );
});

test('an approval has the EventId and the id of its CloudEvent; lost sight has only the id', () => {
  const approval = read(toCef(recordOf(approvalChange()))).fields;
  assert.deepEqual([approval['externalId'], approval['cs6Label']], ['C7061BAC-AFDC-4513-B24B-AA5F13A16123', 'id']);
  const sight = read(toCef(recordOf(sightChange()))).fields;
  assert.deepEqual([sight['externalId'], sight['cs6']], [undefined, 'source-blind:0123456789abcdef']);
});

test('the EventId of a drill is longer than 40 characters and is cut; the id begins with the whole EventId', () => {
  const eventId = drillEventId('c7061bac-afdc-4513-b24b-aa5f13a16123');
  const { externalId, cs6 } = read(toCef(recordOf(eventChange({ event: scheduledEvent({ eventId }) })))).fields;
  assert.deepEqual([externalId, cs6], ['drill-c7061bac-afdc-4513-b24b-aa5f13a16…', `${eventId}:scheduled`]);
});

/** The most characters of each field, by the dictionary of CEF. */
const LONGEST = {
  externalId: 40,
  msg: 1023,
  reason: 1023,
  suser: 1023,
  cs3: 4000,
  cs4: 4000,
  cs5: 4000,
  dvchost: 100,
  flexString1: 1023,
};

test('no field is longer than CEF allows: it is cut before an escape or character that does not fit, and ends in …', () => {
  const long = fc
    .tuple(hostileText.filter(Boolean), fc.integer({ min: 0, max: 3 }))
    .map(([text, more]) => 'a'.repeat(more) + text.repeat(Math.ceil(9000 / text.length)));
  fc.assert(
    fc.property(long, (text) => {
      const event = scheduledEvent({
        eventId: text,
        eventType: text,
        eventSource: text,
        resources: [text],
        description: text,
      });
      const observer = { name: text, id: 'vm', vm: { tags: { [text]: text } } };
      const changes = [
        eventChange({ event }),
        approvalChange({ event, phase: 'failed', reason: text, approver: text }),
      ];
      const lines = changes.map((change) => toCef(recordOf(change, { observer })));
      const raw = new Map(
        lines
          .flatMap((line) => line.split(/ (?=[A-Za-z0-9]+=)/))
          .map((field) => [field.slice(0, field.indexOf('=')), field.slice(field.indexOf('=') + 1)]),
      );
      for (const line of lines) assert.ok(read(line) && line.isWellFormed());
      for (const [key, most] of Object.entries(LONGEST)) {
        const value = raw.get(key) ?? assert.fail(key);
        assert.ok(value.length <= most && value.length > most - 3 && value.endsWith('…'), `${key}: ${value.length}`);
      }
    }),
    { numRuns: 50 },
  );
});

test('a field as long as CEF allows is not cut, and one that is a character longer is', () => {
  const fieldOf = (resources: string) =>
    read(toCef(recordOf(eventChange({ event: scheduledEvent({ resources: [resources] }) })))).fields['cs5'];
  assert.equal(fieldOf('x'.repeat(4000)), 'x'.repeat(4000));
  assert.equal(fieldOf('x'.repeat(4001)), `${'x'.repeat(3999)}…`);
  assert.equal(fieldOf(`${'x'.repeat(3998)}💥x`), `${'x'.repeat(3998)}…`);
  assert.equal(fieldOf(`${'x'.repeat(3998)}==`), `${'x'.repeat(3998)}…`);
});
