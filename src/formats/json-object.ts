// Bytes ↔ JSON values: parsed, checked, in canonical form (RFC 8785); text → a short hash.
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

const decoder = new TextDecoder('utf-8', { fatal: true });

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an object without members for any other value. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns an empty text for any other value. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A `fault` says what is wrong with `it`, and quotes nothing from the bytes. */
export type BodyValue = { readonly value: unknown } | { readonly fault: string };

/** A parser of bytes. @param what names the bytes in the fault */
export type ParseJson = (bytes: Uint8Array, what: string) => BodyValue;

export const parseJson: ParseJson = (bytes, what) => parsed(bytes, what);

/** Leaves out members whose value is null: many serializers write them for what is absent. */
export const parseJsonWithoutNulls: ParseJson = (bytes, what) => parsed(bytes, what, withoutNull);

function withoutNull(this: unknown, _: string, value: unknown): unknown {
  return value === null && !Array.isArray(this) ? undefined : value;
}

function parsed(
  bytes: Uint8Array,
  what: string,
  revive?: (this: unknown, name: string, value: unknown) => unknown,
): BodyValue {
  try {
    return { value: (JSON.parse(decoder.decode(bytes), revive) as unknown) ?? null };
  } catch {
    // The parser's message would quote what was sent.
    return { fault: `${what} is not valid JSON in UTF-8` };
  }
}

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
