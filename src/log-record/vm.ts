// A log record → what it tells of the VM that made it, as ECS and OpenTelemetry ask for it.
import { isObject } from '../formats/json-object.ts';
import type { LogRecord } from './log-record.ts';

/** Null where the CloudEvent does not tell it: nothing is derived that would be a guess. */
export interface ObservingVm {
  readonly name: string | null;
  readonly vmId: string | null;
  /** As instance metadata writes it, or in lower case by the names in `source` and of the VM; resource ids compare without case. */
  readonly resourceId: string | null;
  readonly subscriptionId: string | null;
  readonly location: string | null;
  readonly zone: string | null;
  readonly vmSize: string | null;
  readonly tags: Readonly<Record<string, unknown>>;
}

const SCOPE = /^(\/subscriptions\/([^/]+)\/resourcegroups\/[^/]+)(?:\/providers\/microsoft\.compute\/virtualmachinescalesets\/([^/]+))?/;
/** Of a scale set in uniform orchestration, whose machines are NAME_NUMBER; in the flexible one eight letters and digits follow. */
const INSTANCE = /^(.+)_(\d{1,7})$/;

export function observingVm({ data, attributes, host }: LogRecord): ObservingVm {
  const { observer } = data;
  const vm = isObject(observer) && isObject(observer['vm']) ? observer['vm'] : {};
  const read = (field: string): string | null => {
    const value = vm[field];
    return typeof value === 'string' ? value : null;
  };
  const source = SCOPE.exec(String(attributes['source']));
  return {
    name: host,
    vmId: read('vmId'),
    resourceId: read('resourceId') ?? resourceOf(source, host),
    subscriptionId: read('subscriptionId') ?? source?.[2] ?? null,
    location: read('location'),
    zone: read('zone'),
    vmSize: read('vmSize'),
    tags: isObject(vm['tags']) ? vm['tags'] : {},
  };
}

/** Null where the source is no scope of Azure, or the VM's name unknown. */
function resourceOf(source: RegExpExecArray | null, host: string | null): string | null {
  const [, group, , scaleSet] = source ?? [];
  if (group === undefined || host === null) return null;
  const name = host.toLowerCase();
  const compute = `${group}/providers/microsoft.compute`;
  const [, stem, instance] = INSTANCE.exec(name) ?? [];
  const isUniform = scaleSet !== undefined && stem === scaleSet;
  return isUniform ? `${compute}/virtualmachinescalesets/${scaleSet}/virtualmachines/${instance}` : `${compute}/virtualmachines/${name}`;
}

/** Trace and span id of a W3C `traceparent`; null where there is none. */
export function traceOf({ attributes }: LogRecord): { readonly traceId: string; readonly spanId: string } | null {
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-/.exec(String(attributes['traceparent'])) ?? [];
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId };
}
