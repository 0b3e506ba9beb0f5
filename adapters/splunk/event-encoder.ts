// Deliveries → a body of concatenated JSON objects for the HTTP Event Collector.
import { type LogRecord, logRecord } from '../../src/log-record/log-record.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { SplunkOptions } from './splunk-options.ts';

export type EncodeEvents = (batch: readonly Delivery[]) => Uint8Array;

export function eventEncoder(options: Pick<SplunkOptions, 'index' | 'source' | 'sourcetype'>): EncodeEvents {
  return (batch) => Buffer.concat(batch.flatMap((delivery) => envelope(delivery, options)));
}

/** Returns the JSON object of one event, around the stored bytes of its CloudEvent. */
function envelope(
  { bytes, timeMs }: Delivery,
  { index, source, sourcetype }: Parameters<typeof eventEncoder>[0],
): readonly Uint8Array[] {
  const { host, attributes } = logRecord(bytes);
  const metadata = JSON.stringify({
    time: timeMs / 1000,
    ...(host !== null && { host }),
    source: source ?? attributes['source'],
    sourcetype,
    ...(index !== undefined && { index }),
  });
  return [
    Buffer.from(`${metadata.slice(0, -1)},"event":`),
    bytes,
    Buffer.from(`,"fields":${JSON.stringify(fieldsOf(attributes))}}`),
  ];
}

/** Returns the attributes as texts: indexed fields must be flat texts. */
function fieldsOf(attributes: LogRecord['attributes']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)]));
}
