// JSON of holds and releases → requests, or the fault (behaviour 8.8). Pure.
import { isObject } from '../../formats/json-object.ts';
import { entryFault, isLonger, keyOf, lengthFault } from './start-requests.ts';

const LONGEST_REASON = 1000;

export interface HoldRequest {
  /** As the caller wrote it. */
  readonly eventId: string;
  /** In lower case, as events are known. */
  readonly key: string;
  readonly reason: string | null;
}

export interface ReleaseRequest {
  /** As the caller wrote it. */
  readonly eventId: string;
  /** In lower case, as events are known. */
  readonly key: string;
  /** The owner of the hold; null: the caller's own hold or, for an admin without one, all holds. */
  readonly holder: string | null;
  /** Holds set later than this stay, in milliseconds since 1970. */
  readonly beforeMs?: number | null;
}

/**
 * Parses one `{ "EventId": "…", "reason": "…" }`.
 * @returns the request, or the fault as a text to append to the path of the entry
 */
export function parseHold(entry: unknown): HoldRequest | string {
  const fault = entryFault(entry, 'reason');
  if (fault !== null) return fault;
  const { EventId: eventId, reason } = entry as { EventId: string; reason?: unknown };
  if (reason !== undefined && reason !== null && typeof reason !== 'string') return '.reason must be a text';
  if (typeof reason === 'string' && isLonger(reason, LONGEST_REASON))
    return `.reason is longer than ${LONGEST_REASON} characters`;
  return { eventId, key: keyOf(eventId), reason: reason?.toWellFormed() ?? null };
}

/** Parses one `{ "EventId": "…", "approver": "…" }`; `approver` is optional. @returns as `parseHold` */
export function parseRelease(entry: unknown): ReleaseRequest | string {
  const fault = entryFault(entry, 'approver');
  if (fault !== null) return fault;
  const { EventId: eventId, approver } = entry as { EventId: string; approver?: unknown };
  if (approver !== undefined && (typeof approver !== 'string' || approver === ''))
    return '.approver must be a text: the name of an approver';
  const nameFault = approver === undefined ? null : lengthFault(approver);
  if (nameFault !== null) return `.approver ${nameFault}`;
  return { eventId, key: keyOf(eventId), holder: approver ?? null };
}

/**
 * Parses the list under `name`. The last entry counts if several have the same event and, for releases, the same
 * holder.
 * @returns the requests, none if the body has no such key; or the fault as a text
 */
export function parseEntries<T extends { readonly key: string; readonly holder?: string | null }>(
  body: unknown,
  name: string,
  parse: (entry: unknown) => T | string,
): readonly T[] | string {
  const list = isObject(body) ? body[name] : undefined;
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.length === 0) return `${name} must be a non-empty array of { "EventId": "…" }`;
  const distinct = new Map<string, T>();
  for (const [place, entry] of list.entries()) {
    const parsed = parse(entry);
    if (typeof parsed === 'string') return `${name}[${place}]${parsed}`;
    distinct.set(JSON.stringify([parsed.key, parsed.holder]), parsed);
  }
  return [...distinct.values()];
}
