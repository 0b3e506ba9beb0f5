// A log record → flat JSON: `record` of the log sinks (behaviour 9.1).
import { isObject } from '../formats/json-object.ts';
import type { LogRecord } from './log-record.ts';

/** `severity`, `message`, each attribute under its name, and the members of data with dots in their names. No value is an object. */
type FlatRecord = Readonly<Record<string, unknown>>;

export function flatRecord({ time, severity, message, attributes, data }: LogRecord): FlatRecord {
  return {
    time,
    severity,
    message,
    ...attributes,
    ...Object.fromEntries(flatten(data, ['data']).map(([path, value]) => [path.join('.'), value])),
  };
}

/** Returns every member that is not an object, with its path; an array is one value. */
export function flatten(value: unknown, path: readonly string[]): readonly (readonly [path: readonly string[], value: unknown])[] {
  if (!isObject(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, member]) => flatten(member, [...path, name]));
}
