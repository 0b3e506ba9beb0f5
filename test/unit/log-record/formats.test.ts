// CloudEvents with hostile texts → one line in each format, from which they can be read back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import { encodeLog, flatRecord, LOG_FORMATS } from '../../../src/log-record/formats.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import { scheduledEvent } from '../../support/events.ts';
import { context, eventChange } from '../cloudevents/changes.ts';
import { hostileText } from './samples.ts';

const stored = (description: string) =>
  toJournalEntry(eventChange({ phase: 'scheduled', event: scheduledEvent({ description }) }), context).bytes;
const lineOf = (...given: Parameters<typeof encodeLog>) => Buffer.from(encodeLog(...given)).toString();

test('json is the CloudEvent, byte for byte as stored', () => {
  const bytes = stored('Wartung – ü');
  assert.deepEqual(Buffer.from(encodeLog(bytes, 'json')), Buffer.from(bytes));
});

test('every event is one line, and its texts can be read back from JSON', () => {
  fc.assert(
    fc.property(hostileText, (description) => {
      const bytes = stored(description);
      for (const format of LOG_FORMATS) {
        const line = lineOf(bytes, format);
        assert.ok(!line.includes('\n'), format);
        if (format !== 'json') assert.ok(!/[\p{Cc}\u2028\u2029]/u.test(line) || format === 'record', format);
      }
      assert.equal(JSON.parse(lineOf(bytes, 'json')).data.description, description);
      assert.deepEqual(JSON.parse(lineOf(bytes, 'record')), JSON.parse(JSON.stringify(flatRecord(logRecord(bytes)))));
    }),
  );
});

test('text and CEF begin as their readers expect', () => {
  const bytes = stored('Host | maintenance = now\nnext');
  assert.match(
    lineOf(bytes, 'text'),
    /^\d{4}-\d\d-\d\dT[^ ]+ (INFO|WARN|ERROR) .*Host \| maintenance = now next \(.*\)$/,
  );
  assert.match(lineOf(bytes, 'cef'), /^CEF:0\|scheduled-events-bridge\|.* externalId=/);
});

test('an event of 64 KiB is one line; only CEF, which limits its fields, is shorter', () => {
  const bytes = stored('x'.repeat(64 * 1024));
  for (const format of LOG_FORMATS) assert.equal(lineOf(bytes, format).length > 64 * 1024, format !== 'cef', format);
  assert.match(lineOf(bytes, 'cef'), /: x{700,}… cs1=/);
});

test('bytes that are not a CloudEvent fail in every format that reads them', () => {
  for (const format of ['record', 'cef', 'text'] as const) assert.throws(() => encodeLog(Buffer.from('{'), format));
});
