// The body of an answer → its JSON object.
import { isObject, type JsonObject } from '../../src/formats/json-object.ts';

/** Returns the members, or none if the body is not a JSON object, was too long, or is incomplete. */
export function jsonMembers(body: Buffer | null): JsonObject {
  return jsonObject(body) ?? {};
}

/** Like `jsonMembers`, but returns null if there is no JSON object. */
export function jsonObject(body: Buffer | null): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body?.toString() ?? '');
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
