// Configuration and values of its secrets → a hash that changes with either, or hashed secrets.
import { canonicalJson, sha256Hex } from '../formats/canonical-json.ts';
import { isMapping } from '../schema/validate.ts';
import { isReference, lookUp, type Surroundings } from './secrets.ts';

/** Returns a SHA-256 in hex. Secrets are included as hashes, so a rotated one changes the result and none can be read back. */
export function fingerprint(sink: Readonly<Record<string, unknown>>, around: Surroundings): string {
  return sha256Hex(canonicalJson(withHashes(sink, around)));
}

/** Returns the configuration with `sha256` next to each secret's reference: the hash of its value in hex, or null without a value. */
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
