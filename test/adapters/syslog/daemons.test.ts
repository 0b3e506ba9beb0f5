// Real rsyslog and syslog-ng over each transport → what they wrote; killing them loses nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import { toCef } from '../../../src/log-record/cef.ts';
import { flatRecord } from '../../../src/log-record/formats.ts';
import { type LogRecord, logRecord } from '../../../src/log-record/log-record.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { Change } from '../../../src/model/events.ts';
import { rsyslog, syslogNg } from '../../far-sides/syslog/daemons.ts';
import { type ReadBack, SyslogDaemon } from '../../far-sides/syslog/syslog-daemon.ts';
import { scheduledEvent } from '../../support/events.ts';
import { poll } from '../../support/poll.ts';
import { approvalChange, context, eventChange, sightChange } from '../../unit/cloudevents/changes.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createSyslog } from './start-syslog.ts';

const TRANSPORTS = ['tcp', 'tls', 'unix', 'udp'] as const;
const never = new AbortController().signal;
const BOM = '\ufeff';

const HOSTILE =
  'quotes " and \', bars | and =, \\ and ], „Umlaute“ äöü, 🙂, right to left \u202eabc\u202c, a\nline, a\0NUL';

const CHANGES: readonly Change[] = [
  eventChange({ event: scheduledEvent({ description: HOSTILE, eventType: 'a"b\\c]d' }) }),
  eventChange({ phase: 'started', withoutNotice: true, event: scheduledEvent({ eventStatus: 'Started' }) }),
  eventChange({ phase: 'ended', outcome: 'completed', event: scheduledEvent() }),
  approvalChange({ phase: 'failed', reason: 'changed' }),
  sightChange(),
  eventChange({
    phase: 'updated',
    changedFields: ['description'],
    event: scheduledEvent({ description: 'long '.repeat(500) }),
  }),
];

const DELIVERIES: readonly Delivery[] = CHANGES.map((change, seq) => {
  const { id, change: name, bytes } = toJournalEntry(change, context);
  return { ...sampleDelivery({ seq }), id, change: name, bytes };
});

const BODIES = {
  json: (_: LogRecord, { bytes }: Delivery) => Buffer.from(bytes).toString(),
  record: (record: LogRecord) => JSON.stringify(flatRecord(record)),
  cef: (record: LogRecord) => toCef(record),
  text: ({ message }: LogRecord) => message,
};

function expected(delivery: Delivery, body: (record: LogRecord, delivery: Delivery) => string) {
  const record = logRecord(delivery.bytes);
  const severity = { 9: 6, 13: 4, 17: 3 }[record.severityNumber] ?? assert.fail('no severity');
  return {
    priority: String(3 * 8 + severity),
    time: Date.parse(record.time),
    host: 'WestNO_0',
    appName: 'scheduled-events-bridge',
    messageId: delivery.change,
    structuredData: {
      'cloudevent@32473': Object.fromEntries(
        Object.entries(record.attributes).map(([name, value]) => [name, String(value)]),
      ),
    },
    message: body(record, delivery),
  };
}

/** rsyslog keeps a byte order mark, syslog-ng removes it. */
function seen({ priority, time, host, appName, messageId, structuredData, message }: ReadBack) {
  return {
    priority,
    time: Date.parse(time),
    host,
    appName,
    messageId,
    structuredData,
    message: message.replace(BOM, ''),
  };
}

