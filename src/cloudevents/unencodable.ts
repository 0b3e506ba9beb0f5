// Why a CloudEvent cannot be written as its sink wants it → the refusal of this one delivery.
import { BridgeError } from '../errors.ts';

/**
 * For whatever an encoder throws: the same bytes would fail in the same way at every attempt. A BridgeError passes unchanged; a foreign
 * message may quote the payload, so its kind alone is shown.
 * @param made what could not be made of the event
 */
export function unencodable(cause: unknown, sink: string, made: 'request' | 'record' | 'message'): BridgeError {
  if (cause instanceof BridgeError) return cause;
  const kind = cause instanceof Error ? cause.name : typeof cause;
  return refused(`sink ${sink}: no ${made} could be made of this CloudEvent (${kind}); it goes to the dead letters, please report it`);
}

/** For an event that binary mode cannot hold. */
export function unfitForBinary(fault: string, sink: string): BridgeError {
  return refused(
    `sink ${sink}: this CloudEvent cannot be sent in binary mode: ${fault}; it goes to the dead letters, and mode: structured would take it`,
  );
}

function refused(message: string): BridgeError {
  return new BridgeError('BRIDGE_DELIVERY_UNENCODABLE', message, { disposition: 'refused' });
}
