// A CloudEvent → its structured-mode JSON bytes (CloudEvents JSON format 1.0).
import type { CloudEventV1 } from 'cloudevents';
import type { CloudEventData } from './data.ts';

/** The media type of `encodeStructured`'s bytes. */
export const STRUCTURED_CONTENT_TYPE = 'application/cloudevents+json';

const encoder = new TextEncoder();

/**
 * Returns UTF-8 JSON in one line without a line end: attributes and extensions at the top level, data embedded as JSON,
 * members that are not set left out.
 */
export function encodeStructured(event: CloudEventV1<CloudEventData>): Uint8Array {
  return encoder.encode(JSON.stringify(event));
}
