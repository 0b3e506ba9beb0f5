// The published definitions of OTLP's logs → field numbers, names and types.

/** The type of a field: a protobuf scalar, or a message. `[]`: repeated. */
export type FieldType =
  | 'string'
  | 'bool'
  | 'int64'
  | 'uint32'
  | 'enum'
  | 'double'
  | 'fixed64'
  | 'fixed32'
  | 'id'
  | MessageName
  | `${MessageName}[]`;

export type MessageName = keyof typeof MESSAGES;

/** All fields, including those that the bridge does not write. Ids are bytes, which OTLP's JSON writes in hex. */
const MESSAGES = {
  Request: { 1: ['resourceLogs', 'ResourceLogs[]'] },
  ResourceLogs: { 1: ['resource', 'Resource'], 2: ['scopeLogs', 'ScopeLogs[]'], 3: ['schemaUrl', 'string'] },
  Resource: { 1: ['attributes', 'KeyValue[]'], 2: ['droppedAttributesCount', 'uint32'] },
  ScopeLogs: { 1: ['scope', 'Scope'], 2: ['logRecords', 'LogRecord[]'], 3: ['schemaUrl', 'string'] },
  Scope: {
    1: ['name', 'string'],
    2: ['version', 'string'],
    3: ['attributes', 'KeyValue[]'],
    4: ['droppedAttributesCount', 'uint32'],
  },
  LogRecord: {
    1: ['timeUnixNano', 'fixed64'],
    2: ['severityNumber', 'enum'],
    3: ['severityText', 'string'],
    5: ['body', 'AnyValue'],
    6: ['attributes', 'KeyValue[]'],
    7: ['droppedAttributesCount', 'uint32'],
    8: ['flags', 'fixed32'],
    9: ['traceId', 'id'],
    10: ['spanId', 'id'],
    11: ['observedTimeUnixNano', 'fixed64'],
    12: ['eventName', 'string'],
  },
  KeyValue: { 1: ['key', 'string'], 2: ['value', 'AnyValue'] },
  AnyValue: {
    1: ['stringValue', 'string'],
    2: ['boolValue', 'bool'],
    3: ['intValue', 'int64'],
    4: ['doubleValue', 'double'],
    5: ['arrayValue', 'ArrayValue'],
    6: ['kvlistValue', 'KeyValueList'],
  },
  ArrayValue: { 1: ['values', 'AnyValue[]'] },
  KeyValueList: { 1: ['values', 'KeyValue[]'] },
} as const satisfies Readonly<Record<string, Readonly<Record<number, readonly [name: string, type: string]>>>>;

/** Returns the fields of a message by their numbers. */
export function fieldsOf(message: MessageName): Readonly<Record<number, readonly [name: string, type: FieldType]>> {
  return MESSAGES[message] as Readonly<Record<number, readonly [string, FieldType]>>;
}
