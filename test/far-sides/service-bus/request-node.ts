// Requests on `$cbs` or `$management` links → answers on the link that the request names.
import type { Receiver, Sender } from 'rhea';
import { type AmqpMessage, readMessage } from './amqp-message.ts';
import type { AmqpValue } from './amqp-value.ts';
import { answerAttach, settle } from './rhea-link.ts';
import { typed } from './typed-values.ts';

export interface NodeAnswer {
  readonly status: number;
  readonly description: string;
  readonly condition?: string;
  readonly body?: unknown;
}

/** The two nodes spell the same fields in two ways. */
export const SPELLINGS = {
  cbs: { status: 'status-code', description: 'status-description', condition: 'error-condition' },
  management: { status: 'statusCode', description: 'statusDescription', condition: 'errorCondition' },
} as const;
type Spelling = (typeof SPELLINGS)[keyof typeof SPELLINGS];

const CREDIT = 100;

/** Gives the answer, or null for none; then `later` can still give one. */
export type RequestHandler = (request: AmqpMessage, later: (answer: NodeAnswer) => void) => NodeAnswer | null;

/** Hears requests on one link. */
export function listenForRequests(receiver: Receiver, handle: RequestHandler, spelling: Spelling): void {
  answerAttach(receiver);
  receiver.add_credit(CREDIT);
  receiver.on('message', ({ message, delivery }) => {
    receiver.add_credit(1);
    if (delivery) settle(delivery, 'accepted');
    const request = readMessage(message as unknown as Buffer);
    const send = (answer: NodeAnswer) => reply(receiver, request, answer, spelling);
    const answer = handle(request, send);
    if (answer) send(answer);
  });
}

function reply(
  { connection, target }: Receiver,
  { properties }: AmqpMessage,
  answer: NodeAnswer,
  spelling: Spelling,
): void {
  const node = target?.address;
  const replyTo = properties['reply-to']?.value;
  // The SDK for Python names no link: it has one for the answers of each node.
  const sender = connection.find_sender((link: Sender) =>
    replyTo === undefined ? link.source?.address === node : link.name === replyTo || link.target?.address === replyTo,
  );
  const application_properties = {
    [spelling.status]: typed.int(answer.status),
    [spelling.description]: answer.description,
    ...(answer.condition === undefined ? {} : { [spelling.condition]: typed.symbol(answer.condition) }),
  };
  sender?.send({
    correlation_id: correlationOf(properties['message-id']),
    application_properties,
    body: answer.body ?? null,
  });
}

/** The id of a request with the type it came with, as clients compare it. */
function correlationOf(id: AmqpValue | undefined): string | Buffer {
  return id?.type === 'uuid' ? Buffer.from(id.value.replaceAll('-', ''), 'hex') : String(id?.value);
}

/** The text of a string or symbol in a request's application properties; empty where there is none. */
export function textOf({ applicationProperties }: AmqpMessage, name: string): string {
  return String(applicationProperties[name]?.value ?? '');
}

/** The body of a request, which is a map, by its keys; empty where it is none. */
export function bodyFields({ body }: AmqpMessage): Readonly<Record<string, AmqpValue>> {
  if (body.kind !== 'value' || body.value.type !== 'map') return {};
  return Object.fromEntries(body.value.value.map(([key, value]) => [String(key.value), value]));
}
