// A delivery → the Kafka record of its CloudEvent (CloudEvents Kafka protocol binding 1.0.2).

import type { Message } from 'kafkajs';
import { DATA_CONTENT_TYPE, toBinary } from '../../../src/cloudevents/binary.ts';
import { STRUCTURED_CONTENT_TYPE } from '../../../src/cloudevents/structured.ts';
import { unfitForBinary } from '../../../src/cloudevents/unencodable.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';

export type RecordMode = 'binary' | 'structured';

/** A record of the bridge: it always has a value and a timestamp, and all its headers are texts. */
export interface EncodedRecord extends Message {
  readonly value: Buffer;
  /** Milliseconds since 1970, in digits. */
  readonly timestamp: string;
  readonly headers: Record<string, string>;
}

interface RecordOptions {
  readonly mode: RecordMode;
  /** Whether the partition key is the record's key too. */
  readonly keyed: boolean;
}

/** What a record takes besides its key, value and headers: lengths, timestamp, offset, at their longest (Kafka's record format, version 2). */
const RECORD_FRAMING_BYTES = 40;
/** The lengths of a header's name and value. */
const HEADER_FRAMING_BYTES = 6;

/** The same record at every attempt. @throws BridgeError BRIDGE_DELIVERY_UNENCODABLE, refused, where the mode cannot hold the event */
export function encodeRecord({ bytes, partitionKey, timeMs }: Delivery, { mode, keyed }: RecordOptions, sink: string): EncodedRecord {
  return {
    ...(keyed && { key: partitionKey }),
    timestamp: String(Math.trunc(timeMs)),
    ...(mode === 'binary' ? binary(bytes, sink) : structured(bytes)),
  };
}

/** At least as many bytes as the record takes in a request. */
export function recordBytes({ key, value, headers }: EncodedRecord): number {
  const headerBytes = Object.entries(headers).reduce(
    (sum, [name, text]) => sum + Buffer.byteLength(name) + Buffer.byteLength(text) + HEADER_FRAMING_BYTES,
    0,
  );
  return RECORD_FRAMING_BYTES + Buffer.byteLength(key ?? '') + value.byteLength + headerBytes;
}

function structured(bytes: Uint8Array): Pick<EncodedRecord, 'headers' | 'value'> {
  return { headers: { 'content-type': `${STRUCTURED_CONTENT_TYPE}; charset=UTF-8` }, value: bufferOf(bytes) };
}

function binary(bytes: Uint8Array, sink: string): Pick<EncodedRecord, 'headers' | 'value'> {
  const event = toBinary(bytes);
  if ('fault' in event) throw unfitForBinary(event.fault, sink);
  const attributes = Object.entries(event.attributes).map(([name, text]) => [`ce_${name}`, text]);
  return { headers: { 'content-type': DATA_CONTENT_TYPE, ...Object.fromEntries(attributes) }, value: bufferOf(event.data) };
}

/** The same memory: kafkajs takes no other kind of bytes. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
