// Errors of receiving → BridgeErrors for sources; other errors as for a sink.
import { BridgeError, codeOf, messageOf } from '../../../src/errors.ts';
import { type FaultPlace, serviceBusFault } from '../service-bus-fault.ts';

/** Codes of a lost lock: the service delivers the message again. */
const LOST = ['MessageLockLost', 'SessionLockLost'];
const SETTLED = /already settled/;
const IDLE = /\bIdleTimerExpired\b/;

/** The service's texts for a link of the wrong kind. */
const REQUIRES_SESSIONS = /non-sessionful message receiver/;
const HAS_NO_SESSIONS = /sessionful message receiver cannot/;

/** Returns the BridgeError for any error; a BridgeError unchanged. */
export function sourceFault(error: unknown, place: FaultPlace): BridgeError {
  const fault = serviceBusFault(error, place);
  if (fault === error) return fault;
  const text = messageOf(error);
  if (REQUIRES_SESSIONS.test(text)) return entityFault(place, 'requires sessions: set sessions: true');
  if (HAS_NO_SESSIONS.test(text)) return noSessionsFault(place);
  // A detached link ends all receiving, whereas a refused message ends only one send.
  return fault.code === 'BRIDGE_SERVICE_BUS_UNAVAILABLE' ? ofTheSource(fault) : fault;
}

/** Returns the fault of `sessions: true` for an entity without sessions. */
export function noSessionsFault(place: FaultPlace): BridgeError {
  return entityFault(place, 'has no sessions: set sessions: false, or create it again with requiresSession');
}

export function requiresSessions(error: unknown): boolean {
  return REQUIRES_SESSIONS.test(messageOf(error));
}

/** Returns whether the lock of a message or session was lost. Another receiver may have it now. */
export function isLockLost(error: unknown): boolean {
  return LOST.includes(codeOf(error) ?? '') || (error instanceof Error && SETTLED.test(error.message));
}

/** Returns whether the service detached an idle link after ten minutes. The SDK attaches it again. */
export function isIdle(error: unknown): boolean {
  return IDLE.test(messageOf(error));
}

/** Returns whether no session had a message within the requested time. */
export function isNoSession(error: unknown): boolean {
  return codeOf(error) === 'ServiceTimeout';
}

function ofTheSource({ code, message, status }: BridgeError): BridgeError {
  return new BridgeError(code, message, { disposition: 'retry', scope: 'sink', status });
}

function entityFault({ who, entity }: FaultPlace, advice: string): BridgeError {
  return new BridgeError('BRIDGE_SERVICE_BUS_ENTITY', `${who}: the ${entity} ${advice}`, {
    disposition: 'misconfigured',
    scope: 'sink',
  });
}
