// Deliveries → the body of a bulk request: for each, an id and a document.
import { sha256Hex } from '../../src/formats/canonical-json.ts';
import { toEcs } from '../../src/log-record/ecs.ts';
import { type LogRecord, logRecord } from '../../src/log-record/log-record.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { ElasticsearchOptions } from './elasticsearch-options.ts';

interface BulkLines {
  /** `_id` of each member, in order. */
  readonly ids: readonly string[];
  readonly body: Uint8Array;
}

export function encodeBulk(
  batch: readonly Delivery[],
  { index, format }: Pick<ElasticsearchOptions, 'index' | 'format'>,
): BulkLines {
  const ids: string[] = [];
  const pieces = batch.flatMap(({ bytes }) => {
    const record = logRecord(bytes);
    const id = documentId(record);
    ids.push(id);
    const action = `${JSON.stringify({ create: { _index: index, _id: id } })}\n`;
    return format === 'ecs'
      ? [Buffer.from(`${action}${JSON.stringify(toEcs(record))}\n`)]
      : [Buffer.from(action), ...withTimestamp(record, bytes)];
  });
  return { ids, body: Buffer.concat(pieces) };
}

/**
 * Returns an id that depends only on the CloudEvent's source and id, so that repeats and other VMs give the same id.
 */
function documentId({ attributes }: LogRecord): string {
  return sha256Hex(`${attributes['source']}\n${attributes['id']}`);
}

/** Returns the stored CloudEvent with `@timestamp` before its members, as data streams require. */
function withTimestamp({ time }: LogRecord, bytes: Uint8Array): readonly Uint8Array[] {
  return [Buffer.from(`{"@timestamp":${JSON.stringify(time)},`), bytes.subarray(1), Buffer.from('\n')];
}
