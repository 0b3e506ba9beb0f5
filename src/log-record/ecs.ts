// A log record → a document by the Elastic Common Schema (behaviour 9.1).
import { isObject, type JsonObject } from '../formats/json-object.ts';
import { shortenedText } from '../formats/visible-text.ts';
import type { ChangeName } from '../model/change-names.ts';
import type { LogRecord } from './log-record.ts';
import { changeInType } from './message.ts';
import { type ObservingVm, observingVm, traceOf } from './vm.ts';

/** The version of ECS that defines these fields and values. */
const ECS_VERSION = '9.4.0';

/**
 * `ignore_above` of ECS, in UTF-16 units: a longer keyword is stored, and no search finds it. The message has the whole
 * reason.
 */
const LONGEST_KEYWORD = 1024;

/** Values of `event.type` that ECS expects in the category host. */
const TYPES: Readonly<Partial<Record<ChangeName, string>>> = { updated: 'change', started: 'start', ended: 'end' };

const OUTCOMES: Readonly<Record<string, string>> = {
  completed: 'success',
  unknown: 'unknown',
  'approval.submitted': 'success',
  'approval.failed': 'failure',
};

/**
 * Returns the ECS document. All attributes are under `cloudevents`, and all data under `scheduled_events`. The same
 * record always gives the same document.
 */
export function toEcs(record: LogRecord): JsonObject {
  const { time, severity, message, attributes, data } = record;
  const vm = observingVm(record);
  const trace = traceOf(record);
  const hosts = relatedHosts(record);
  return {
    '@timestamp': time,
    message,
    ecs: { version: ECS_VERSION },
    log: { level: severity.toLowerCase() },
    event: eventOf(record),
    cloud: cloudOf(vm),
    ...((vm.name ?? vm.vmId) !== null && { host: idAndName(vm) }),
    ...(hosts.length > 0 && { related: { hosts } }),
    ...(typeof data['approver'] === 'string' && { user: { name: data['approver'] } }),
    ...(trace !== null && { trace: { id: trace.traceId }, span: { id: trace.spanId } }),
    ...(Object.keys(vm.tags).length > 0 && { labels: labelsOf(vm) }),
    cloudevents: attributes,
    scheduled_events: withoutTags(data),
  };
}

function eventOf({ attributes, data, severityNumber }: LogRecord): JsonObject {
  const type = String(attributes['type']);
  const change = changeInType(type);
  const outcome = OUTCOMES[String(attributes['outcome'] ?? change)];
  const reason = data['reason'] ?? data['description'];
  return {
    id: attributes['id'],
    kind: 'event',
    category: ['host'],
    type: [(change && TYPES[change]) ?? 'info'],
    action: change ?? type,
    ...(outcome !== undefined && { outcome }),
    ...(typeof reason === 'string' && reason !== '' && { reason: shortenedText(reason, LONGEST_KEYWORD) }),
    module: 'azure',
    dataset: 'azure.scheduledevents',
    provider: 'scheduled-events-bridge',
    severity: severityNumber,
  };
}

function cloudOf(vm: ObservingVm): JsonObject {
  const { name, vmId, subscriptionId, location, zone, vmSize } = vm;
  return {
    provider: 'azure',
    ...(subscriptionId !== null && { account: { id: subscriptionId } }),
    ...(location !== null && { region: location }),
    ...(zone !== null && { availability_zone: zone }),
    ...((name ?? vmId) !== null && { instance: idAndName(vm) }),
    ...(vmSize !== null && { machine: { type: vmSize } }),
  };
}

function idAndName({ name, vmId }: ObservingVm): JsonObject {
  return { ...(vmId !== null && { id: vmId }), ...(name !== null && { name }) };
}

/** Returns the machines that the event names, and the one that saw it. */
function relatedHosts({ data, host }: LogRecord): readonly unknown[] {
  const machines: readonly unknown[] = Array.isArray(data['resources']) ? data['resources'] : [];
  return [...new Set([...machines, host])].filter((name) => typeof name === 'string' && name !== '');
}

/** Replaces dots, because a dot in a field's name makes an object of it, and two tags could then conflict. */
function labelsOf({ tags }: ObservingVm): JsonObject {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name.replaceAll('.', '_'), value]));
}

/** Removes the tags, which are the labels. */
function withoutTags(data: JsonObject): JsonObject {
  const { observer } = data;
  if (!isObject(observer) || !isObject(observer['vm'])) return data;
  const { tags: _, ...vm } = observer['vm'];
  return { ...data, observer: { ...observer, vm } };
}
