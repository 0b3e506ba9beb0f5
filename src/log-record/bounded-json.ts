// A JSON object with members that may be cut → its JSON within a number of bytes.
import { isObject, type JsonObject } from '../formats/json-object.ts';
import { shortenedText } from '../formats/visible-text.ts';

/**
 * In UTF-16 units. Names of machines, ids, times and types are not longer, and are never cut: they would name something
 * else then.
 */
const SHORT = 64;

/**
 * Returns the JSON, with the longest texts cut to one length if it is too long. A cut text ends in `…`, and no
 * character is cut in two.
 * @param mayCut true for the members with texts that may be cut, at any depth
 * @returns null if that is not enough
 */
export function boundedJson(value: JsonObject, maxBytes: number, mayCut: (member: string) => boolean): string | null {
  const fits = (json: string) => Buffer.byteLength(json) <= maxBytes;
  const whole = JSON.stringify(value);
  if (fits(whole)) return whole;
  const within = (most: number) =>
    JSON.stringify(mapMembers(value, (inner, member) => (mayCut(member) ? cutTexts(inner, most) : inner)));
  const shortest = within(SHORT);
  if (!fits(shortest)) return null;
  let made = shortest;
  // A text that fits has at most as many units as there are bytes.
  let [fitting, tooLong] = [SHORT, maxBytes];
  while (tooLong - fitting > 1) {
    const most = Math.floor((fitting + tooLong) / 2);
    const longer = within(most);
    if (fits(longer)) [fitting, made] = [most, longer];
    else tooLong = most;
  }
  return made;
}

function mapMembers(value: JsonObject, map: (inner: unknown, member: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, map(inner, member)]));
}

function cutTexts(value: unknown, most: number): unknown {
  if (typeof value === 'string') return shortenedText(value, most);
  if (Array.isArray(value)) return value.map((inner) => cutTexts(inner, most));
  return isObject(value) ? mapMembers(value, (inner) => cutTexts(inner, most)) : value;
}
