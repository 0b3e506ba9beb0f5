// An encoder's error → the refusal of one delivery; the others of its batch are sent.

import { BridgeError } from '../errors.ts';
import type { Delivery } from '../model/deliveries.ts';

/** What a sink sends. */
type Part = 'request' | 'record' | 'message' | 'line' | 'environment';

export interface Encoded<Made> {
  /** Its place in the batch. */
  readonly index: number;
  readonly key: string;
  readonly made: Made;
}

/**
 * Encodes each delivery separately, so that only one that fails is refused.
 * @returns the encoded deliveries, and in `refused` each error at its place in the batch
 */
export function encodeEach<Made>(
  batch: readonly Delivery[],
  encode: (delivery: Delivery) => Made,
  context: { readonly sink: string; readonly made: Part },
): { readonly members: readonly Encoded<Made>[]; readonly refused: BridgeError[] } {
  const members: Encoded<Made>[] = [];
  const refused: BridgeError[] = [];
  for (const [index, delivery] of batch.entries()) {
    try {
      members.push({ index, key: delivery.partitionKey, made: encode(delivery) });
    } catch (error) {
      refused[index] = unencodable(error, context.sink, context.made);
    }
  }
  return { members, refused };
}

/**
 * Returns the refusal for any error of an encoder, because the same bytes would fail at every attempt. A BridgeError
 * passes unchanged. Of other errors only the name is shown, because their messages may quote the payload.
 * @param made what could not be made from the event
 */
export function unencodable(cause: unknown, sink: string, made: Part): BridgeError {
  if (cause instanceof BridgeError) return cause;
  const kind = cause instanceof Error ? cause.name : typeof cause;
  return refused(
    `sink ${sink}: cannot make the ${made} from this CloudEvent (${kind}); it becomes a dead letter; please report it`,
  );
}

/** Returns the refusal of an event that cannot be sent in binary mode. */
export function unfitForBinary(fault: string, sink: string): BridgeError {
  return refused(
    `sink ${sink}: this CloudEvent cannot be sent in binary mode: ${fault}; it becomes a dead letter; mode: structured can send it`,
  );
}

function refused(message: string): BridgeError {
  return new BridgeError('BRIDGE_DELIVERY_UNENCODABLE', message, { disposition: 'refused' });
}
