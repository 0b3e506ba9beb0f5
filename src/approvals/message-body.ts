// The bytes of a source's message → the JSON value of an approval's body, or why it is none (contract, section 8). Pure.
import { isObject } from './start-requests.ts';

/** As for `POST /v1/approvals`. */
const LIMIT_BYTES = 64 * 1024;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** A `fault` says what is wrong and repeats nothing of the message. */
export type MessageBody = { readonly value: unknown } | { readonly fault: string };

/**
 * Plain, or as `data` or `data_base64` of a CloudEvent in structured mode; in binary mode the message's bytes are the body already. The
 * content type is not asked for.
 */
export function parseMessageBody(bytes: Uint8Array): MessageBody {
  if (bytes.length === 0) return { fault: 'it has no body' };
  if (bytes.length > LIMIT_BYTES) return { fault: 'its body has more than 64 KiB; send the approvals in several messages' };
  const body = parseJson(bytes, 'its body');
  if ('fault' in body || !isObject(body.value)) return body;
  const isCloudEvent = 'specversion' in body.value && !('StartRequests' in body.value);
  const carried = isCloudEvent ? dataOf(body.value) : body;
  return 'value' in carried && isObject(carried.value) && ('Holds' in carried.value || 'Releases' in carried.value)
    ? { fault: 'it holds or releases an event, which this version does not know yet' }
    : carried;
}

function dataOf(event: Readonly<Record<string, unknown>>): MessageBody {
  const { specversion, data, data_base64: base64 } = event;
  if (specversion !== '1.0') return { fault: 'it is a CloudEvent of a specversion other than 1.0' };
  if (data !== undefined && base64 !== undefined) return { fault: 'it is a CloudEvent with both data and data_base64' };
  if (base64 === undefined) return data === undefined ? { fault: 'it is a CloudEvent without data' } : { value: data };
  if (typeof base64 !== 'string' || !BASE64.test(base64)) return { fault: 'it is a CloudEvent whose data_base64 is not Base64' };
  return parseJson(Buffer.from(base64, 'base64'), 'the data of its CloudEvent');
}

function parseJson(bytes: Uint8Array, what: string): MessageBody {
  try {
    return { value: JSON.parse(decoder.decode(bytes)) as unknown };
  } catch {
    // Not the parser's message, which quotes what was sent.
    return { fault: `${what} is not valid JSON in UTF-8` };
  }
}
