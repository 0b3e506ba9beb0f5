// What a management operation is given and gives back.
import type { AmqpValue } from './amqp-value.ts';
import type { Broker } from './broker.ts';
import type { NodeAnswer } from './request-node.ts';
import { CONDITIONS, type ConditionName, type Place, serviceFault } from './service-faults.ts';

export interface ManagementRequest {
  readonly broker: Broker;
  readonly place: Place;
  /** The request's body. */
  readonly fields: Readonly<Record<string, AmqpValue>>;
}

export type Operation = (request: ManagementRequest) => NodeAnswer;

export const OK: NodeAnswer = { status: 200, description: 'OK' };

const STATUS: Partial<Record<ConditionName, number>> = {
  notFound: 404,
  messageNotFound: 404,
  messageLockLost: 410,
  sessionLockLost: 410,
};

/** A refusal with the status that goes with its condition. */
export function refusal(name: ConditionName, place: Place): NodeAnswer {
  return {
    status: STATUS[name] ?? 500,
    condition: CONDITIONS[name],
    description: serviceFault(name, place).description,
  };
}

/** The value of a key; undefined where it is missing or `map` is none. */
export function member(map: AmqpValue | undefined, key: string): AmqpValue | undefined {
  return map?.type === 'map' ? map.value.find(([name]) => name.value === key)?.[1] : undefined;
}
