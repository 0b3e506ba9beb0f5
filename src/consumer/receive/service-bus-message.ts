// A message of Microsoft's SDK → its CloudEvent (CloudEvents AMQP binding 1.0.2).
import type { CloudEvent } from '../event.ts';
import {
  expectJsonFormat,
  modeOf,
  notAnEvent,
  type ReadOptions,
  readBinary,
  readJson,
  readStructured,
} from '../read-event.ts';

/** The members of a `ServiceBusReceivedMessage` of `@azure/service-bus` that the library reads. */
export interface ServiceBusMessage {
  /** A value or bytes: the SDK parses bodies that look like JSON. */
  readonly body: unknown;
  readonly contentType?: string | undefined;
  readonly applicationProperties?: Readonly<Record<string, unknown>> | undefined;
}

const PREFIX = /^cloudEvents[:_]/;

/**
 * @throws ConsumerError `not-a-cloudevent`, `unsupported-media-type`: dead-letter the message, because a retry would
 * not help
 */
export function parseServiceBusMessage(message: ServiceBusMessage, options: ReadOptions = {}): CloudEvent {
  const { body, contentType, applicationProperties = {} } = message;
  const mode = modeOf(contentType);
  if (mode === 'batch') throw notAnEvent('a Service Bus message must not be a batch');
  if (mode === 'binary') {
    const own = Object.entries(applicationProperties).filter(([name]) => PREFIX.test(name));
    const attributes = Object.fromEntries(own.map(([name, value]) => [name.replace(PREFIX, ''), attributeOf(value)]));
    return readBinary({ attributes, contentType, data: dataOf(body) }, options);
  }
  expectJsonFormat(contentType);
  return readStructured(eventOf(body), options);
}

/** Converts AMQP's own types, which senders may use. */
function attributeOf(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'bigint' ? String(value) : value;
}

function dataOf(body: unknown): { readonly bytes: Uint8Array } | { readonly value: unknown } | undefined {
  if (body instanceof Uint8Array) return body.byteLength === 0 ? undefined : { bytes: body };
  return body === undefined ? undefined : { value: body };
}

function eventOf(body: unknown): unknown {
  if (body instanceof Uint8Array) return readJson(body);
  return typeof body === 'string' ? readJson(Buffer.from(body)) : body;
}
