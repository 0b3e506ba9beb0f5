// JSON value → RFC 8785 canonical JSON, and the short hashes that ids are made of.
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** RFC 8785; the value holds JSON types alone. */
export function canonicalJson(value: object): string {
  return canonicalize(value) as string;
}

/** SHA-256 of a text's UTF-8 bytes, in lower-case hex, its first `digits`. */
export function sha256Hex(text: string, digits = 64): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
