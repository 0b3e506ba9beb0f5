// A log record → one line of ArcSight's Common Event Format, version 0 (behaviour 9.1).
import type { JsonObject } from '../formats/json-object.ts';
import { isObject } from '../formats/json-object.ts';
import { CONTROLS, ELLIPSIS } from '../formats/visible-text.ts';
import type { ChangeName } from '../model/change-names.ts';
import type { LogRecord, LogSeverity } from './log-record.ts';
import { changeInType } from './message.ts';

/** The third field is the version of this mapping. The program's version could differ between two attempts. */
const DEVICE = 'scheduled-events-bridge|scheduled-events-bridge|2';

/**
 * The most characters of each field, by the dictionary of CEF (Common Event Format, version 0, revision 23). If one is
 * longer, receivers that check refuse the whole line. Others cut it, so that two changes of one event may get the same
 * `externalId`.
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

/**
 * Returns the line of CEF. Fields without a value are left out, with their labels. A field that is too long is cut and
 * ends in `…`. The same record always gives the same text.
 */
export function toCef(record: LogRecord): string {
  const type = String(record.attributes['type']);
  const change = changeInType(type);
  const signature = within('signature', headerValue(change ?? type));
  const name = within('name', headerValue(change === null ? type : NAMES[change]));
  const extension = fieldsOf(record).filter(([, value]) => hasValue(value));
  const fields = extension.map(([key, value]) => `${key}=${within(key, extensionValue(textOf(value)))}`);
  return `CEF:0|${DEVICE}|${signature}|${name}|${SEVERITIES[record.severity]}|${fields.join(' ')}`;
}

function fieldsOf({ time, message, attributes, data, host }: LogRecord): readonly Field[] {
  const observer = isObject(data['observer']) ? data['observer'] : {};
  return [
    // liblognorm, rsyslog's reader of CEF, loses the first letter of the first key. Nobody reads this one.
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
  return hasValue(value)
    ? [
        [key, value],
        [`${key}Label`, label],
      ]
    : [];
}

/** Returns milliseconds since 1970, which CEF accepts as a date. */
function instantOf(data: JsonObject): number | undefined {
  const { notBefore } = data;
  return typeof notBefore === 'string' ? Date.parse(notBefore) : undefined;
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** Returns a list with commas, and an object as JSON. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return isObject(value) ? JSON.stringify(value) : String(value);
}

/** Escapes a header field. CEF has no escape for a line end in it. */
function headerValue(text: string): string {
  return text
    .replaceAll(/[\\|]/g, '\\$&')
    .replaceAll(/[\n\t]/g, ' ')
    .replaceAll(CONTROLS, ' ');
}

/** Most values need no escapes, and one look is much faster than six replacements. */
const NEEDS_ESCAPES = /[\\=\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

/** Escapes a value. CEF has no escapes for other control characters, so they become blanks. */
function extensionValue(text: string): string {
  if (!NEEDS_ESCAPES.test(text)) return text;
  return text
    .replaceAll(/[\\=]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', ' ')
    .replaceAll(CONTROLS, ' ');
}

/** An escape is one piece, and so is a character of two UTF-16 units. */
const PIECES = /\\.|./gsu;

/** Cuts a field to its length, in UTF-16 units and with its escapes, as readers written in Java count. */
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
