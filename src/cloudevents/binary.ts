// Structured-mode bytes → binary mode: attributes as texts or HTTP headers, and the data's bytes.
import { FORBIDDEN } from './event.ts';

/** Begins the HTTP header of each attribute. */
export const HEADER_PREFIX = 'ce-';
/** The media type of the data, which is always JSON. */
export const DATA_CONTENT_TYPE = 'application/json';

export interface BinaryEvent {
  /**
   * All attributes and extensions that are set, by name, in the order of the structured form; without
   * `datacontenttype`.
   */
  readonly attributes: Readonly<Record<string, string>>;
  /** The data as JSON in UTF-8; null counts as data. The same event always gives the same bytes. */
  readonly data: Uint8Array;
}

/** All characters but U+0021 and U+0023 to U+007E without `%`. With the `u` flag a surrogate pair is one match. */
const ENCODED = /[^\x21\x23\x24\x26-\x7e]/gu;

const NAME = /^[a-z0-9]+$/;
const REQUIRED = ['specversion', 'id', 'source', 'type'];
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns a `fault`, without values, if the event cannot be sent in binary mode. No event that the bridge makes today
 * has one.
 */
export function toBinary(bytes: Uint8Array): BinaryEvent | { readonly fault: string } {
  const event = parse(bytes);
  if (event === null) return { fault: 'it is not a JSON object' };
  const { data, data_base64: base64, datacontenttype = DATA_CONTENT_TYPE, ...rest } = event;
  if (base64 !== undefined) return { fault: 'its data is not JSON' };
  if (datacontenttype !== DATA_CONTENT_TYPE) return { fault: `its datacontenttype is not ${DATA_CONTENT_TYPE}` };
  if (data === undefined) return { fault: 'it has no data' };
  // In the JSON format a null member is an attribute that is not set.
  const set = Object.entries(rest).filter(([, value]) => value !== null);
  const missing = REQUIRED.find((name) => !set.some(([own]) => own === name));
  if (missing !== undefined) return { fault: `it has no ${missing}` };
  const attributes: Record<string, string> = {};
  for (const [name, value] of set) {
    const text = canonical(value);
    if (!NAME.test(name)) return { fault: 'it has an attribute with a name that CloudEvents does not allow' };
    if (text === null) return { fault: `CloudEvents does not allow the value of its attribute ${name}` };
    attributes[name] = text;
  }
  return { attributes, data: encoder.encode(JSON.stringify(data)) };
}

function parse(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Returns the canonical string of a value (CloudEvents 1.0.2, "Type System"), or null if its type is not allowed. */
function canonical(value: unknown): string | null {
  if (typeof value === 'string') return value !== '' && !FORBIDDEN.test(value) ? value : null;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && value === (value | 0) ? String(value) : null;
}

/**
 * Returns `content-type`, and `ce-NAME` for each attribute; values are percent-encoded once (CloudEvents HTTP binding
 * 1.0.2, section 3.1).
 */
export function httpHeaders({ attributes }: Pick<BinaryEvent, 'attributes'>): Record<string, string> {
  const own = Object.entries(attributes).map(([name, value]) => [`${HEADER_PREFIX}${name}`, percentEncode(value)]);
  return { 'content-type': DATA_CONTENT_TYPE, ...Object.fromEntries(own) };
}

/**
 * Returns the header value that one round of percent-decoding turns back into `text` (section 3.1.3.2).
 * @param text without lone surrogates
 */
export function percentEncode(text: string): string {
  return text.replace(ENCODED, (character) => encodeURIComponent(character));
}
