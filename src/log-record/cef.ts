// A log record → one line of ArcSight's Common Event Format, version 0 (behaviour 9.1).
import type { JsonObject } from '../formats/json-object.ts';
import { isObject } from '../formats/json-object.ts';
import { CONTROLS, ELLIPSIS } from '../formats/visible-text.ts';
import type { ChangeName } from '../model/change-names.ts';
import type { LogRecord, LogSeverity } from './log-record.ts';
import { changeInType } from './message.ts';

/** The third place is the version of this mapping: the program's own could differ between two attempts. */
const DEVICE = 'scheduled-events-bridge|scheduled-events-bridge|2';

/**
 * The most characters of each field, by the dictionary of CEF (Common Event Format, version 0, revision 23). Receivers that check refuse the whole
 * line for one that is longer; others cut it, at `externalId` into the same value for two changes of one event.
 */
const LONGEST = {
  ...{ signature: 1023, name: 512 },
  ...{ externalId: 40, msg: 1023, flexString1: 1023, outcome: 63, reason: 1023, suser: 1023, dvchost: 100 },
  ...{ cs1: 4000, cs2: 4000, cs3: 4000, cs4: 4000, cs5: 4000, cs6: 4000 },
} as const;

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

/** Fields without a value are left out, with their labels; one that is too long is cut and ends in `…`. The same text for the same record. */
export function toCef(record: LogRecord): string {
  const type = String(record.attributes['type']);
  const change = changeInType(type);
  const signature = within('signature', headerValue(change ?? type));
  const name = within('name', headerValue(change === null ? type : NAMES[change]));
  const extension = fieldsOf(record).filter(([, value]) => isTold(value));
  const fields = extension.map(([key, value]) => `${key}=${within(key, extensionValue(textOf(value)))}`);
  return `CEF:0|${DEVICE}|${signature}|${name}|${SEVERITIES[record.severity]}|${fields.join(' ')}`;
}

function fieldsOf({ time, message, attributes, data, host }: LogRecord): readonly Field[] {
  const observer = isObject(data['observer']) ? data['observer'] : {};
  return [
    // liblognorm, rsyslog's reader of CEF, loses the first letter of the first key: it hits one that nobody looks for.
    ['cnt', 1],
    ['rt', Date.parse(time)],
    ['externalId', data['eventId']],
    ['msg', message],
    ...labelled('cs1', 'source', attributes['source']),
    ...labelled('cs2', 'type', attributes['type']),
    ...labelled('cs3', 'eventSource', data['eventSource'] ?? attributes['initiator']),
    ...labelled('cs4', 'eventType', data['eventType'] ?? attributes['impact']),
    ...labelled('cs5', 'resources', data['resources']),
    ...labelled('cs6', 'id', attributes['id']),
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

/** An escape is one piece, and so is a character that has two UTF-16 units. */
const PIECES = /\\.|./gsu;

/** Counted in UTF-16 units, escapes included, as readers written in Java count. */
function within(key: string, escaped: string): string {
  const most: number = LONGEST[key as keyof typeof LONGEST] ?? Number.POSITIVE_INFINITY;
  if (escaped.length <= most) return escaped;
  let end = 0;
  for (const [piece] of escaped.matchAll(PIECES)) {
    if (end + piece.length > most - ELLIPSIS.length) break;
    end += piece.length;
  }
  return `${escaped.slice(0, end)}${ELLIPSIS}`;
}
