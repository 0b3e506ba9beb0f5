// A log record → OpenTelemetry's log data model, before any encoding (behaviour 9.1).
import { isObject, type JsonObject } from '../formats/json-object.ts';
import type { LogRecord, LogSeverity } from './log-record.ts';
import { observingVm, traceOf } from './vm.ts';

export type OtelValue = string | number | boolean | readonly string[];

export interface OtelRecord {
  /** Attributes of the resource: the VM that made the CloudEvent, and this program. Equal for every record of a VM whose name and metadata stand. */
  readonly resource: Readonly<Record<string, string>>;
  readonly attributes: ReadonlyMap<string, OtelValue>;
  readonly body: string;
  readonly eventName: string;
  /** Since 1970. */
  readonly timeUnixNano: bigint;
  /** The same: when it was sent is no part of a record, so that a repeat is equal. */
  readonly observedTimeUnixNano: bigint;
  readonly severityNumber: number;
  readonly severityText: LogSeverity;
  /** 32 and 16 hex digits. */
  readonly traceId: string | null;
  readonly spanId: string | null;
}

/** By the semantic conventions for CloudEvents, which name five attributes. */
const CONVENTIONS: ReadonlyMap<string, string> = new Map([
  ['id', 'cloudevents.event_id'],
  ['source', 'cloudevents.event_source'],
  ['specversion', 'cloudevents.event_spec_version'],
  ['subject', 'cloudevents.event_subject'],
  ['type', 'cloudevents.event_type'],
]);

/** Of every name that is ours. */
const OWN = 'scheduled_events';

/** What has a place of its own in a record. */
const TOLD_ELSEWHERE = ['time', 'severitynumber', 'severitytext', 'traceparent'];

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

/** Attributes without a convention and the members of data have names of our own; OpenTelemetry has no null, so what is null is left out. */
function attributesOf({ attributes, data }: LogRecord): OtelRecord['attributes'] {
  const told = new Map<string, OtelValue>();
  for (const [name, value] of Object.entries(attributes))
    if (!TOLD_ELSEWHERE.includes(name)) told.set(CONVENTIONS.get(name) ?? pathOf(OWN, name), value);
  addMembers(told, OWN, data);
  return told;
}

function addMembers(told: Map<string, OtelValue>, prefix: string, value: JsonObject): void {
  for (const [name, member] of Object.entries(value)) {
    const path = pathOf(prefix, name);
    if (!isObject(member)) {
      if (member !== null) told.set(path, otelValue(member));
    } else if (name === 'tags') addTags(told, path, member);
    else addMembers(told, path, member);
  }
}

/** A tag keeps its own name. */
function addTags(told: Map<string, OtelValue>, prefix: string, tags: JsonObject): void {
  for (const [name, value] of Object.entries(tags)) if (typeof value === 'string') told.set(`${prefix}.${name}`, value);
}

/** An array has texts alone: what is none in it is JSON. */
function otelValue(value: unknown): OtelValue {
  if (Array.isArray(value)) return value.map((member) => (typeof member === 'string' ? member : JSON.stringify(member)));
  return value as string | number | boolean;
}

/** By what they stand in, then by their own name. Members of data are a closed set, so that this does not grow. */
const PATHS = new Map<string, Map<string, string>>();

/** `eventType` is `event_type`, as OpenTelemetry writes names. Made once: many events have the same names. */
function pathOf(prefix: string, name: string): string {
  const known = PATHS.get(prefix)?.get(name);
  if (known !== undefined) return known;
  const path = `${prefix}.${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
  PATHS.set(prefix, (PATHS.get(prefix) ?? new Map<string, string>()).set(name, path));
  return path;
}
