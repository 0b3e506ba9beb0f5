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

/** @param what names the bytes in the fault */
export function parseJson(bytes: Uint8Array, what: string): BodyValue {
  try {
    return { value: JSON.parse(decoder.decode(bytes)) as unknown };
  } catch {
    // The parser's message would quote what was sent.
    return { fault: `${what} is not valid JSON in UTF-8` };
  }
}
