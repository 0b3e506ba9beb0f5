// What an encoder throws → the refusal of this one delivery; the others of its batch go on.

import { BridgeError } from '../errors.ts';
import type { Delivery } from '../model/deliveries.ts';

/** What a far side takes. */
type Part = 'request' | 'record' | 'message' | 'line' | 'environment';

/** What a batch's delivery was made into. */
export interface Encoded<Made> {
  /** Its place in the batch. */
  readonly index: number;
  readonly key: string;
  readonly made: Made;
}

/** Each by itself, so that one that cannot be encoded is refused alone: `refused` has its error at its place in the batch. */
export function encodeEach<Made>(
  batch: readonly Delivery[],
  encode: (delivery: Delivery) => Made,
  ofWhat: { readonly sink: string; readonly made: Part },
): { readonly members: readonly Encoded<Made>[]; readonly refused: BridgeError[] } {
  const members: Encoded<Made>[] = [];
  const refused: BridgeError[] = [];
  for (const [index, delivery] of batch.entries()) {
    try {
      members.push({ index, key: delivery.partitionKey, made: encode(delivery) });
    } catch (error) {
      refused[index] = unencodable(error, ofWhat.sink, ofWhat.made);
    }
  }
  return { members, refused };
}

/**
 * For whatever an encoder throws: the same bytes would fail in the same way at every attempt. A BridgeError passes unchanged; a foreign
 * message may quote the payload, so its kind alone is shown.
 * @param made what could not be made of the event
 */
export function unencodable(cause: unknown, sink: string, made: Part): BridgeError {
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
