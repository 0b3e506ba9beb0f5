// Errors of receiving → BridgeErrors in a reader's words; all others as for a sink.
import { BridgeError, codeOf, messageOf } from '../../../src/errors.ts';
import { type FaultPlace, serviceBusFault } from '../service-bus-fault.ts';

/** The names of a lost lock: the broker delivers the message again. */
const LOST = ['MessageLockLost', 'SessionLockLost'];
const SETTLED = /already settled/;
const IDLE = /\bIdleTimerExpired\b/;

/** The service's words for a link of the wrong kind. */
const WANTS_SESSIONS = /non-sessionful message receiver/;
const HAS_NO_SESSIONS = /sessionful message receiver cannot/;

/** A BridgeError passes unchanged. */
export function sourceFault(error: unknown, place: FaultPlace): BridgeError {
  const fault = serviceBusFault(error, place);
  if (fault === error) return fault;
  const said = messageOf(error);
  if (WANTS_SESSIONS.test(said)) return misfit(place, 'requires sessions: set sessions: true');
  if (HAS_NO_SESSIONS.test(said)) return lacksSessions(place);
  // A link that is taken back ends the whole reading, where a refused message ends one send.
  return fault.code === 'BRIDGE_SERVICE_BUS_UNAVAILABLE' ? ofTheSource(fault) : fault;
}

/** `sessions: true` for what has none. */
export function lacksSessions(place: FaultPlace): BridgeError {
  return misfit(place, 'has no sessions: set sessions: false, or create it again with requiresSession');
}

/** The entity hands out its messages by sessions alone. */
export function isForSessions(error: unknown): boolean {
  return WANTS_SESSIONS.test(messageOf(error));
}

/** Somebody else may have the message, or its session, by now. */
export function isLockLost(error: unknown): boolean {
  return LOST.includes(codeOf(error) ?? '') || (error instanceof Error && SETTLED.test(error.message));
}

/** The service takes back a link on which nothing came for ten minutes; the SDK attaches it again. */
export function isIdle(error: unknown): boolean {
  return IDLE.test(messageOf(error));
}

/** No session had a message; the service says so after the time that it was given. */
export function isNoSession(error: unknown): boolean {
  return codeOf(error) === 'ServiceTimeout';
}

function ofTheSource({ code, message, status }: BridgeError): BridgeError {
  return new BridgeError(code, message, { disposition: 'retry', scope: 'sink', ...(status !== undefined && { status }) });
}

function misfit({ who, entity }: FaultPlace, advice: string): BridgeError {
  return new BridgeError('BRIDGE_SERVICE_BUS_ENTITY', `${who}: the ${entity} ${advice}`, { disposition: 'misconfigured', scope: 'sink' });
}
