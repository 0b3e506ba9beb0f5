// The keys of an object → a known name that one of them misspells. Pure.
import type { JsonObject } from '../formats/json-object.ts';

/**
 * Returns a pattern that ignores case, other characters than letters, and a final s: `seen`, `event_id`, `EventIDs`.
 * Linear in the key's length.
 */
export function nearMissPattern(name: string): string {
  const letters = [...name.replace(/s$/, '')].map((letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
  return `^[^A-Za-z]*${letters.join('[^A-Za-z]*')}[^A-Za-z]*(?:[sS][^A-Za-z]*)?$`;
}

/** Returns the first of `names` that a key of `value` misspells, or null. Other keys are allowed. */
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
