// What all connections of one server share.
import type { AccessKey, JwtCheck } from './access-keys.ts';
import type { BrokerClock } from './broker-clock.ts';
import type { Contact } from './contacts.ts';
import type { FaultScript, Refusal } from './fault-script.ts';
import type { Namespace } from './namespace.ts';
import type { AmqpFault } from './rhea-link.ts';
import { type Place, serviceFault } from './service-faults.ts';

export interface Broker {
  readonly namespace: Namespace;
  readonly clock: BrokerClock;
  readonly faults: FaultScript;
  readonly contacts: Contact[];
  readonly keys: Map<string, AccessKey>;
  checkJwt: JwtCheck;
  /** Of one transfer, in bytes, as told to senders. */
  maxMessageSize: number;
  /** How long a link may do nothing. */
  readonly linkIdleMs: number;
  /** What clients did against the protocol, or we did: tests expect none. */
  readonly protocolErrors: Error[];
}

/** The condition and text of a refusal at this place. */
export function spelledOut(refusal: Refusal, place: Place): AmqpFault {
  return typeof refusal === 'string' ? serviceFault(refusal, place) : refusal;
}
