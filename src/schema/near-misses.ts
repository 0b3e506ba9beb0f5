// An object's keys → those written nearly like a known one. Pure.
import type { JsonObject } from '../formats/json-object.ts';

/** Without letter case; what is no letter does not count, nor an s at the end: `seen`, `event_id`, `EventIDs`. Linear in the length of a key. */
export function nearMissPattern(name: string): string {
  const letters = [...name.replace(/s$/, '')].map((letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
  return `^[^A-Za-z]*${letters.join('[^A-Za-z]*')}[^A-Za-z]*(?:[sS][^A-Za-z]*)?$`;
}

/** The first of `names` that a key of `value` nearly spells; null where none does. Other keys are allowed. */
export function nearMiss(value: JsonObject, names: readonly string[]): string | null {
  const keys = Object.keys(value).filter((key) => !names.includes(key));
  if (keys.length === 0) return null;
  return (
    names.find((name) => {
      const pattern = new RegExp(nearMissPattern(name));
      return keys.some((key) => pattern.test(key));
    }) ?? null
  );
}
