// Deliveries → syslog messages by RFC 5424 and RFC 3164, read back by a separate parser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { messageEncoder } from '../../../../../adapters/syslog/message/message-encoder.ts';
import { syslogOptions } from '../../../../../adapters/syslog/syslog-options.ts';
import { toJournalEntry } from '../../../../../src/cloudevents/event.ts';
import { toCef } from '../../../../../src/log-record/cef.ts';
import { flatRecord } from '../../../../../src/log-record/formats.ts';
import { logRecord } from '../../../../../src/log-record/log-record.ts';
import type { Delivery } from '../../../../../src/model/deliveries.ts';
import type { Change } from '../../../../../src/model/events.ts';
import { sampleDelivery } from '../../../../adapters/sample-deliveries.ts';
import { type ParsedMessage, parsedMessage } from '../../../../far-sides/syslog/parsed-message.ts';
import { scheduledEvent } from '../../../../support/events.ts';
import { approvalChange, context, eventChange, sightChange } from '../../../cloudevents/changes.ts';
import { hostileText } from '../../../log-record/samples.ts';

const BOM = '\ufeff';

function deliveryOf(change: Change, name: string | null = 'WestNO_0'): Delivery {
  const { id, change: changed, bytes } = toJournalEntry(change, { ...context, observer: { name, id: 'vm' } });
  return { ...sampleDelivery(), id, change: changed, bytes };
}

function encoded(delivery: Delivery, options: Readonly<Record<string, unknown>> = {}): Buffer {
  return messageEncoder(v.parse(syslogOptions, { server: 'tcp://logs:601', ...options }), 'logs')(delivery);
}

function read(delivery: Delivery, options: Readonly<Record<string, unknown>> = {}): ParsedMessage {
  return parsedMessage(encoded(delivery, options));
}

test('the header has the machine, the program, the change and the time of the CloudEvent', () => {
  const { priority, time, host, appName, processId, messageId } = read(deliveryOf(eventChange()));
  const { time: expected } = logRecord(deliveryOf(eventChange()).bytes);
  assert.deepEqual(
    [priority, host, appName, processId, messageId],
    [30, 'WestNO_0', 'scheduled-events-bridge', '-', 'scheduled'],
  );
  assert.equal(time, new Date(expected).toISOString());
  assert.equal(read(deliveryOf(approvalChange({ phase: 'failed' }))).messageId, 'approval.failed');
  assert.equal(read(deliveryOf(sightChange())).priority, 28);
});

test('the structured data have every attribute of the CloudEvent, under the enterprise number', () => {
  const delivery = deliveryOf(eventChange());
  const attributes = Object.fromEntries(
    Object.entries(logRecord(delivery.bytes).attributes).map(([name, value]) => [name, String(value)]),
  );
  assert.deepEqual(read(delivery).structuredData, { 'cloudevent@32473': attributes });
  assert.deepEqual(Object.keys(read(delivery, { enterprise: 311 }).structuredData), ['cloudevent@311']);
  assert.deepEqual([attributes['id'], attributes['severitynumber']], [delivery.id, '9']);
});

test('an unknown or invalid host name leaves the header valid', () => {
  assert.equal(read(deliveryOf(eventChange(), null)).host, '-');
  assert.equal(read(deliveryOf(eventChange(), 'büro 1\n]')).host, 'b_ro_1_]');
  assert.equal(read(deliveryOf(eventChange(), 'x'.repeat(300))).host.length, 255);
});

test('json is the CloudEvent byte for byte, and only text beyond ASCII has a byte order mark', () => {
  const delivery = deliveryOf(eventChange({ event: scheduledEvent({ description: 'Wartung für „WestNO“' }) }));
  const record = logRecord(delivery.bytes);
  assert.deepEqual(read(delivery).message, Buffer.from(delivery.bytes));
  assert.deepEqual(JSON.parse(read(delivery, { format: 'record' }).message.toString()), flatRecord(record));
  assert.equal(read(delivery, { format: 'cef' }).message.toString(), toCef(record));
  assert.match(toCef(record), /^CEF:0\|/);
  assert.equal(read(delivery, { format: 'text' }).message.toString(), `${BOM}${record.message}`);
  const plain = deliveryOf(eventChange());
  assert.equal(read(plain, { format: 'text' }).message.toString(), logRecord(plain.bytes).message);
});

test('the same delivery gives the same bytes', () => {
  for (const format of ['json', 'record', 'cef', 'text']) {
    const delivery = deliveryOf(eventChange());
    assert.deepEqual(encoded(delivery, { format }), encoded({ ...delivery, attempts: 7 }, { format }));
  }
});

test('hostile texts can be read back from every format, and none ends a message or a field', () => {
  fc.assert(
    fc.property(hostileText, hostileText, (description, eventType) => {
      const delivery = deliveryOf(eventChange({ event: scheduledEvent({ description, eventType }) }));
      const record = logRecord(delivery.bytes);
      const json = read(delivery);
      assert.deepEqual(JSON.parse(json.message.toString()).data.description, description);
      assert.equal(
        JSON.parse(read(delivery, { format: 'record' }).message.toString())['data.description'],
        description,
      );
      assert.equal(read(delivery, { format: 'text' }).message.toString().replace(BOM, ''), record.message);
      assert.equal(json.structuredData['cloudevent@32473']?.['impact'], record.attributes['impact']);
      for (const format of ['json', 'record', 'cef', 'text'])
        assert.ok(!encoded(delivery, { format }).includes('\n'), format);
    }),
  );
});

