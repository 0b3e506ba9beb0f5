// Bytes → their JSON value; a JSON value → whether it is an object with members to read.
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
