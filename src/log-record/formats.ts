// A CloudEvent and the name of a format → its log record in that format, in one line.
import { toCef } from './cef.ts';
import { flatRecord } from './flat-record.ts';
import { type LogRecord, logRecord } from './log-record.ts';
import { toText } from './text.ts';

/** The formats of the sinks that write lines. */
export const LOG_FORMATS = ['json', 'record', 'cef', 'text'] as const;

type LogFormat = (typeof LOG_FORMATS)[number];

/**
 * Returns the line, without its end. `json` is the structured CloudEvent, byte for byte as stored.
 * @throws SyntaxError or TypeError if the bytes are not a CloudEvent
 */
export function encodeLog(bytes: Uint8Array, format: LogFormat): Uint8Array {
  return format === 'json' ? bytes : Buffer.from(logText(logRecord(bytes), format));
}

export function logText(record: LogRecord, format: Exclude<LogFormat, 'json'>): string {
  if (format === 'record') return JSON.stringify(flatRecord(record));
  return format === 'cef' ? toCef(record) : toText(record);
}
