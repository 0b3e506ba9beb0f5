// An SDK message → an approval message: a stable id, place, bytes and time. Pure.
import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import type { ApprovalMessage } from '../../approval-source.ts';
import type { SourceEntity } from '../options/service-bus-source-options.ts';

/** The service's limit. */
const LONGEST_ID = 128;

/** @param nowMs the time of a message without one */
export function approvalMessage(message: ServiceBusReceivedMessage, { place }: SourceEntity, nowMs: number): ApprovalMessage {
  const { sequenceNumber, enqueuedTimeUtc } = message;
  // As text: numbers of partitioned entities are too large for a JavaScript number.
  const number = sequenceNumber?.toString() ?? '';
  const sentMs = enqueuedTimeUtc?.getTime();
  const messageId = textOf(message.messageId).slice(0, LONGEST_ID);
  return {
    // A recreated queue counts from 1 again, so the number alone is not unique.
    id: `${number}:${sentMs ?? ''}:${messageId}`,
    place: { ...place, sequenceNumber: number },
    body: bytesOf(message.body),
    sentMs: sentMs ?? nowMs,
  };
}

/** Returns the body's bytes. SDKs send data sections; portals and other AMQP clients may send a text or binary value. */
function bytesOf(body: unknown): Uint8Array | null {
  if (body instanceof Uint8Array) return body;
  if (typeof body === 'string') return Buffer.from(body);
  if (Array.isArray(body) && body.length > 0 && body.every((section) => section instanceof Uint8Array)) return Buffer.concat(body);
  return null;
}

function textOf(id: ServiceBusReceivedMessage['messageId']): string {
  if (id === undefined || typeof id === 'string') return id ?? '';
  return typeof id === 'number' ? String(id) : id.toString('hex');
}
