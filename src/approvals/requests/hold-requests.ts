// JSON of holds and releases → requests, or what is wrong with them (behaviour 8.8). Pure.
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
  /** The hold's owner; null: the caller's own hold or, for an admin without one, all. */
  readonly holder: string | null;
  /** None that was set later, in milliseconds since 1970. */
  readonly beforeMs?: number | null;
}

/** One `{ "EventId": "…", "reason": "…" }`. A text is what is wrong, to stand behind the name of the place. */
export function parseHold(entry: unknown): HoldRequest | string {
  const fault = entryFault(entry, 'reason');
  if (fault !== null) return fault;
  const { EventId: eventId, reason } = entry as { EventId: string; reason?: unknown };
  if (reason !== undefined && reason !== null && typeof reason !== 'string') return '.reason must be a text';
  if (typeof reason === 'string' && isLonger(reason, LONGEST_REASON)) return `.reason is longer than ${LONGEST_REASON} characters`;
  return { eventId, key: keyOf(eventId), reason: reason?.toWellFormed() ?? null };
}

/** One `{ "EventId": "…" }`, perhaps with `approver`, the hold's owner. A text is the fault, to follow the name of the place. */
export function parseRelease(entry: unknown): ReleaseRequest | string {
  const fault = entryFault(entry, 'approver');
  if (fault !== null) return fault;
  const { EventId: eventId, approver } = entry as { EventId: string; approver?: unknown };
  if (approver !== undefined && (typeof approver !== 'string' || approver === ''))
    return '.approver must be a text, the name of an approver';
  const nameFault = approver === undefined ? null : lengthFault(approver);
  if (nameFault !== null) return `.approver ${nameFault}`;
  return { eventId, key: keyOf(eventId), holder: approver ?? null };
}

/** A list under `name`, the last of several for one event and, of releases, one holder; none where the body has no such key. A text is what is wrong. */
export function parseEntries<T extends { readonly key: string; readonly holder?: string | null }>(
  body: unknown,
  name: string,
  parse: (entry: unknown) => T | string,
): readonly T[] | string {
  const list = isObject(body) ? body[name] : undefined;
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.length === 0) return `${name} must be an array of { "EventId": "…" }, not empty`;
  const distinct = new Map<string, T>();
  for (const [place, entry] of list.entries()) {
    const parsed = parse(entry);
    if (typeof parsed === 'string') return `${name}[${place}]${parsed}`;
    distinct.set(JSON.stringify([parsed.key, parsed.holder]), parsed);
  }
  return [...distinct.values()];
}
