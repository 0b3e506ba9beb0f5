// A CloudEvent in binary form → HTTP headers (CloudEvents HTTP binding 1.0.2, section 3.1).
import { type BinaryEvent, DATA_CONTENT_TYPE } from './binary.ts';

/** Begins the header of each attribute. */
export const HEADER_PREFIX = 'ce-';
/** All characters but U+0021 and U+0023 to U+007E without `%`. With the `u` flag a surrogate pair is one match. */
const ENCODED = /[^\x21\x23\x24\x26-\x7e]/gu;

/** Returns `content-type`, and `ce-NAME` for each attribute; values are percent-encoded once. */
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
