// An HTTP request → its body's JSON or CloudEvent data within a limit, or the problem.
import { carriedData } from '../formats/cloud-event-json.ts';
import { type BodyValue, parseJsonWithoutNulls } from '../formats/json-object.ts';
import { LARGEST_APPROVAL_BYTES } from '../model/approvals.ts';
import type { Reply, RouteRequest } from './route.ts';
import { problem } from './route.ts';

const STRUCTURED = 'application/cloudevents+json';
const MEDIA_TYPES = ['application/json', STRUCTURED];
const NOT_JSON =
  'Send the body as JSON, not compressed, with Content-Type: application/json, or application/cloudevents+json for one CloudEvent in structured mode.';

/**
 * Returns the body's JSON value, or the data of a CloudEvent: in binary mode the body is the data, in structured mode a
 * member of it. Members that are null are left out. Otherwise 415, 413 or 400, in this order (behaviour 6.6).
 */
export async function readJsonBody({
  headers,
  body,
}: RouteRequest): Promise<{ readonly value: unknown } | { readonly reply: Reply }> {
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (!MEDIA_TYPES.includes(mediaType) || coding !== 'identity') return { reply: problem('not-json', NOT_JSON) };
  const bytes = await body(LARGEST_APPROVAL_BYTES);
  if (bytes === null)
    return { reply: problem('too-large', 'A body has 64 KiB at most; send the approvals in several requests.') };
  const parsed = parseBody(bytes, mediaType, headers['ce-specversion']);
  return 'fault' in parsed ? { reply: problem('bad-request', `The body cannot be used: ${parsed.fault}.`) } : parsed;
}

/**
 * A `specversion` means binary mode: the other attributes are in headers, too. In structured mode the headers may
 * repeat them.
 */
function parseBody(bytes: Uint8Array, mediaType: string, specversion: string | string[] | undefined): BodyValue {
  if (specversion !== undefined && specversion !== '1.0') return { fault: 'its ce-specversion is not 1.0' };
  const parsed = parseJsonWithoutNulls(bytes, 'it');
  if ('fault' in parsed) return parsed;
  const isStructured = mediaType === STRUCTURED;
  if (typeof parsed.value !== 'object' || parsed.value === null)
    return isStructured ? { fault: 'it is not a CloudEvent' } : parsed;
  if (isStructured) return carriedData(parsed.value as Readonly<Record<string, unknown>>, parseJsonWithoutNulls);
  return isUnannounced(parsed.value)
    ? { fault: `it is a CloudEvent, so send it with Content-Type: ${STRUCTURED}` }
    : parsed;
}

/** A CloudEvent in structured mode whose Content-Type says plain JSON, and which is not an approval or hold itself. */
function isUnannounced(value: object): boolean {
  const isEvent = 'specversion' in value && ('data' in value || 'data_base64' in value);
  return isEvent && !('StartRequests' in value) && !('EventId' in value);
}
