// Management requests about messages → peeked, scheduled, cancelled, deferred ones received.
import { readMessage } from './amqp-message.ts';
import type { AmqpValue } from './amqp-value.ts';
import { spelledOut } from './broker.ts';
import { member, OK, type Operation, refusal } from './operation.ts';
import { typed } from './typed-values.ts';

const peekMessage: Operation = ({ broker, place, fields }) => {
  const [from, count] = [
    Number(fields['from-sequence-number']?.value ?? 0),
    Number(fields['message-count']?.value ?? 1),
  ];
  const session = fields['session-id'] ? String(fields['session-id'].value) : null;
  const found = (broker.namespace.node(place.path)?.store.all() ?? [])
    .filter((kept) => kept.sequenceNumber >= from && (session === null || kept.sessionId === session))
    .slice(0, count);
  if (found.length === 0) return { status: 204, description: 'No Content' };
  return { ...OK, body: { messages: found.map((kept) => ({ message: kept.encode(null, kept.deliveryCount) })) } };
};

const scheduleMessage: Operation = ({ broker, place, fields }) => {
  const entity = broker.namespace.target(place.path);
  const entries = fields['messages']?.type === 'list' ? fields['messages'].value : [];
  const messages = entries.flatMap((entry) => {
    const message = member(entry, 'message');
    return message?.type === 'binary' ? [readMessage(message.value)] : [];
  });
  const verdict = entity?.accept(messages) ?? { refused: 'notFound' as const };
  if ('numbers' in verdict) return { ...OK, body: { 'sequence-numbers': typed.longs(verdict.numbers) } };
  const { condition, description } = spelledOut(verdict.refused, place);
  return { status: 400, condition, description };
};

const cancelScheduledMessage: Operation = ({ broker, place, fields }) => {
  const store = broker.namespace.node(place.path)?.store;
  const cancelled = numbersOf(fields['sequence-numbers']).map((number) => store?.cancelScheduled(number) ?? false);
  return cancelled.every(Boolean) ? OK : refusal('messageNotFound', place);
};

const receiveBySequenceNumber: Operation = ({ broker, place, fields }) => {
  const store = broker.namespace.node(place.path)?.store;
  const locks = numbersOf(fields['sequence-numbers']).map((number) => store?.lockDeferred(number) ?? null);
  const held = locks.filter((lock) => lock !== null);
  if (!store || held.length < locks.length) return refusal('messageNotFound', place);
  const messages = held.map((lock) => ({
    message: lock.message.encode(lock.until, lock.earlierDeliveries),
    'lock-token': typed.uuid(Buffer.from(lock.token, 'hex')),
  }));
  const deleted = Number(fields['receiver-settle-mode']?.value ?? 1) === 0;
  if (deleted) for (const { token } of held) store.settle(token, { how: 'complete' });
  return { ...OK, body: { messages } };
};

export const MESSAGE_OPERATIONS: Readonly<Record<string, Operation>> = {
  'peek-message': peekMessage,
  'schedule-message': scheduleMessage,
  'cancel-scheduled-message': cancelScheduledMessage,
  'receive-by-sequence-number': receiveBySequenceNumber,
};

function numbersOf(value: AmqpValue | undefined): number[] {
  return value?.type === 'array' ? value.value.map((number) => Number(number.value)) : [];
}
