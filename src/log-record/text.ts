// A log record → one line of plain text (behaviour 9.1).
import { asBlanks } from '../formats/visible-text.ts';
import type { LogRecord } from './log-record.ts';

/** Returns `TIME SEVERITY message (id)`, without a line end. */
export function toText({ time, severity, message, attributes }: LogRecord): string {
  return `${time} ${severity} ${message} (${asBlanks(String(attributes['id']))})`;
}
