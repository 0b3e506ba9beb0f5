// JSON value → RFC 8785 canonical JSON, and the short hashes that ids are made of.
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** RFC 8785; the value holds JSON types alone. */
export function canonicalJson(value: object): string {
  return canonicalize(value) as string;
}

/** SHA-256 of a text's UTF-8 bytes, in lower-case hex, its first `digits`. */
export function sha256Hex(text: string, digits = 64): string {
  // In one call: 7 µs where a Hash object costs 55.
  return hash('sha256', text).slice(0, digits);
}
