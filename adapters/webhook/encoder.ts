// The body options, and deliveries → a request in a mode of the HTTP binding.
import { BATCH_CONTENT_TYPE, batchId, encodeBatch, framingBytes } from '../../src/cloudevents/batch.ts';
import { DATA_CONTENT_TYPE, httpHeaders, toBinary } from '../../src/cloudevents/binary.ts';
import { STRUCTURED_CONTENT_TYPE } from '../../src/cloudevents/event.ts';
import { unfitForBinary } from '../../src/cloudevents/unencodable.ts';
import { choice, type EntriesOf } from '../../src/schema/pieces.ts';
import type { Adapter } from '../adapter.ts';
import type { EncodedEvent } from '../channel.ts';
import { batchEntries } from '../http/http-options.ts';

export const bodyEntries = {
  mode: choice(
    ['structured', 'binary', 'batch'],
    'structured',
    'How CloudEvents become requests. structured: a whole event as the JSON body. binary: its data as the body, its attributes as ce- headers. batch: several events in a JSON array. Default structured.',
  ),
  ...batchEntries(' in batch mode'),
};

type BodyOptions = EntriesOf<typeof bodyEntries>;

/** The same at every attempt, without clock or random. */
export interface EncodedRequest {
  /** `webhook-id`. */
  readonly id: string;
  /** `content-type` and other headers of the mode; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The header `content-type` of each mode. */
export const REQUEST_CONTENT_TYPES = {
  structured: `${STRUCTURED_CONTENT_TYPE}; charset=utf-8`,
  binary: DATA_CONTENT_TYPE,
  // Event Grid rejects a batch without the charset (415).
  batch: `${BATCH_CONTENT_TYPE}; charset=utf-8`,
} as const;

/**
 * Encodes deliveries as one request.
 * @throws BridgeError with disposition `refused` if a delivery cannot be encoded for this sink
 */
export type Encode = (batch: readonly EncodedEvent[]) => EncodedRequest;

/** Many servers accept only 8 KiB of headers, including those of the connection, signatures and configuration. */
const MOST_ATTRIBUTE_BYTES = 6 * 1024;
/** `: ` and the line end. */
const HEADER_FRAMING_BYTES = 4;

/** Returns the encoder of a mode. @param sink the sink's name, for messages */
export function encoder({ mode }: Pick<BodyOptions, 'mode'>, sink: string): Encode {
  if (mode === 'batch') return encodeMany;
  return mode === 'binary' ? (batch) => encodeBinary(only(batch), sink) : (batch) => encodeStructured(only(batch));
}

/** Returns the limits of one request. */
export function bodyLimits({
  mode,
  maxBatch,
  maxBatchBytes,
}: BodyOptions): Pick<Adapter['limits'], 'batch' | 'batchBytes'> {
  if (mode !== 'batch') return { batch: 1, batchBytes: Number.MAX_SAFE_INTEGER };
  // A lane counts only the members' bytes.
  return { batch: maxBatch, batchBytes: maxBatchBytes - framingBytes(maxBatch) };
}

/** Returns the bytes of the journal unchanged. */
function encodeStructured({ id, bytes }: EncodedEvent): EncodedRequest {
  return { id, headers: { 'content-type': REQUEST_CONTENT_TYPES.structured }, body: bytes };
}

function encodeBinary({ id, bytes }: EncodedEvent, sink: string): EncodedRequest {
  const event = toBinary(bytes);
  if ('fault' in event) throw unfitForBinary(event.fault, sink);
  const headers = httpHeaders(event);
  const size = Object.entries(headers).reduce(
    (sum, [name, value]) => sum + name.length + value.length + HEADER_FRAMING_BYTES,
    0,
  );
  if (size > MOST_ATTRIBUTE_BYTES)
    throw unfitForBinary(`its attributes need ${size} bytes of headers, more than ${MOST_ATTRIBUTE_BYTES}`, sink);
  return { id, headers, body: event.data };
}

/** Returns a JSON array, also for a single delivery. */
function encodeMany(batch: readonly EncodedEvent[]): EncodedRequest {
  return {
    id: batchId(batch.map(({ id }) => id)),
    headers: { 'content-type': REQUEST_CONTENT_TYPES.batch },
    body: encodeBatch(batch.map(({ bytes }) => bytes)),
  };
}

function only([delivery]: readonly EncodedEvent[]): EncodedEvent {
  if (!delivery) throw new RangeError('nothing to encode');
  return delivery;
}
