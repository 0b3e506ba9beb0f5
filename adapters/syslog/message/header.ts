// A log record → PRI and header of its syslog message, by RFC 5424 or RFC 3164. Pure.
import type { LogRecord } from '../../../src/log-record/log-record.ts';

/** The facilities, by their names in syslog daemons. */
export const FACILITIES = {
  kern: 0,
  user: 1,
  mail: 2,
  daemon: 3,
  auth: 4,
  syslog: 5,
  lpr: 6,
  news: 7,
  uucp: 8,
  cron: 9,
  authpriv: 10,
  ftp: 11,
  local0: 16,
  local1: 17,
  local2: 18,
  local3: 19,
  local4: 20,
  local5: 21,
  local6: 22,
  local7: 23,
} as const;

export type Facility = keyof typeof FACILITIES;

const [ERROR, WARNING, INFORMATIONAL] = [3, 4, 6];

/**
 * Returns the PRI, such as `<28>` for a warning of a daemon.
 * @param severityNumber OpenTelemetry's number: 9 INFO, 13 WARN, 17 ERROR
 */
export function priority(facility: Facility, severityNumber: number): string {
  const severity = severityNumber >= 17 ? ERROR : severityNumber >= 13 ? WARNING : INFORMATIONAL;
  return `<${FACILITIES[facility] * 8 + severity}>`;
}

const APP_NAME = 'scheduled-events-bridge';

const [MAX_HOST, MAX_MSGID] = [255, 32];
const NIL = '-';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** `enterprise` is the private enterprise number in the name of the structured data. */
type HeaderOptions = { readonly facility: Facility; readonly enterprise: number };

/**
 * Returns the RFC 5424 header, up to the blank before MSG. PROCID is nil, so that a repeat by a later process is the
 * same message.
 */
export function header(record: LogRecord, change: string, { facility, enterprise }: HeaderOptions): string {
  const { time, host, attributes, severityNumber } = record;
  const fields = [printable(host, MAX_HOST), APP_NAME, NIL, printable(change, MAX_MSGID)];
  return `${priority(facility, severityNumber)}1 ${timestamp(time)} ${fields.join(' ')} ${structuredData(attributes, enterprise)} `;
}

/**
 * Returns the RFC 3164 header: local time without a year, and APP-NAME as the tag. RFC 3164 has no nil, so an unknown
 * host is left out.
 */
export function legacyHeader({ time, host, severityNumber }: LogRecord, { facility }: HeaderOptions): string {
  // For some readers, any other character ends the host name.
  const name = host === null ? '' : `${printable(host, MAX_HOST).replaceAll(/[^\w.-]/g, '_')} `;
  return `${priority(facility, severityNumber)}${localTimestamp(new Date(time))} ${name}${APP_NAME}: `;
}

/**
 * Returns the time in milliseconds UTC, or nil if it is not a date. RFC 5424 allows six digits, and the clock has
 * three.
 */
function timestamp(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? NIL : at.toISOString();
}

function localTimestamp(at: Date): string {
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0'));
  return `${MONTHS[at.getMonth()] ?? 'Jan'} ${String(at.getDate()).padStart(2)} ${clock.join(':')}`;
}

/** Returns one SD-ELEMENT with every CloudEvents attribute under its own name. */
function structuredData(attributes: LogRecord['attributes'], enterprise: number): string {
  const parameters = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(String(value))}"`);
  return `[cloudevent@${enterprise}${parameters.join('')}]`;
}

/** Escapes a PARAM-VALUE (RFC 5424, section 6.3.3). */
function escaped(value: string): string {
  return value.replaceAll(/["\\\]]/g, '\\$&');
}

/** Returns the text in PRINTUSASCII, cut to `max`, or nil if it is empty. */
function printable(text: string | null, max: number): string {
  return (text ?? '').replaceAll(/[^!-~]/gu, '_').slice(0, max) || NIL;
}
