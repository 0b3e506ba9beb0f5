// A CloudEvent → its structured-mode JSON bytes (CloudEvents JSON format 1.0).
import type { CloudEventV1 } from 'cloudevents';
import type { CloudEventData } from './data.ts';

/** The media type of `encodeStructured`'s bytes. */
export const STRUCTURED_CONTENT_TYPE = 'application/cloudevents+json';

const encoder = new TextEncoder();

/** Attributes and extensions at the top level, JSON data embedded, unset members left out; UTF-8 in one line without a line end. */
export function encodeStructured(event: CloudEventV1<CloudEventData>): Uint8Array {
  return encoder.encode(JSON.stringify(event));
}
