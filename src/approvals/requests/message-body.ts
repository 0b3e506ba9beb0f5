// A message's bytes → an approval's body, its requests, or the fault (behaviour 8.11). Pure.
import { carriedData } from '../../formats/cloud-event-json.ts';
import { type BodyValue, isObject, parseJsonWithoutNulls } from '../../formats/json-object.ts';
import { LARGEST_APPROVAL_BYTES } from '../../model/approvals.ts';
import { MESSAGE_LISTS, type MessageRequests, parseMessageRequests } from './message-requests.ts';

/**
 * Accepts plain JSON, or `data` or `data_base64` of a CloudEvent in structured mode. In binary mode the bytes of the message are the body.
 * Ignores the content type. Leaves out members that are null.
 */
export function parseMessageBody(bytes: Uint8Array): BodyValue {
  if (bytes.length === 0) return { fault: 'it has no body' };
  if (bytes.length > LARGEST_APPROVAL_BYTES) return { fault: 'its body is larger than 64 KiB; send the approvals in several messages' };
  const body = parseJsonWithoutNulls(bytes, 'its body');
  if ('fault' in body || !isObject(body.value)) return body;
  const { value } = body;
  const isCloudEvent = 'specversion' in value && !MESSAGE_LISTS.some((name) => name in value);
  return isCloudEvent ? carriedData(value, parseJsonWithoutNulls) : body;
}

/** Returns the requests in a message, or the fault as a text. */
export function requestsIn(bytes: Uint8Array): MessageRequests | string {
  const parsed = parseMessageBody(bytes);
  return 'fault' in parsed ? parsed.fault : parseMessageRequests(parsed.value);
}
