// A log record → columns of a table of Azure Monitor (behaviour 9.1).
import { isObject, type JsonObject } from '../formats/json-object.ts';
import type { LogRecord } from './log-record.ts';

/** Names that Azure Monitor requires, or reserves in any letter case. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['time', 'TimeGenerated'],
  ['id', 'EventId'],
  ['type', 'CloudEventType'],
]);

/**
 * Returns the columns. A name has at most 45 characters, only letters and digits. Values are scalars, or arrays and
 * tags for a `dynamic` column.
 */
export function toColumns({ severity, message, attributes, data }: LogRecord): JsonObject {
  const own = Object.entries(attributes).map(([name, value]) => [NAMES.get(name) ?? name, value] as const);
  return { ...Object.fromEntries(own), severity, message, ...Object.fromEntries(columnsOf(data, 'data')) };
}

/**
 * Keeps tags as one object: their names may have characters that are not allowed in a column's name, and a table's
 * columns are fixed beforehand.
 */
function columnsOf(value: unknown, name: string): readonly (readonly [name: string, value: unknown])[] {
  if (!isObject(value) || name.endsWith('Tags')) return [[name, value]];
  return Object.entries(value).flatMap(([member, inner]) =>
    columnsOf(inner, `${name}${member.charAt(0).toUpperCase()}${member.slice(1)}`),
  );
}
