// A delivery → its Service Bus message, always the same except for `ttl` (AMQP binding 1.0.2).
import type { ServiceBusMessage } from '@azure/service-bus';
import { type BinaryEvent, DATA_CONTENT_TYPE, toBinary } from '../../../src/cloudevents/binary.ts';
import { STRUCTURED_CONTENT_TYPE } from '../../../src/cloudevents/event.ts';
import { unfitForBinary } from '../../../src/cloudevents/unencodable.ts';
import { sha256Hex } from '../../../src/formats/canonical-json.ts';
import type { Deps } from '../../../src/time/clock.ts';
import type { EncodedEvent } from '../../channel.ts';
import type { ServiceBusOptions } from '../options/service-bus-options.ts';

type MessageOptions = Pick<ServiceBusOptions, 'mode' | 'sessions' | 'attributePrefix' | 'ttl'>;

/** Encodes a delivery. @throws BridgeError with disposition `refused` */
export type EncodeBusMessage = (delivery: EncodedEvent) => ServiceBusMessage;

/** Begins the application property of each attribute in binary mode, by `attributePrefix`. */
export const PREFIXES = { underscore: 'cloudEvents_', colon: 'cloudEvents:' } as const;
/** The property `contentType` of each mode. */
export const MESSAGE_CONTENT_TYPES = {
  binary: DATA_CONTENT_TYPE,
  structured: `${STRUCTURED_CONTENT_TYPE}; charset=utf-8`,
} as const;
/** Limit of message, session and partition ids. */
const LONGEST_ID = 128;
/** Service Bus quotas for one application property, and for all of them. */
const LARGEST_PROPERTY_BYTES = 32 * 1024;
const LARGEST_PROPERTIES_BYTES = 64 * 1024;
/** An expired message is still sent with this `ttl`: a waiting receiver gets it, and the entity may dead-letter it. */
const LEAST_TTL_MS = 1000;

/** Returns the encoder of a sink. @param sink the sink's name, for messages */
export function busMessageEncoder(options: MessageOptions, sink: string, deps: Pick<Deps, 'wallMs'>): EncodeBusMessage {
  return (delivery) => {
    const event = toBinary(delivery.bytes);
    const content = options.mode === 'binary' ? binaryContent(event, options, sink) : structuredContent(delivery);
    const { type, correlationid, expirytime } = 'fault' in event ? {} : event.attributes;
    const key = shortened(delivery.partitionKey);
    const timeToLive = ttlMs(options.ttl, expirytime, deps.wallMs());
    return {
      ...content,
      messageId: shortened(delivery.id),
      ...(options.sessions ? { sessionId: key } : { partitionKey: key }),
      ...(type !== undefined && { subject: type }),
      ...(correlationid !== undefined && { correlationId: correlationid }),
      ...(timeToLive !== null && { timeToLive }),
    };
  };
}

/** Returns a lower bound of the message's size, without framing. */
export function leastBytes({ body, applicationProperties = {} }: ServiceBusMessage): number {
  return (body as Uint8Array).length + propertyBytes(applicationProperties);
}

/**
 * Returns a data section with the JSON of `data`, and every attribute as its canonical string, which A-3 allows
 * instead of AMQP's types.
 */
function binaryContent(
  event: ReturnType<typeof toBinary>,
  { attributePrefix }: MessageOptions,
  sink: string,
): ServiceBusMessage {
  if ('fault' in event) throw unfitForBinary(event.fault, sink);
  const applicationProperties = prefixed(event, PREFIXES[attributePrefix]);
  const total = propertyBytes(applicationProperties);
  const largest = Math.max(...Object.values(applicationProperties).map((value) => Buffer.byteLength(value)));
  if (total > LARGEST_PROPERTIES_BYTES || largest > LARGEST_PROPERTY_BYTES)
    throw unfitForBinary(
      `its attributes need ${total} bytes of application properties, the largest ${largest}: the limits are 64 KiB and 32 KiB`,
      sink,
    );
  return { body: bufferOf(event.data), contentType: MESSAGE_CONTENT_TYPES.binary, applicationProperties };
}

function structuredContent({ bytes }: EncodedEvent): ServiceBusMessage {
  return { body: bufferOf(bytes), contentType: MESSAGE_CONTENT_TYPES.structured };
}

function prefixed({ attributes }: BinaryEvent, prefix: string): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [prefix + name, value]));
}

function propertyBytes(properties: NonNullable<ServiceBusMessage['applicationProperties']>): number {
  return Object.entries(properties).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(String(value)),
    0,
  );
}

/** Returns a Buffer: the SDK would encode any other type as JSON again (A-T4). */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Returns the id, or its hash if it is too long. The CloudEvent keeps the full id. */
function shortened(id: string): string {
  return id.length <= LONGEST_ID ? id : `sha256:${sha256Hex(id)}`;
}

/** Returns the time to live in milliseconds, or null for the entity's default. */
function ttlMs(ttl: MessageOptions['ttl'], expiry: string | undefined, wallMs: number): number | null {
  if (ttl !== 'untilNotBefore') return ttl ?? null;
  return expiry === undefined ? null : Math.max(Date.parse(expiry) - wallMs, LEAST_TTL_MS);
}
