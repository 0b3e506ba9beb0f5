// A request on an entity's `$management` node → its answer, or the fault that keeps it from it.

import type { AmqpMessage } from './amqp-message.ts';
import type { Broker } from './broker.ts';
import { LOCK_OPERATIONS } from './lock-operations.ts';
import { MESSAGE_OPERATIONS } from './message-operations.ts';
import type { Operation } from './operation.ts';
import { bodyFields, type NodeAnswer, textOf } from './request-node.ts';
import { RULE_OPERATIONS } from './rule-operations.ts';
import type { Place } from './service-faults.ts';

const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...LOCK_OPERATIONS,
  ...MESSAGE_OPERATIONS,
  ...RULE_OPERATIONS,
};

/** Null where nothing is to be answered. */
export function handleManagement(
  broker: Broker,
  place: Place,
  request: AmqpMessage,
  drop: () => void,
): NodeAnswer | null {
  const operation = textOf(request, 'operation');
  const answer = answerFor(broker, place, request, operation, drop);
  broker.contacts.push({ what: 'manage', entity: place.path, operation, status: answer?.status ?? null });
  return answer;
}

function answerFor(
  broker: Broker,
  place: Place,
  request: AmqpMessage,
  operation: string,
  drop: () => void,
): NodeAnswer | null {
  const fault = broker.faults.nextRequest(place.path);
  if (fault?.do === 'answer') return { description: `status-code: ${fault.status}`, ...fault };
  if (fault?.do === 'drop') drop();
  if (fault) return null;
  const run = OPERATIONS[operation.replace('com.microsoft:', '')];
  if (!run)
    return {
      status: 501,
      condition: 'amqp:not-implemented',
      description: `The operation ${operation} is not implemented.`,
    };
  return run({ broker, place, fields: bodyFields(request) });
}
