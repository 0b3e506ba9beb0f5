// A log record → OpenTelemetry's log data model, before any encoding (behaviour 9.1).
import { isObject, type JsonObject } from '../formats/json-object.ts';
import type { LogRecord, LogSeverity } from './log-record.ts';
import { observingVm, traceOf } from './vm.ts';

export type OtelValue = string | number | boolean | readonly string[];

export interface OtelRecord {
  /**
   * Attributes of the resource: the VM that made the CloudEvent, and this program. Equal for all records of a VM until
   * its name or metadata change.
   */
  readonly resource: Readonly<Record<string, string>>;
  readonly attributes: ReadonlyMap<string, OtelValue>;
  readonly body: string;
  readonly eventName: string;
  /** Since 1970. */
  readonly timeUnixNano: bigint;
  /** Equal to `timeUnixNano`: the time of sending is not in the record, so that a repeat is equal. */
  readonly observedTimeUnixNano: bigint;
  readonly severityNumber: number;
  readonly severityText: LogSeverity;
  /** 32 and 16 hex digits. */
  readonly traceId: string | null;
  readonly spanId: string | null;
}

/** The semantic conventions for CloudEvents name these five attributes. */
const CONVENTIONS: ReadonlyMap<string, string> = new Map([
  ['id', 'cloudevents.event_id'],
  ['source', 'cloudevents.event_source'],
  ['specversion', 'cloudevents.event_spec_version'],
  ['subject', 'cloudevents.event_subject'],
  ['type', 'cloudevents.event_type'],
]);

/** The prefix of all other names. */
const PREFIX = 'scheduled_events';

/** Attributes that have their own field in a record. */
const OWN_FIELDS = ['time', 'severitynumber', 'severitytext', 'traceparent'];

export function otelRecord(record: LogRecord): OtelRecord {
  const trace = traceOf(record);
  const timeUnixNano = BigInt(Date.parse(record.time)) * 1_000_000n;
  return {
    resource: resourceOf(record),
    attributes: attributesOf(record),
    body: record.message,
    eventName: String(record.attributes['type']),
    timeUnixNano,
    observedTimeUnixNano: timeUnixNano,
    severityNumber: record.severityNumber,
    severityText: record.severity,
    traceId: trace?.traceId ?? null,
    spanId: trace?.spanId ?? null,
  };
}

function resourceOf(record: LogRecord): OtelRecord['resource'] {
  const vm = observingVm(record);
  const known = {
    'cloud.provider': 'azure',
    'cloud.platform': 'azure.vm',
    'cloud.resource_id': vm.resourceId,
    'cloud.account.id': vm.subscriptionId,
    'cloud.region': vm.location,
    'cloud.availability_zone': vm.zone,
    'host.id': vm.vmId,
    'host.name': vm.name,
    'host.type': vm.vmSize,
    'service.name': 'scheduled-events-bridge',
  };
  return Object.fromEntries(Object.entries(known).filter((entry): entry is [string, string] => entry[1] !== null));
}

/**
 * Attributes without a convention, and the members of data, have names with our prefix. Null is left out, because
 * OpenTelemetry has none.
 */
function attributesOf({ attributes, data }: LogRecord): OtelRecord['attributes'] {
  const found = new Map<string, OtelValue>();
  for (const [name, value] of Object.entries(attributes))
    if (!OWN_FIELDS.includes(name)) found.set(CONVENTIONS.get(name) ?? pathOf(PREFIX, name), value);
  addMembers(found, PREFIX, data);
  return found;
}

function addMembers(found: Map<string, OtelValue>, prefix: string, value: JsonObject): void {
  for (const [name, member] of Object.entries(value)) {
    const path = pathOf(prefix, name);
    if (!isObject(member)) {
      if (member !== null) found.set(path, otelValue(member));
    } else if (name === 'tags') addTags(found, path, member);
    else addMembers(found, path, member);
  }
}

/** Keeps the names of tags unchanged. */
function addTags(found: Map<string, OtelValue>, prefix: string, tags: JsonObject): void {
  for (const [name, value] of Object.entries(tags))
    if (typeof value === 'string') found.set(`${prefix}.${name}`, value);
}

/** Writes members of an array that are not texts as JSON, because an array may have only texts. */
function otelValue(value: unknown): OtelValue {
  if (Array.isArray(value))
    return value.map((member) => (typeof member === 'string' ? member : JSON.stringify(member)));
  return value as string | number | boolean;
}

/** By prefix, then by name. Members of data are a closed set, so this does not grow without end. */
const PATHS = new Map<string, Map<string, string>>();

/**
 * Returns `event_type` for `eventType`, as OpenTelemetry writes names. Cached, because many events have the same names.
 */
function pathOf(prefix: string, name: string): string {
  const known = PATHS.get(prefix)?.get(name);
  if (known !== undefined) return known;
  const path = `${prefix}.${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
  PATHS.set(prefix, (PATHS.get(prefix) ?? new Map<string, string>()).set(name, path));
  return path;
}
