// A message of Microsoft's SDK → its CloudEvent (CloudEvents AMQP binding 1.0.2).
import type { CloudEvent } from '../event.ts';
import { expectJsonFormat, modeOf, notAnEvent, type ReadOptions, readBinary, readJson, readStructured } from '../read-event.ts';

/** As far as it is read: `ServiceBusReceivedMessage` of `@azure/service-bus`. */
export interface ServiceBusMessage {
  /** The SDK parses what looks like JSON, so it is a value or bytes. */
  readonly body: unknown;
  readonly contentType?: string | undefined;
  readonly applicationProperties?: Readonly<Record<string, unknown>> | undefined;
}

const PREFIX = /^cloudEvents[:_]/;

/** @throws ConsumerError `not-a-cloudevent`, `unsupported-media-type`: dead-letter the message, it will not get better */
export function parseServiceBusMessage(message: ServiceBusMessage, options: ReadOptions = {}): CloudEvent {
  const { body, contentType, applicationProperties = {} } = message;
  const mode = modeOf(contentType);
  if (mode === 'batch') throw notAnEvent('a Service Bus message holds no batch');
  if (mode === 'binary') {
    const own = Object.entries(applicationProperties).filter(([name]) => PREFIX.test(name));
    const attributes = Object.fromEntries(own.map(([name, value]) => [name.replace(PREFIX, ''), attributeOf(value)]));
    return readBinary({ attributes, contentType, data: dataOf(body) }, options);
  }
  expectJsonFormat(contentType);
  return readStructured(eventOf(body), options);
}

/** Senders may use AMQP's own types. */
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
