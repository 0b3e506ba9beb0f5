// An approval, hold or release → a broker message, by the caller's producer or sender.

import { ConsumerError } from '../consumer-error.ts';
import type { ApprovalChannel, ApprovalOrder } from './approver.ts';

/** As far as it is used: `Producer` of kafkajs, connected. */
export interface KafkaProducer {
  send(record: {
    topic: string;
    acks: number;
    messages: { key: string; value: string; headers: Record<string, string> }[];
  }): Promise<unknown>;
}

/** As far as it is used: `ServiceBusSender` of `@azure/service-bus`. */
export interface ServiceBusSender {
  sendMessages(message: { body: unknown; contentType: string; sessionId?: string }): Promise<void>;
}

/** Through a topic of `approvals.sources`. A call resolves once the broker has the message on all replicas in sync. */
export function kafka(producer: KafkaProducer, { topic }: { readonly topic: string }): ApprovalChannel {
  return broker(`the Kafka topic ${topic}`, (order) => {
    const headers = { 'content-type': 'application/json' };
    return producer.send({ topic, acks: -1, messages: [{ key: order.key, value: JSON.stringify(bodyOf(order)), headers }] });
  });
}

/** Through a queue or topic of `approvals.sources`. `sessions`: where the entity wants them, a session for each event. */
export function serviceBus(sender: ServiceBusSender, { sessions = false }: { readonly sessions?: boolean } = {}): ApprovalChannel {
  return broker('the Service Bus queue or topic', (order) =>
    sender.sendMessages({ body: bodyOf(order), contentType: 'application/json', ...(sessions && { sessionId: order.key }) }),
  );
}

/** A broker's client has its own retries and time-outs. */
function broker(where: string, send: (order: ApprovalOrder) => Promise<unknown>): ApprovalChannel {
  return {
    send: async (order, signal) => {
      signal?.throwIfAborted();
      try {
        await send(order);
      } catch (error) {
        const message = `the ${order.kind} for event ${order.eventId} could not be sent to ${where}: see \`cause\`, and send it again`;
        throw new ConsumerError('not-sent', message, { cause: error });
      }
      return { eventId: order.eventId, state: 'sent' };
    },
  };
}

/** Over HTTP the route says what it is, in a message its one member. */
function bodyOf({ kind, body }: ApprovalOrder): object {
  if (kind === 'approval') return body;
  return kind === 'hold' ? { Holds: [body] } : { Releases: [body] };
}
