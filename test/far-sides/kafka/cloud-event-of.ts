// A record of a topic → the CloudEvent in it, as the CloudEvents SDK's Kafka binding reads it.
import { type CloudEventV1, Kafka } from 'cloudevents';
import type { ReadRecord } from './records.ts';

/**
 * Attributes of binary mode are texts, but for the SDK's own. The SDK takes the record's key for `partitionkey`,
 * whatever stands there, so it is not shown the key; it knows media types in one spelling only, and no record without a
 * value.
 *
 * @throws where it is none
 */
export function cloudEventOf({ headers, value }: ReadRecord): CloudEventV1<unknown> {
  const named = Object.fromEntries(headers.map(([name, text]) => [name, text ?? '']));
  const type = named['content-type'] ?? '';
  const structured = /^application\/cloudevents\+json/i.test(type);
  const partitionkey = structured
    ? (JSON.parse(value ?? '{}') as { partitionkey?: string }).partitionkey
    : named['ce_partitionkey'];
  const message = {
    key: partitionkey as string,
    value,
    headers: { ...named, ...(structured && { 'content-type': 'application/cloudevents+json' }) },
    body: value,
  };
  const event = Kafka.toEvent(message);
  if (Array.isArray(event)) throw new Error('Kafka has no batches of CloudEvents');
  return event as CloudEventV1<unknown>;
}
