// Groups of records → an ExportLogsServiceRequest in protobuf.
import type { OtelRecord, OtelValue } from '../../src/log-record/otel.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import { type ResourceGroup, SCOPE } from './resource-groups.ts';

/**
 * Field numbers from opentelemetry.proto's collector/logs/v1, logs/v1, resource/v1 and common/v1; only the fields that
 * are written.
 */
const EXPORT_LOGS_SERVICE_REQUEST = { resourceLogs: 1 };
const RESOURCE_LOGS = { resource: 1, scopeLogs: 2 };
const RESOURCE = { attributes: 1 };
const SCOPE_LOGS = { scope: 1, logRecords: 2 };
const INSTRUMENTATION_SCOPE = { name: 1 };
const LOG_RECORD = {
  timeUnixNano: 1,
  severityNumber: 2,
  severityText: 3,
  body: 5,
  attributes: 6,
  traceId: 9,
  spanId: 10,
  observedTimeUnixNano: 11,
  eventName: 12,
};
const KEY_VALUE = { key: 1, value: 2 };
const ANY_VALUE = { stringValue: 1, boolValue: 2, intValue: 3, doubleValue: 4, arrayValue: 5 };
const ARRAY_VALUE = { values: 1 };

export function encodeProtobuf(groups: readonly ResourceGroup[]): Uint8Array {
  const writer = new ProtobufWriter();
  for (const group of groups)
    writer.message(EXPORT_LOGS_SERVICE_REQUEST.resourceLogs, () => resourceLogs(writer, group));
  return writer.finish();
}

function resourceLogs(writer: ProtobufWriter, { resource, records }: ResourceGroup): void {
  writer.message(RESOURCE_LOGS.resource, () => keyValues(writer, RESOURCE.attributes, Object.entries(resource)));
  writer.message(RESOURCE_LOGS.scopeLogs, () => {
    writer.message(SCOPE_LOGS.scope, () => writer.text(INSTRUMENTATION_SCOPE.name, SCOPE));
    for (const record of records) writer.message(SCOPE_LOGS.logRecords, () => logRecord(writer, record));
  });
}

function logRecord(writer: ProtobufWriter, record: OtelRecord): void {
  writer.fixed64(LOG_RECORD.timeUnixNano, record.timeUnixNano);
  writer.varint(LOG_RECORD.severityNumber, record.severityNumber);
  writer.text(LOG_RECORD.severityText, record.severityText);
  writer.message(LOG_RECORD.body, () => anyValue(writer, record.body));
  keyValues(writer, LOG_RECORD.attributes, record.attributes);
  if (record.traceId !== null) writer.bytes(LOG_RECORD.traceId, Buffer.from(record.traceId, 'hex'));
  if (record.spanId !== null) writer.bytes(LOG_RECORD.spanId, Buffer.from(record.spanId, 'hex'));
  writer.fixed64(LOG_RECORD.observedTimeUnixNano, record.observedTimeUnixNano);
  writer.text(LOG_RECORD.eventName, record.eventName);
}

function keyValues(writer: ProtobufWriter, field: number, attributes: Iterable<readonly [string, OtelValue]>): void {
  for (const [key, value] of attributes)
    writer.message(field, () => {
      writer.text(KEY_VALUE.key, key);
      writer.message(KEY_VALUE.value, () => anyValue(writer, value));
    });
}

function anyValue(writer: ProtobufWriter, value: OtelValue): void {
  if (typeof value === 'string') writer.text(ANY_VALUE.stringValue, value);
  else if (typeof value === 'boolean') writer.varint(ANY_VALUE.boolValue, Number(value));
  else if (typeof value !== 'number')
    writer.message(ANY_VALUE.arrayValue, () => {
      for (const member of value) writer.message(ARRAY_VALUE.values, () => anyValue(writer, member));
    });
  else if (Number.isSafeInteger(value)) writer.varint(ANY_VALUE.intValue, value);
  else writer.double(ANY_VALUE.doubleValue, value);
}
