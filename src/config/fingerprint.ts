// Configuration and its secrets' values → a hash that changes with either, or all with hashes.
import { canonicalJson, sha256Hex } from '../formats/canonical-json.ts';
import { isMapping } from '../schema/validate.ts';
import { isReference, lookUp, type Surroundings } from './secrets.ts';

/** SHA-256 in hex. A secret enters as the hash of its value, so a rotated one shows and none can be read back. */
export function fingerprint(sink: Readonly<Record<string, unknown>>, around: Surroundings): string {
  return sha256Hex(canonicalJson(withHashes(sink, around)));
}

/** The same, each secret with the SHA-256 of its value in hex beside its reference, null where there is none. */
export function withHashes(written: Readonly<Record<string, unknown>>, around: Surroundings): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(written).map(([key, member]) => [key, hashed(member, around)]));
}

function hashed(value: unknown, around: Surroundings): unknown {
  if (isReference(value)) {
    const opened = lookUp(value, around);
    return { ...value, sha256: 'text' in opened ? sha256Hex(opened.text) : null };
  }
  if (Array.isArray(value)) return value.map((member) => hashed(member, around));
  return isMapping(value) ? withHashes(value, around) : value;
}
