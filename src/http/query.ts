// The query of a request → its numbers, times, names and pages, or what is wrong with it.
import { parseInstant } from '../formats/dates.ts';
import * as api from './openapi/operation.ts';

/** Items of one answer without `?limit=`. */
const LIMIT = 100;
/** Of a position: what a whole number of 15 digits can say. */
export const LARGEST_POSITION = 999_999_999_999_999;

export interface Page {
  readonly limit: number;
  /** What `next` gave in the answer before; 0 in the first request. */
  readonly after: number;
}

/** Returns the number of a parameter, `absent` without the parameter, or null if it is not a number or is repeated. */
export function numberIn(query: URLSearchParams, name: string, absent: number): number | null {
  const value = oneIn(query, name);
  if (value === undefined) return absent;
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/**
 * Returns an RFC 3339 time as milliseconds since 1970, `absent` without the parameter, or null if it is not a time or
 * is repeated.
 */
export function timeIn(query: URLSearchParams, name: string, absent: number): number | null {
  const value = oneIn(query, name);
  if (value === undefined) return absent;
  return value === null ? null : parseInstant(value);
}

/** Returns a text, undefined without the parameter, or null if it is empty or repeated. */
export function oneIn(query: URLSearchParams, name: string): string | null | undefined {
  const [value, ...others] = query.getAll(name);
  if (value === undefined) return undefined;
  return others.length === 0 && value !== '' ? value : null;
}

/** Returns what is wrong if there is a parameter that the route does not have, or null. */
export function strayIn(query: URLSearchParams, known: readonly string[]): string | null {
  const stray = [...query.keys()].find((name) => !known.includes(name));
  return stray === undefined
    ? null
    : `This route has no such parameter; it has ${known.map((name) => `?${name}=`).join(', ')}.`;
}

/**
 * Reads `?limit=`, from 1 to `most`, and `?after=`. Returns a text if one of them is wrong: which one, and what is
 * allowed.
 */
export function pageIn(query: URLSearchParams, most: number): Page | string {
  const limit = numberIn(query, 'limit', LIMIT);
  if (limit === null || limit < 1 || limit > most) return `?limit= is a number from 1 to ${most}, once.`;
  const after = numberIn(query, 'after', 0);
  return after === null ? '?after= is the number that next gave in the answer before, once.' : { limit, after };
}

/** What `pageIn` reads, for the OpenAPI document. */
export function pageParameters(
  most: number,
  limitDescription = 'Items of one answer at most.',
): readonly api.SchemaNode[] {
  return [
    api.inQuery('limit', limitDescription, { type: 'integer', minimum: 1, maximum: most, default: LIMIT }),
    api.inQuery('after', 'What `next` gave in the answer before.', {
      type: 'integer',
      minimum: 0,
      maximum: LARGEST_POSITION,
      default: 0,
    }),
  ];
}

/** The schema of `next` in an answer that comes in pages. */
export const NEXT_PAGE: api.SchemaNode = {
  type: ['integer', 'null'],
  minimum: 1,
  description: 'The `after` of the next page; null after the last.',
};
