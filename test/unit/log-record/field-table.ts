// Changes of one member at a time → the fields of each format that it affects.
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import { isObject, type JsonObject } from '../../../src/formats/json-object.ts';
import { toColumns } from '../../../src/log-record/columns.ts';
import { toEcs } from '../../../src/log-record/ecs.ts';
import { flatRecord, flatten } from '../../../src/log-record/formats.ts';
import { type LogRecord, logRecord } from '../../../src/log-record/log-record.ts';
import { otelRecord } from '../../../src/log-record/otel.ts';
import type { Change } from '../../../src/model/events.ts';
import { VM_FIELDS } from '../../../src/model/vm-metadata.ts';
import { approvalChange, context, eventApproval, eventChange, sightChange } from '../cloudevents/changes.ts';
import { readCef } from './read-cef.ts';

/** A format's fields by their names; no value is an object. */
export type Fields = ReadonlyMap<string, unknown>;

export const FORMATS = {
  record: (record: LogRecord) => new Map(Object.entries(flatRecord(record))),
  CEF: readCef,
  ECS: (record: LogRecord) => paths(toEcs(record)),
  OpenTelemetry: otelFields,
  'Azure Monitor': (record: LogRecord) => new Map(Object.entries(toColumns(record))),
} as const satisfies Readonly<Record<string, (record: LogRecord) => Fields>>;

export type Format = keyof typeof FORMATS;

const TAG = 'team';
const METADATA = { ...Object.fromEntries(VM_FIELDS.map((field) => [field, `a ${field}`])), tags: { [TAG]: 'shop' } };

/** Every attribute and every member of data is in at least one of these. */
const CHANGES: readonly Change[] = [
  eventChange(),
  eventChange({ phase: 'updated', previousStatus: 'Scheduled', changedFields: ['notBefore'] }),
  eventChange({ phase: 'started', previousStatus: 'Scheduled' }),
  eventChange({ phase: 'ended', previousStatus: 'Started', outcome: 'completed' }),
  approvalChange({ policy: 'policy[0]' }),
  approvalChange({ phase: 'failed', reason: 'changed' }),
  sightChange(),
];

const EVENTS: readonly JsonObject[] = [{ ...context.observer, vm: METADATA }, context.observer].flatMap((observer) =>
  CHANGES.map((change) =>
    JSON.parse(
      new TextDecoder().decode(toJournalEntry(change, { ...context, observer, approval: () => eventApproval() }).bytes),
    ),
  ),
);

/** The message has its own table. */
const MESSAGE: Readonly<Record<Format, string>> = {
  record: 'message',
  CEF: 'msg',
  ECS: 'message',
  OpenTelemetry: 'Body',
  'Azure Monitor': 'message',
};

/** By the member's name in `record`: the fields of the format that it affects, sorted. */
export function fieldsByMember(format: Format): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const event of EVENTS) {
    const before = fieldsOf(format, event);
    for (const [path, value] of flatten(event, [])) {
      const touched = found.get(path.join('.')) ?? new Set();
      for (const other of othersOf(path.join('.'), value)) {
        for (const name of differing(before, fieldsOf(format, withMember(event, path, other)))) touched.add(name);
      }
      found.set(path.join('.'), touched);
    }
  }
  return new Map(
    [...found].map(([member, names]) => [member, [...names].filter((name) => name !== MESSAGE[format]).sort()]),
  );
}

/** Fields that no member affects, with their values, which are the same in every event that has them. */
export function constants(format: Format): ReadonlyMap<string, unknown> {
  const made = new Set([...fieldsByMember(format).values()].flat());
  const fields = EVENTS.flatMap((event) => [...fieldsOf(format, event)]);
  return new Map(fields.filter(([name]) => !made.has(name) && name !== MESSAGE[format]));
}

function fieldsOf(format: Format, event: JsonObject): Fields {
  return FORMATS[format](logRecord(new TextEncoder().encode(JSON.stringify(event))));
}

/** Other values of the same kind, and no value. */
function othersOf(member: string, value: unknown): readonly unknown[] {
  const absent = ['type', 'id', 'time', 'source', 'severitynumber'].includes(member) ? [] : [undefined];
  if (member === 'type') return [`x.${value}`, 'x.started.v1', 'x.approval.failed.v1'];
  if (member === 'outcome' || member === 'data.outcome') return ['unknown', ...absent];
  if (member === 'traceparent') return [`00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, ...absent];
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value)) && /^\d{4}-/.test(value))
    return ['2030-01-01T00:00:00Z', ...absent];
  if (typeof value === 'number') return [value + 4, ...absent];
  if (typeof value === 'boolean') return [!value, ...absent];
  return [Array.isArray(value) ? ['other'] : 'other', ...absent];
}

function withMember(value: JsonObject, [first = '', ...rest]: readonly string[], other: unknown): JsonObject {
  const inner = value[first];
  return { ...value, [first]: rest.length === 0 || !isObject(inner) ? other : withMember(inner, rest, other) };
}

function differing(before: Fields, after: Fields): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => JSON.stringify(before.get(name)) !== JSON.stringify(after.get(name)));
}

function paths(document: JsonObject): Fields {
  return new Map(flatten(document, []).map(([path, value]) => [path.join('.'), value]));
}

/** The names of OpenTelemetry's data model; attributes of the record and of the resource have different names. */
function otelFields(record: LogRecord): Fields {
  const { resource, attributes, timeUnixNano, observedTimeUnixNano, ...told } = otelRecord(record);
  return new Map<string, unknown>([
    ...Object.entries(resource),
    ...attributes,
    ['Timestamp', String(timeUnixNano)],
    ['ObservedTimestamp', String(observedTimeUnixNano)],
    ['SeverityNumber', told.severityNumber],
    ['SeverityText', told.severityText],
    ['EventName', told.eventName],
    ['Body', told.body],
    ['TraceId', told.traceId],
    ['SpanId', told.spanId],
  ]);
}
