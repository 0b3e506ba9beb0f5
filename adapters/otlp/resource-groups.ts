// Deliveries → OpenTelemetry records; consecutive ones with equal resources form a group.
import { logRecord } from '../../src/log-record/log-record.ts';
import { type OtelRecord, otelRecord } from '../../src/log-record/otel.ts';
import type { Delivery } from '../../src/model/deliveries.ts';

/** The scope of every record. It has no version, so that a repeat by a newer bridge is identical. */
export const SCOPE = 'scheduled-events-bridge';

export interface ResourceGroup {
  readonly resource: OtelRecord['resource'];
  readonly records: readonly OtelRecord[];
}

/** Groups the records in order. If a resource returns after another one, it starts a new group. */
export function resourceGroups(batch: readonly Delivery[]): readonly ResourceGroup[] {
  const groups: { readonly resource: OtelRecord['resource']; readonly key: string; readonly records: OtelRecord[] }[] =
    [];
  for (const { bytes } of batch) {
    const record = otelRecord(logRecord(bytes));
    const key = JSON.stringify(record.resource);
    const last = groups.at(-1);
    if (last?.key === key) last.records.push(record);
    else groups.push({ resource: record.resource, key, records: [record] });
  }
  return groups;
}
