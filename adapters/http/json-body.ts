// The body of an answer → its JSON object.
import { hasFewValues } from '../../src/formats/json-bounds.ts';
import { isObject, type JsonObject } from '../../src/formats/json-object.ts';

/** More than the answer to one request has, unless it reports each member of a batch. */
const MOST_VALUES = 1000;

/**
 * Returns the members, or none if the body is not a JSON object, was too long, is incomplete, or has more than 1,000
 * values.
 */
export function jsonMembers(body: Buffer | null): JsonObject {
  return jsonObject(body) ?? {};
}

/**
 * Like `jsonMembers`, but returns null if there is no JSON object.
 * @param mostValues a body with more is not parsed, because its values would take many times the memory of its bytes
 */
export function jsonObject(body: Buffer | null, mostValues = MOST_VALUES): JsonObject | null {
  if (body === null || !hasFewValues(body, mostValues)) return null;
  try {
    const value: unknown = JSON.parse(body.toString());
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
