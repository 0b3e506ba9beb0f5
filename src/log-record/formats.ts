// A CloudEvent and the name of a format → its log record in that format, in one line.
import { isObject } from '../formats/json-object.ts';
import { asBlanks } from '../formats/visible-text.ts';
import { toCef } from './cef.ts';
import { type LogRecord, logRecord } from './log-record.ts';

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

/**
 * `severity`, `message`, each attribute under its name, and the members of data with dots in their names. No value is
 * an object.
 */
export function flatRecord({
  time,
  severity,
  message,
  attributes,
  data,
}: LogRecord): Readonly<Record<string, unknown>> {
  return {
    time,
    severity,
    message,
    ...attributes,
    ...Object.fromEntries(flatten(data, ['data']).map(([path, value]) => [path.join('.'), value])),
  };
}

/** Returns every member that is not an object, with its path; an array is one value. */
export function flatten(
  value: unknown,
  path: readonly string[],
): readonly (readonly [path: readonly string[], value: unknown])[] {
  if (!isObject(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, member]) => flatten(member, [...path, name]));
}

/** Returns `TIME SEVERITY message (id)`, without a line end. */
export function toText({ time, severity, message, attributes }: LogRecord): string {
  return `${time} ${severity} ${message} (${asBlanks(String(attributes['id']))})`;
}
