// The body of an answer → the members of its JSON object.
import { isObject, type JsonObject } from '../../src/formats/json-object.ts';

/** None where the body is no JSON object, was too long, or broke off. */
export function jsonMembers(body: Buffer | null): JsonObject {
  return jsonObject(body) ?? {};
}

/** Null there: for answers in which nothing said is a yes. */
export function jsonObject(body: Buffer | null): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body?.toString() ?? '');
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
