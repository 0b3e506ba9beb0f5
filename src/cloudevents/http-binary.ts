// A CloudEvent in binary form → HTTP headers (CloudEvents HTTP binding 1.0.2, section 3.1).
import { type BinaryEvent, DATA_CONTENT_TYPE } from './binary.ts';

/** Everything but U+0021 and U+0023 to U+007E, `%` taken out; by the `u` flag a surrogate pair is one match. */
const ENCODED = /[^\x21\x23\x24\x26-\x7e]/gu;

/** `content-type`, and `ce-` with each attribute's name; values percent-encoded, once. */
export function httpHeaders({ attributes }: Pick<BinaryEvent, 'attributes'>): Record<string, string> {
  const own = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, percentEncode(value)]);
  return { 'content-type': DATA_CONTENT_TYPE, ...Object.fromEntries(own) };
}

/** A header's value (section 3.1.3.2): what decodes to `text` by one round of percent-decoding. `text` holds no lone surrogate. */
export function percentEncode(text: string): string {
  return text.replace(ENCODED, (character) => encodeURIComponent(character));
}
