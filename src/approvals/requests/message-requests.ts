// A message's bytes → StartRequests, holds and releases, or the fault (behaviour 8.11). Pure.
import { carriedData } from '../../formats/cloud-event-json.ts';
import { type BodyValue, isObject, parseJsonWithoutNulls } from '../../formats/json-object.ts';
import { LARGEST_APPROVAL_BYTES } from '../../model/approvals.ts';
import { isDrill } from '../../model/ids.ts';
import { type HoldRequest, parseEntries, parseHold, parseRelease, type ReleaseRequest } from './hold-requests.ts';
import { listFault, parseStartRequests, type StartRequest } from './start-requests.ts';

const LISTS = ['StartRequests', 'Holds', 'Releases'] as const;

/** At least one of the lists has an entry. */
export interface MessageRequests {
  readonly starts: readonly StartRequest[];
  readonly holds: readonly HoldRequest[];
  readonly releases: readonly ReleaseRequest[];
}

/** Returns the requests in the bytes of a message, or the fault as a text. */
export function readMessageRequests(bytes: Uint8Array): MessageRequests | string {
  const parsed = parseMessageBody(bytes);
  return 'fault' in parsed ? parsed.fault : parseMessageRequests(parsed.value);
}

/**
 * Accepts plain JSON, or `data` or `data_base64` of a CloudEvent in structured mode. In binary mode the bytes of the
 * message are the body. Ignores the content type. Leaves out members that are null.
 */
export function parseMessageBody(bytes: Uint8Array): BodyValue {
  if (bytes.length === 0) return { fault: 'it has no body' };
  if (bytes.length > LARGEST_APPROVAL_BYTES)
    return { fault: 'its body is larger than 64 KiB; send the approvals in several messages' };
  const body = parseJsonWithoutNulls(bytes, 'its body');
  if ('fault' in body || !isObject(body.value)) return body;
  const { value } = body;
  const isCloudEvent = 'specversion' in value && !LISTS.some((name) => name in value);
  return isCloudEvent ? carriedData(value, parseJsonWithoutNulls) : body;
}

function parseMessageRequests(body: unknown): MessageRequests | string {
  const fault = isObject(body) ? listFault(body) : null;
  if (fault !== null) return fault;
  const hasNoStarts = isObject(body) && !('StartRequests' in body) && ('Holds' in body || 'Releases' in body);
  const starts = hasNoStarts ? [] : parseStartRequests(body);
  if (typeof starts === 'string') return starts;
  const holds = parseEntries(body, 'Holds', parseHold);
  if (typeof holds === 'string') return holds;
  const releases = parseEntries(body, 'Releases', parseRelease);
  return typeof releases === 'string' ? releases : { starts, holds, releases };
}

/**
 * Removes requests for drills of other bridges. A bridge knows its own drills before anyone can name them, so an
 * unknown drill belongs to another bridge. Returns null if no request is left.
 */
export function withoutOtherDrills(
  { starts, holds, releases }: MessageRequests,
  isKnown: (key: string) => boolean,
): MessageRequests | null {
  const isOwn = ({ key }: { readonly key: string }) => !isDrill(key) || isKnown(key);
  const own = { starts: starts.filter(isOwn), holds: holds.filter(isOwn), releases: releases.filter(isOwn) };
  return own.starts.length + own.holds.length + own.releases.length === 0 ? null : own;
}
