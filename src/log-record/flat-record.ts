// A log record → flat JSON: `record` of the log sinks (behaviour 9.1).
import { isObject } from '../formats/json-object.ts';
import type { LogRecord } from './log-record.ts';

/** `severity` and `message`, each attribute under its own name, and data's members with dots; no value is an object. */
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

/** Every member that is no object, with the names that lead to it; an array is one value. */
export function flatten(value: unknown, path: readonly string[]): readonly (readonly [path: readonly string[], value: unknown])[] {
  if (!isObject(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, member]) => flatten(member, [...path, name]));
}
