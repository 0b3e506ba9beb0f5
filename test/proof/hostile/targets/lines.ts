// Hostile documents through changes and CloudEvents → lines and messages that readers take apart.
import { messageEncoder } from '../../../../adapters/syslog/message/message-encoder.ts';
import { eventLogEntry, MAX_ENTRY_LENGTH } from '../../../../adapters/windows-event-log/event-log-entry.ts';
import { toBinary } from '../../../../src/cloudevents/binary.ts';
import { toJournalEntry } from '../../../../src/cloudevents/event.ts';
import { parseKafkaMessage } from '../../../../src/consumer/receive/kafka-message.ts';
import { toEcs } from '../../../../src/log-record/ecs.ts';
import { encodeLog, LOG_FORMATS } from '../../../../src/log-record/formats.ts';
import { logRecord } from '../../../../src/log-record/log-record.ts';
import { otelRecord } from '../../../../src/log-record/otel.ts';
import { parseDocument } from '../../../../src/metadata/document.ts';
import type { Delivery } from '../../../../src/model/deliveries.ts';
import type { Change, DocumentEvent } from '../../../../src/model/events.ts';
import { eventChangeId } from '../../../../src/model/ids.ts';
import { EXAMPLE_EVENT } from '../../../far-sides/metadata-service.ts';
import { altered, type Target } from '../target.ts';

const CONTEXT = {
  source: '/s',
  typePrefix: 'io.github.scheduled-events-bridge',
  observer: { name: 'vm', id: 'vm' },
  approval: () => null,
};
const MOST_BYTES = 2048;

/** The CloudEvent of an event that is seen for the first time. */
function delivered({ unreadable: _, ...event }: DocumentEvent): {
  readonly delivery: Delivery;
  readonly event: object;
} {
  const change: Change = {
    ...{ kind: 'event', phase: 'scheduled', id: eventChangeId('scheduled', event), key: event.eventId.toLowerCase() },
    ...{ occurrence: 1, event, previousStatus: null, changedFields: [], outcome: null, withoutNotice: false },
    ...{ incarnation: 1, at: { wallMs: 1_650_000_000_000, elapsedMs: null } },
  };
  const { id, bytes, timeMs } = toJournalEntry(change, CONTEXT);
  const partitionKey = change.key ?? '';
  const delivery = {
    seq: 1,
    sink: 's',
    id,
    change: 'scheduled',
    partitionKey,
    timeMs,
    bytes,
    queuedAtMs: 0,
    attempts: 0,
    endedAtMs: null,
  };
  return { delivery, event };
}

const deliveriesOf = (input: Buffer) => parseDocument(input, '2020-07-01').events.slice(0, 5).map(delivered);

const document = (fields: object) =>
  Buffer.from(JSON.stringify({ DocumentIncarnation: 1, Events: [{ ...EXAMPLE_EVENT, ...fields }] }));
const material = {
  samples: [document({}), document({ Description: 'a|b=c\\n"x', Resources: ['ü', '</x>'], EventType: 'Preempt' })],
};

/** A reader of RFC 5424: PRI, version, five words, structured data, message. */
const RFC_5424 =
  /^<(\d{1,3})>1 (\S+) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) (-|(?:\[[^\]\\]*(?:\\.[^\]\\]*)*\])+)(?: ([\s\S]*))?$/;

function judgeSyslog(_: Buffer, output: unknown): string | null {
  for (const { text, format } of output as readonly { text: string; format: string }[]) {
    const parts = RFC_5424.exec(text);
    if (parts === null || Number(parts[1]) > 191) return `not a message: ${JSON.stringify(text.slice(0, 200))}`;
    if (Buffer.byteLength(text) > MOST_BYTES) return 'longer than maxBytes';
    if (/[\n\r\0]/.test(text)) return `a message with a line end or NUL: ${JSON.stringify(text.slice(0, 200))}`;
    if (format === 'json' || format === 'record') JSON.parse(parts[8] ?? '');
  }
  return null;
}

export const LINE_TARGETS: readonly Target[] = [
  {
    name: 'syslog messages',
    kind: 'syslog and log line',
    material,
    run: (input) =>
      deliveriesOf(input).flatMap(({ delivery }) =>
        (['json', 'record', 'cef', 'text'] as const).flatMap((format) => {
          const options = {
            format,
            facility: 'local0',
            legacy: false,
            enterprise: '32473',
            maxBytes: MOST_BYTES,
          } as unknown as Parameters<typeof messageEncoder>[0];
          try {
            return [{ format, text: messageEncoder(options, 's')(delivery).toString() }];
          } catch (error) {
            // A CloudEvent that does not fit becomes a dead letter.
            if ((error as { code?: string }).code === 'BRIDGE_SYSLOG_REFUSED') return [];
            throw error;
          }
        }),
      ),
    judge: judgeSyslog,
  },
  {
    name: 'lines of logs',
    kind: 'syslog and log line',
    material,
    run: (input) =>
      deliveriesOf(input).flatMap(({ delivery }) => {
        const record = logRecord(delivery.bytes);
        const objects = [toEcs(record), otelRecord(record)].map((value) =>
          JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part)),
        );
        return [...LOG_FORMATS.map((format) => Buffer.from(encodeLog(delivery.bytes, format)).toString()), ...objects];
      }),
    judge: (_, output) => {
      const broken = (output as readonly string[]).find((line) => /[\n\r]/.test(line) || line === '');
      return broken === undefined ? null : `more than one line: ${JSON.stringify(broken.slice(0, 200))}`;
    },
  },
  {
    name: 'entries of the Windows event log',
    kind: 'syslog and log line',
    material,
    run: (input) =>
      deliveriesOf(input).flatMap(({ delivery }) => [
        eventLogEntry(delivery, 'text'),
        eventLogEntry(delivery, 'document'),
      ]),
    judge: (_, output) => {
      const long = (output as readonly { text: string }[]).find(
        ({ text }) => text.length > MAX_ENTRY_LENGTH || text.includes('\0'),
      );
      return long === undefined ? null : 'an entry that Windows cuts';
    },
  },
  {
    name: 'CloudEvents in binary mode, and back',
    kind: 'document',
    material,
    run: (input) =>
      deliveriesOf(input).map(({ delivery, event }) => {
        const binary = toBinary(delivery.bytes);
        if ('fault' in binary) return { fault: binary.fault };
        const headers = Object.fromEntries(
          Object.entries(binary.attributes).map(([name, value]) => [`ce_${name}`, value]),
        );
        const read = parseKafkaMessage({
          value: binary.data,
          headers: { ...headers, 'content-type': 'application/json' },
        });
        const structured = parseKafkaMessage({
          value: delivery.bytes,
          headers: { 'content-type': 'application/cloudevents+json' },
        });
        return { event, read, structured };
      }),
    judge: (_, output) => {
      for (const { fault, event, read, structured } of output as readonly {
        fault?: string;
        event: Record<string, unknown>;
        read: { data: Record<string, unknown> };
        structured: object;
      }[]) {
        if (fault !== undefined) return `no binary mode: ${fault}`;
        for (const name of ['eventId', 'eventType', 'description', 'notBefore', 'resources', 'durationInSeconds'])
          if (JSON.stringify(read.data[name]) !== JSON.stringify(event[name])) return altered(`${name} is altered`);
        if (JSON.stringify(sorted(read)) !== JSON.stringify(sorted(structured))) return altered('both modes differ');
      }
      return null;
    },
  },
];

const sorted = (value: object) => Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
