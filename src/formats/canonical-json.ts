// JSON value → RFC 8785 canonical JSON; text → the short hashes in ids.
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * Returns the canonical JSON (RFC 8785).
 * @param value with JSON types only
 */
export function canonicalJson(value: object): string {
  return canonicalize(value) as string;
}

/** Returns the first `digits` of the SHA-256 of a text's UTF-8 bytes, in lower-case hex. */
export function sha256Hex(text: string, digits = 64): string {
  // One call takes 7 µs, a Hash object 55 µs.
  return hash('sha256', text).slice(0, digits);
}
