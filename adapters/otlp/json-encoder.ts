// Groups of records → an ExportLogsServiceRequest in OTLP's JSON.
import type { OtelRecord, OtelValue } from '../../src/log-record/otel.ts';
import { type ResourceGroup, SCOPE } from './resource-groups.ts';

/** Encodes groups in protobuf's JSON mapping, except for ids, which OTLP writes in hex. */
export function encodeJson(groups: readonly ResourceGroup[]): string {
  return JSON.stringify({
    resourceLogs: groups.map(({ resource, records }) => ({
      resource: { attributes: keyValues(Object.entries(resource)) },
      scopeLogs: [{ scope: { name: SCOPE }, logRecords: records.map(jsonRecord) }],
    })),
  });
}

function jsonRecord(record: OtelRecord): unknown {
  const { traceId, spanId } = record;
  return {
    timeUnixNano: String(record.timeUnixNano),
    observedTimeUnixNano: String(record.observedTimeUnixNano),
    severityNumber: record.severityNumber,
    severityText: record.severityText,
    body: anyValue(record.body),
    attributes: keyValues(record.attributes),
    ...(traceId !== null && { traceId }),
    ...(spanId !== null && { spanId }),
    eventName: record.eventName.toWellFormed(),
  };
}

function keyValues(attributes: Iterable<readonly [string, OtelValue]>): unknown {
  return Array.from(attributes, ([key, value]) => ({ key: key.toWellFormed(), value: anyValue(value) }));
}

/**
 * Encodes one value. 64-bit integers are texts. U+FFFD replaces a lone surrogate, which UTF-8 cannot encode, as in the
 * protobuf encoding.
 */
function anyValue(value: OtelValue): unknown {
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(anyValue) } };
}