test('quotes, backslashes and brackets in an attribute are escaped, and can be read back', () => {
  const delivery = deliveryOf(eventChange({ event: scheduledEvent({ eventType: 'a"b\\c]d' }) }));
  assert.ok(encoded(delivery).includes('impact="a\\"b\\\\c\\]d"'));
  assert.equal(read(delivery).structuredData['cloudevent@32473']?.['impact'], 'a"b\\c]d');
});

test('a long message is cut to its limit, and its header stays whole', () => {
  const delivery = sampleDelivery({ padding: 70_000 });
  const bytes = encoded(delivery, { format: 'text' });
  assert.equal(bytes.length, 65_536);
  assert.ok(bytes.toString().endsWith('xxx…'));
  assert.equal(parsedMessage(bytes).structuredData['cloudevent@32473']?.['id'], delivery.id);
});

test('a long json or record message stays JSON: only its long texts are cut', () => {
  const description = `${'quote " bar \\ 💥'.repeat(5000)}`;
  const delivery = deliveryOf(eventChange({ event: scheduledEvent({ description }) }));
  const event = JSON.parse(Buffer.from(delivery.bytes).toString());
  for (const options of [{}, { maxBytes: '16KiB' }, { server: 'udp://logs:514' }, { legacy: true }]) {
    const [json, record] = ['json', 'record'].map((format) =>
      JSON.parse(messageIn(encoded(delivery, { format, ...options }))),
    );
    const { description: cut } = json.data;
    assert.deepEqual(json, { ...event, data: { ...event.data, description: cut } });
    assert.ok(cut.endsWith('…') && cut.length > 2000 && description.startsWith(cut.slice(0, -1)));
    const flat = flatRecord(logRecord(delivery.bytes));
    assert.deepEqual(record, { ...flat, message: record.message, 'data.description': record['data.description'] });
    assert.ok(record.message.endsWith('…') && record['data.description'].endsWith('…'));
  }
});

test('json that is too long even with its long texts cut is refused, and the message says what to do', () => {
  const resources = Array.from({ length: 1000 }, (_, index) => `machine-of-a-scale-set_${index}`);
  const delivery = deliveryOf(eventChange({ event: scheduledEvent({ resources }) }));
  assert.deepEqual(JSON.parse(messageIn(encoded(delivery))).data.resources, resources);
  for (const format of ['json', 'record'])
    assert.throws(() => encoded(delivery, { format, server: 'udp://logs:514' }), {
      code: 'BRIDGE_SYSLOG_REFUSED',
      disposition: 'refused',
      message: /is longer than maxBytes \(8192 bytes\), .*: raise maxBytes, then run dead-letters retry$/,
    });
});

test('a line of CEF is never cut inside an escape', () => {
  const resources = ['\\'.repeat(1900)];
  const delivery = deliveryOf(eventChange({ event: scheduledEvent({ resources }) }));
  for (let maxBytes = 4000; maxBytes < 4010; maxBytes++) {
    const message = messageIn(encoded(delivery, { format: 'cef', maxBytes: `${maxBytes}B` }));
    assert.match(message, /[^\\](?:\\\\)+…$/);
  }
});

/** Returns the message after the header of either RFC. */
function messageIn(bytes: Buffer): string {
  const text = bytes.toString();
  return text.startsWith('<30>1 ') ? parsedMessage(bytes).message.toString() : text.slice(text.indexOf('bridge: ') + 8);
}

test('a header that is too long is refused, and the message says what to do', () => {
  assert.throws(() => encoded(sampleDelivery(), { maxBytes: '480B' }), {
    code: 'BRIDGE_SYSLOG_REFUSED',
    disposition: 'refused',
    message: /raise maxBytes/,
  });
});

test('a delivery without a CloudEvent is refused, and the message does not quote it', () => {
  const broken = { ...sampleDelivery(), bytes: Buffer.from('a-payload-nobody-may-log') };
  assert.throws(
    () => encoded(broken),
    (error: Error) => error.message.includes('SyntaxError') && !error.message.includes('payload-nobody'),
  );
});

test('legacy messages have the local time, the machine, the program as the tag, and no byte order mark', () => {
  const delivery = deliveryOf(
    eventChange({ event: scheduledEvent({ description: 'Wartung für „WestNO“' }) }),
    'west:no 0',
  );
  const { time, message } = logRecord(delivery.bytes);
  const at = new Date(time);
  const month = at.toLocaleString('en-US', { month: 'short' });
  const expected = `<30>${month} ${String(at.getDate()).padStart(2, ' ')} ${at.toTimeString().slice(0, 8)} west_no_0 scheduled-events-bridge: ${message}`;
  assert.equal(encoded(delivery, { legacy: true, format: 'text' }).toString(), expected);
});
