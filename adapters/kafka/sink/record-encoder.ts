// A delivery → the Kafka record of its CloudEvent (CloudEvents Kafka protocol binding 1.0.2).
import type { Message } from 'kafkajs';
import { DATA_CONTENT_TYPE, toBinary } from '../../../src/cloudevents/binary.ts';
import { STRUCTURED_CONTENT_TYPE } from '../../../src/cloudevents/event.ts';
import { unfitForBinary } from '../../../src/cloudevents/unencodable.ts';
import type { EncodedEvent } from '../../channel.ts';
import type { KafkaOptions } from '../options/kafka-options.ts';

/** Begins the header of each attribute in binary mode. */
export const RECORD_HEADER_PREFIX = 'ce_';
/** The header `content-type` of each mode. */
export const RECORD_CONTENT_TYPES = {
  binary: DATA_CONTENT_TYPE,
  structured: `${STRUCTURED_CONTENT_TYPE}; charset=UTF-8`,
} as const;

/** A record of the bridge: it always has a value and a timestamp, and all its headers are strings. */
export interface EncodedRecord extends Message {
  readonly value: Buffer;
  /** Milliseconds since 1970, as digits. */
  readonly timestamp: string;
  readonly headers: Record<string, string>;
}

/** Maximum overhead of a record: lengths, timestamp, offset (Kafka's record format, version 2). */
const RECORD_FRAMING_BYTES = 40;
/** The lengths of a header's name and value. */
const HEADER_FRAMING_BYTES = 6;

/**
 * Returns the same record at every attempt.
 * @throws BridgeError BRIDGE_DELIVERY_UNENCODABLE, refused, if the mode cannot represent the event
 */
export function encodeRecord(
  { bytes, partitionKey, timeMs }: EncodedEvent,
  { mode, keyed }: Pick<KafkaOptions, 'mode' | 'keyed'>,
  sink: string,
): EncodedRecord {
  return {
    ...(keyed && { key: partitionKey }),
    timestamp: String(Math.trunc(timeMs)),
    ...(mode === 'binary' ? binary(bytes, sink) : structured(bytes)),
  };
}

/** Returns an upper bound of the record's size in a request. */
export function recordBytes({ key, value, headers }: EncodedRecord): number {
  const headerBytes = Object.entries(headers).reduce(
    (sum, [name, text]) => sum + Buffer.byteLength(name) + Buffer.byteLength(text) + HEADER_FRAMING_BYTES,
    0,
  );
  return RECORD_FRAMING_BYTES + Buffer.byteLength(key ?? '') + value.byteLength + headerBytes;
}

function structured(bytes: Uint8Array): Pick<EncodedRecord, 'headers' | 'value'> {
  return { headers: { 'content-type': RECORD_CONTENT_TYPES.structured }, value: bufferOf(bytes) };
}

function binary(bytes: Uint8Array, sink: string): Pick<EncodedRecord, 'headers' | 'value'> {
  const event = toBinary(bytes);
  if ('fault' in event) throw unfitForBinary(event.fault, sink);
  const attributes = Object.entries(event.attributes).map(([name, text]) => [`${RECORD_HEADER_PREFIX}${name}`, text]);
  return {
    headers: { 'content-type': RECORD_CONTENT_TYPES.binary, ...Object.fromEntries(attributes) },
    value: bufferOf(event.data),
  };
}

/** Returns a Buffer on the same memory: kafkajs accepts no other type. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
