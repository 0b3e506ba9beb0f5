// The query of a request → its numbers, times and names, or what is wrong with it.
import { parseInstant } from '../formats/dates.ts';

/** The number of a parameter, or `absent` without it; null where it is none, or there twice. */
export function numberIn(query: URLSearchParams, name: string, absent: number): number | null {
  const value = oneIn(query, name);
  if (value === undefined) return absent;
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/** Milliseconds since 1970 of an RFC 3339 time, or `absent` without it; null where it is none, or there twice. */
export function timeIn(query: URLSearchParams, name: string, absent: number): number | null {
  const value = oneIn(query, name);
  if (value === undefined) return absent;
  return value === null ? null : parseInstant(value);
}

/** A text that is not empty, or undefined without it; null where it is empty, or there twice. */
export function oneIn(query: URLSearchParams, name: string): string | null | undefined {
  const [value, ...others] = query.getAll(name);
  if (value === undefined) return undefined;
  return others.length === 0 && value !== '' ? value : null;
}

/** What is wrong where there is a parameter that the route has not; else null. */
export function strayIn(query: URLSearchParams, known: readonly string[]): string | null {
  const stray = [...query.keys()].find((name) => !known.includes(name));
  return stray === undefined ? null : `This route has no such parameter; it has ${known.map((name) => `?${name}=`).join(', ')}.`;
}