for (const kind of [rsyslog, syslogNg]) {
  for (const transport of TRANSPORTS) {
    test(`${kind.name} reads every field of each format over ${transport}`, { skip: kind.isMissing }, async (t) => {
      const daemon = await SyslogDaemon.start(t, kind);
      const wanted = [];
      for (const [format, body] of Object.entries(BODIES)) {
        const { adapter } = createSyslog(t, { options: { ...daemon.options(transport), format } });
        await adapter.check(never);
        const outcomes = await adapter.deliver(DELIVERIES, never);
        assert.ok(outcomes.every((outcome) => outcome === 'accepted'));
        wanted.push(...DELIVERIES.map((delivery) => expected(delivery, body)));
        // Keeps the order of the formats: the daemon has a thread for each connection.
        await daemon.readWhenThere(wanted.length);
      }
      assert.deepEqual(daemon.read().map(seen), wanted);
    });
  }

  test(`${kind.name} reads legacy messages over each transport`, { skip: kind.isMissing }, async (t) => {
    const daemon = await SyslogDaemon.start(t, kind);
    const [named, nameless] = [DELIVERIES[2] ?? assert.fail('none'), sampleDelivery()];
    let sent = 0;
    for (const transport of TRANSPORTS) {
      // Its local socket is configured for RFC 5424.
      if (transport === 'unix' && kind === syslogNg) continue;
      const { adapter } = createSyslog(t, { options: { ...daemon.options(transport), legacy: true } });
      assert.deepEqual(await adapter.deliver([named, nameless], never), ['accepted', 'accepted']);
      sent += 2;
    }
    const lines = await daemon.readWhenThere(sent);
    for (const { priority, appName, message } of lines) {
      assert.deepEqual([priority, appName], ['30', 'scheduled-events-bridge']);
      assert.equal(JSON.parse(message).specversion, '1.0');
    }
    assert.equal(lines.filter(({ host }) => host === 'WestNO_0').length, sent / 2);
  });

  for (const transport of ['tcp', 'tls', 'unix'] as const) {
    test(`${kind.name}, killed and restarted in mid-stream over ${transport}, gets every message`, {
      skip: kind.isMissing,
    }, async (t) => {
      const daemon = await SyslogDaemon.start(t, kind);
      const { adapter } = createSyslog(t, { options: { ...daemon.options(transport), settle: '300ms' } });
      const batches = Array.from({ length: 12 }, (_, batch) =>
        Array.from({ length: 20 }, (_, index) => sampleDelivery({ seq: 1 + batch * 20 + index, padding: 500 })),
      );
      const send = async (batch: readonly Delivery[]) =>
        (await adapter.deliver(batch, never)).every((outcome) => outcome === 'accepted');
      let failures = 0;
      const restarting = restart(daemon);
      for (const batch of batches) {
        await poll(async () => (await send(batch)) || ++failures < 0, 'a batch to be accepted');
      }
      await restarting;
      assert.ok(failures > 0, 'it was away for a while');
      const found = new Set(daemon.read().map(({ structuredData }) => structuredData['cloudevent@32473']?.['id']));
      assert.deepEqual(
        batches.flat().filter(({ id }) => !found.has(id)),
        [],
      );
    });
  }
}

for (const kind of [rsyslog, syslogNg]) {
  test(`${kind.name} gets a message that is too long cut to 64 KiB, with its whole header`, {
    skip: kind.isMissing,
  }, async (t) => {
    const daemon = await SyslogDaemon.start(t, kind);
    const { adapter } = createSyslog(t, { options: daemon.options('tcp') });
    const delivery = sampleDelivery({ padding: 100_000 });
    assert.deepEqual(await adapter.deliver([delivery, DELIVERIES[2] ?? assert.fail('none')], never), [
      'accepted',
      'accepted',
    ]);
    const [long = assert.fail('none'), next] = await daemon.readWhenThere(2);
    assert.match(JSON.parse(long.message).data.description, /xxx…$/);
    assert.ok(Buffer.byteLength(long.message) > 64_000);
    assert.equal(long.structuredData['cloudevent@32473']?.['id'], delivery.id);
    assert.equal(next?.messageId, 'ended');
  });
}

test('rsyslog reads counted messages and lines on one port', { skip: rsyslog.isMissing }, async (t) => {
  const daemon = await SyslogDaemon.start(t, rsyslog);
  for (const [place, framing] of ['lines', 'counted', 'lines'].entries()) {
    const { deliver } = createSyslog(t, { options: { ...daemon.options('tcp'), framing } });
    assert.deepEqual(await deliver({ seq: place + 1 }), ['accepted']);
    const lines = await daemon.readWhenThere(place + 1);
    assert.equal(lines.at(-1)?.structuredData['cloudevent@32473']?.['id'], sampleDelivery({ seq: place + 1 }).id);
  }
});

test("rsyslog's CEF parser finds the id, the message and each value unchanged", {
  skip: rsyslog.isMissing,
}, async (t) => {
  const daemon = await SyslogDaemon.start(t, rsyslog);
  const { adapter } = createSyslog(t, { options: { ...daemon.options('tcp'), format: 'cef' } });
  await adapter.deliver(DELIVERIES, never);
  const lines = await daemon.readWhenThere(DELIVERIES.length);
  for (const [index, delivery] of DELIVERIES.entries()) {
    const { SignatureID, Severity, Extensions = {} } = lines[index]?.cef ?? assert.fail('no CEF was found');
    const { message, attributes, severityNumber } = logRecord(delivery.bytes);
    assert.deepEqual([SignatureID, Severity], [delivery.change, String({ 9: 3, 13: 6, 17: 9 }[severityNumber])]);
    const { cs6, cs6Label, msg = '', cs1, cs1Label, cs2 } = Extensions;
    assert.deepEqual(
      [cs6, cs6Label, cs1, cs1Label, cs2],
      [delivery.id, 'id', attributes['source'], 'source', attributes['type']],
    );
    // CEF allows no more; the description of the last one is longer.
    assert.ok(message.length > 1023 ? message.startsWith(msg.slice(0, -1)) && msg.endsWith('…') : msg === message, msg);
  }
});

async function restart(daemon: SyslogDaemon): Promise<void> {
  await daemon.readWhenThere(60);
  await daemon.stop('SIGKILL');
  await daemon.start();
}
