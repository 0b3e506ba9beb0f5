// A log record → what stands before the message, by RFC 5424 or by RFC 3164. Pure.
import type { LogRecord } from '../../../src/log-record/log-record.ts';
import { type Facility, priority } from './priority.ts';

export const APP_NAME = 'scheduled-events-bridge';

const [LONGEST_HOST, LONGEST_MSGID] = [255, 32];
const NIL = '-';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

export interface HeaderOptions {
  readonly facility: Facility;
  /** Private enterprise number. */
  readonly enterprise: number;
}

/** By RFC 5424, up to the blank before MSG. PROCID is nil: a repeat by a later process is the same message. */
export function header(record: LogRecord, change: string, { facility, enterprise }: HeaderOptions): string {
  const { time, host, attributes, severityNumber } = record;
  const fields = [printable(host, LONGEST_HOST), APP_NAME, NIL, printable(change, LONGEST_MSGID)];
  return `${priority(facility, severityNumber)}1 ${timestamp(time)} ${fields.join(' ')} ${structuredData(attributes, enterprise)} `;
}

/** By RFC 3164: the machine's local time without a year, and APP-NAME as the tag. It knows no nil: an unknown machine is left out. */
export function legacyHeader({ time, host, severityNumber }: LogRecord, { facility }: HeaderOptions): string {
  // What is neither letter, digit, dot, dash nor underscore would end the name for some readers.
  const name = host === null ? '' : `${printable(host, LONGEST_HOST).replaceAll(/[^\w.-]/g, '_')} `;
  return `${priority(facility, severityNumber)}${localTimestamp(new Date(time))} ${name}${APP_NAME}: `;
}

/** Milliseconds at most: RFC 5424 allows six digits, and the clock has three. */
function timestamp(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? NIL : at.toISOString();
}

function localTimestamp(at: Date): string {
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0'));
  return `${MONTHS[at.getMonth()] ?? 'Jan'} ${String(at.getDate()).padStart(2)} ${clock.join(':')}`;
}

/** Every CloudEvents attribute under its own name. */
function structuredData(attributes: LogRecord['attributes'], enterprise: number): string {
  const parameters = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(String(value))}"`);
  return `[cloudevent@${enterprise}${parameters.join('')}]`;
}

/** RFC 5424, section 6.3.3. */
function escaped(value: string): string {
  return value.replaceAll(/["\\\]]/g, '\\$&');
}

/** PRINTUSASCII; nil where nothing is left. */
function printable(text: string | null, longest: number): string {
  return (text ?? '').replaceAll(/[^!-~]/gu, '_').slice(0, longest) || NIL;
}
