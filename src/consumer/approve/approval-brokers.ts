// An approval, hold or release → a broker message, by the caller's producer or sender.

import { ConsumerError } from '../consumer-error.ts';
import type { ApprovalChannel, ApprovalOrder } from './approver.ts';

/** A connected `Producer` of kafkajs, with the members that the library uses. */
export interface KafkaProducer {
  send(record: {
    topic: string;
    acks: number;
    messages: { key: string; value: string; headers: Record<string, string> }[];
  }): Promise<unknown>;
}

/** A `ServiceBusSender` of `@azure/service-bus`, with the members that the library uses. */
export interface ServiceBusSender {
  sendMessages(message: { body: unknown; contentType: string; sessionId?: string }): Promise<void>;
}

/**
 * Returns a channel through a topic of `approvals.sources`. A call resolves once all in-sync replicas of the broker
 * have the message.
 */
export function kafka(producer: KafkaProducer, { topic }: { readonly topic: string }): ApprovalChannel {
  return broker(`the Kafka topic ${topic}`, (order) => {
    const headers = { 'content-type': 'application/json' };
    return producer.send({
      topic,
      acks: -1,
      messages: [{ key: order.key, value: JSON.stringify(bodyOf(order)), headers }],
    });
  });
}

/**
 * Returns a channel through a queue or topic of `approvals.sources`.
 * @param sessions true if the entity requires sessions; each event then has its own
 */
export function serviceBus(
  sender: ServiceBusSender,
  { sessions = false }: { readonly sessions?: boolean } = {},
): ApprovalChannel {
  return broker('the Service Bus queue or topic', (order) =>
    sender.sendMessages({
      body: bodyOf(order),
      contentType: 'application/json',
      ...(sessions && { sessionId: order.key }),
    }),
  );
}

/** Sends once, because a broker's client has its own retries and time-outs. */
function broker(target: string, send: (order: ApprovalOrder) => Promise<unknown>): ApprovalChannel {
  return {
    send: async (order, signal) => {
      signal?.throwIfAborted();
      try {
        await send(order);
      } catch (error) {
        const message = `the ${order.kind} for event ${order.eventId} could not be sent to ${target}: see \`cause\`, and send it again`;
        throw new ConsumerError('not-sent', message, { cause: error });
      }
      return { eventId: order.eventId, state: 'sent' };
    },
  };
}

/** Returns the body of a message. Its member says what it is; over HTTP the route does. */
function bodyOf({ kind, body }: ApprovalOrder): object {
  if (kind === 'approval') return body;
  return kind === 'hold' ? { Holds: [body] } : { Releases: [body] };
}
