// A sink's configuration and its secrets' values → a hash that changes with either.
import { canonicalJson, sha256Hex } from '../formats/canonical-json.ts';
import { isMapping } from '../schema/validate.ts';
import { isReference, lookUp, type Surroundings } from './secrets.ts';

/** SHA-256 in hex. A secret enters as the hash of its value, so a rotated one shows and none can be read back. */
export function fingerprint(sink: Readonly<Record<string, unknown>>, around: Surroundings): string {
  return sha256Hex(canonicalJson(hashed(sink, around) as object));
}

function hashed(value: unknown, around: Surroundings): unknown {
  if (isReference(value)) {
    const opened = lookUp(value, around);
    return { ...value, sha256: 'text' in opened ? sha256Hex(opened.text) : null };
  }
  if (Array.isArray(value)) return value.map((member) => hashed(member, around));
  return isMapping(value) ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, hashed(member, around)])) : value;
}
