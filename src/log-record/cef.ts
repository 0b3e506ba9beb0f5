// A log record → one line of ArcSight's Common Event Format, version 0 (behaviour 9.1).
import type { JsonObject } from '../formats/json-object.ts';
import { isObject } from '../formats/json-object.ts';
import { CONTROLS } from '../formats/visible-text.ts';
import type { ChangeName } from '../model/change-names.ts';
import type { LogRecord, LogSeverity } from './log-record.ts';
import { changeOf } from './message.ts';

/** The third place is the version of this mapping: the program's own could differ between two attempts. */
const DEVICE = 'scheduled-events-bridge|scheduled-events-bridge|1';

const NAMES: Readonly<Record<ChangeName, string>> = {
  scheduled: 'Maintenance scheduled',
  updated: 'Maintenance changed',
  started: 'Maintenance begun',
  ended: 'Maintenance over',
  'approval.recorded': 'Approval recorded',
  'approval.submitted': 'Approval accepted by the metadata service',
  'approval.failed': 'Approval failed',
  'source.blind': 'Metadata service out of sight',
  'source.restored': 'Metadata service in sight again',
};

const SEVERITIES: Readonly<Record<LogSeverity, number>> = { INFO: 3, WARN: 6, ERROR: 9 };

type Field = readonly [key: string, value: unknown];

/** Fields without a value are left out, with their labels. The same text for the same record. */
export function toCef(record: LogRecord): string {
  const type = String(record.attributes['type']);
  const change = changeOf(type);
  const header = [change ?? type, change === null ? type : NAMES[change], String(SEVERITIES[record.severity])].map(headerValue);
  const extension = fieldsOf(record).filter(([, value]) => isTold(value));
  return `CEF:0|${DEVICE}|${header.join('|')}|${extension.map(([key, value]) => `${key}=${extensionValue(textOf(value))}`).join(' ')}`;
}

function fieldsOf({ time, message, attributes, data, host }: LogRecord): readonly Field[] {
  const observer = isObject(data['observer']) ? data['observer'] : {};
  return [
    // liblognorm, rsyslog's reader of CEF, loses the first letter of the first key: it hits one that nobody looks for.
    ['cnt', 1],
    ['rt', Date.parse(time)],
    ['externalId', attributes['id']],
    ['msg', message],
    ...labelled('cs1', 'source', attributes['source']),
    ...labelled('cs2', 'type', attributes['type']),
    ...labelled('cs3', 'eventId', data['eventId']),
    ...labelled('cs4', 'eventType', data['eventType'] ?? attributes['impact']),
    ...labelled('cs5', 'resources', data['resources']),
    ...labelled('cs6', 'eventSource', data['eventSource'] ?? attributes['initiator']),
    ...labelled('cn1', 'durationInSeconds', data['durationInSeconds']),
    ...labelled('deviceCustomDate1', 'notBefore', instantOf(data)),
    ...labelled('flexString1', 'observer.vm', observer['vm']),
    ['outcome', attributes['outcome']],
    ['reason', data['reason']],
    ['suser', data['approver']],
    ['dvchost', host],
  ];
}

function labelled(key: string, label: string, value: unknown): readonly Field[] {
  return isTold(value)
    ? [
        [key, value],
        [`${key}Label`, label],
      ]
    : [];
}

/** CEF takes milliseconds since 1970 for a date. */
function instantOf(data: JsonObject): number | undefined {
  const { notBefore } = data;
  return typeof notBefore === 'string' ? Date.parse(notBefore) : undefined;
}

function isTold(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** A list's members with a comma between them; an object as JSON. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return isObject(value) ? JSON.stringify(value) : String(value);
}

/** A header field holds no line end: CEF has no escape for one there. */
function headerValue(text: string): string {
  return text
    .replaceAll(/[\\|]/g, '\\$&')
    .replaceAll(/[\n\t]/g, ' ')
    .replaceAll(CONTROLS, ' ');
}

/** Most values have nothing that needs escaping, and looking once is much faster than replacing six times. */
const NEEDS_ESCAPES = /[\\=\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

/** CEF's own escapes; it has none for other control characters, which become blanks. */
function extensionValue(text: string): string {
  if (!NEEDS_ESCAPES.test(text)) return text;
  return text.replaceAll(/[\\=]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', ' ').replaceAll(CONTROLS, ' ');
}
