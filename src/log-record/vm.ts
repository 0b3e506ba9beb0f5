// A log record → what it tells of the VM that made it, as ECS and OpenTelemetry ask for it.
import { isObject } from '../formats/json-object.ts';
import type { LogRecord } from './log-record.ts';

/** Null where the CloudEvent does not tell it: nothing is derived that would be a guess. */
export interface ObservingVm {
  readonly name: string | null;
  readonly vmId: string | null;
  /** As instance metadata writes it; the CloudEvents' source is a scope of several VMs and never this. */
  readonly resourceId: string | null;
  readonly subscriptionId: string | null;
  readonly location: string | null;
  readonly zone: string | null;
  readonly vmSize: string | null;
  readonly tags: Readonly<Record<string, unknown>>;
}

const SCOPE = /^\/subscriptions\/([^/]+)\/resourcegroups\//;

export function observingVm({ data, attributes, host }: LogRecord): ObservingVm {
  const { observer } = data;
  const vm = isObject(observer) && isObject(observer['vm']) ? observer['vm'] : {};
  const read = (field: string): string | null => {
    const value = vm[field];
    return typeof value === 'string' ? value : null;
  };
  return {
    name: host,
    vmId: read('vmId'),
    resourceId: read('resourceId'),
    subscriptionId: read('subscriptionId') ?? SCOPE.exec(String(attributes['source']))?.[1] ?? null,
    location: read('location'),
    zone: read('zone'),
    vmSize: read('vmSize'),
    tags: isObject(vm['tags']) ? vm['tags'] : {},
  };
}

/** Trace and span id of a W3C `traceparent`; null where there is none. */
export function traceOf({ attributes }: LogRecord): { readonly traceId: string; readonly spanId: string } | null {
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-/.exec(String(attributes['traceparent'])) ?? [];
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId };
}
