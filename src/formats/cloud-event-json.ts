// A body's bytes → its JSON value, or the data of a structured CloudEvent. Pure.

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** A `fault` says what is wrong, of an `it`, and repeats nothing of what was sent. */
export type BodyValue = { readonly value: unknown } | { readonly fault: string };

/** `what` names the bytes in the fault. */
export function parseJson(bytes: Uint8Array, what: string): BodyValue {
  try {
    return { value: JSON.parse(decoder.decode(bytes)) as unknown };
  } catch {
    // Not the parser's message, which quotes what was sent.
    return { fault: `${what} is not valid JSON in UTF-8` };
  }
}

/** `data`, or the JSON in `data_base64`, of a CloudEvent's JSON object (CloudEvents JSON format 1.0.2, section 3.1). */
export function carriedData({ specversion, data, data_base64: base64 }: Readonly<Record<string, unknown>>): BodyValue {
  if (specversion !== '1.0') return { fault: 'it is a CloudEvent of a specversion other than 1.0' };
  if (data !== undefined && base64 !== undefined) return { fault: 'it is a CloudEvent with both data and data_base64' };
  if (base64 === undefined) return data === undefined ? { fault: 'it is a CloudEvent without data' } : { value: data };
  if (typeof base64 !== 'string' || !BASE64.test(base64)) return { fault: 'it is a CloudEvent whose data_base64 is not Base64' };
  return parseJson(Buffer.from(base64, 'base64'), 'the data of its CloudEvent');
}
