// A log record → the VM that made it, in the fields that ECS and OpenTelemetry need.
import { isObject } from '../formats/json-object.ts';
import type { LogRecord } from './log-record.ts';

/** A member is null if the CloudEvent does not have it. Nothing is guessed. */
export interface ObservingVm {
  readonly name: string | null;
  readonly vmId: string | null;
  /**
   * As instance metadata writes it; else in lower case, from `source` and the VM's name. Resource ids are compared
   * without case.
   */
  readonly resourceId: string | null;
  readonly subscriptionId: string | null;
  readonly location: string | null;
  readonly zone: string | null;
  readonly vmSize: string | null;
  readonly tags: Readonly<Record<string, unknown>>;
}

const SCOPE =
  /^(\/subscriptions\/([^/]+)\/resourcegroups\/[^/]+)(?:\/providers\/microsoft\.compute\/virtualmachinescalesets\/([^/]+))?/;
/**
 * The name of a machine in a scale set with uniform orchestration: NAME_NUMBER. In flexible orchestration eight letters
 * and digits follow.
 */
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

/** Returns null if the source is not a scope of Azure, or the VM's name is unknown. */
function resourceOf(source: RegExpExecArray | null, host: string | null): string | null {
  const [, group, , scaleSet] = source ?? [];
  if (group === undefined || host === null) return null;
  const name = host.toLowerCase();
  const compute = `${group}/providers/microsoft.compute`;
  const [, stem, instance] = INSTANCE.exec(name) ?? [];
  const isUniform = scaleSet !== undefined && stem === scaleSet;
  return isUniform
    ? `${compute}/virtualmachinescalesets/${scaleSet}/virtualmachines/${instance}`
    : `${compute}/virtualmachines/${name}`;
}

/** Returns the trace and span id of a W3C `traceparent`, or null if there is none. */
export function traceOf({ attributes }: LogRecord): { readonly traceId: string; readonly spanId: string } | null {
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-/.exec(String(attributes['traceparent'])) ?? [];
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId };
}
