// An approval's JSON body → its StartRequests, or the fault; length limits (behaviour 6.4). Pure.
import { isObject, type JsonObject } from '../../formats/json-object.ts';
import { nearMiss } from '../../schema/near-misses.ts';
import { type Refusal, refusal } from './answer.ts';

/** The lists that a body may have. `Holds` and `Releases` count only in messages of sources. */
const LISTS = ['StartRequests', 'Holds', 'Releases'];

/** In characters; also for the name of an approver. Azure uses 36. */
const LONGEST_EVENT_ID = 256;

export interface StartRequest {
  /** As the caller wrote it. */
  readonly eventId: string;
  /** In lower case, as events are known. */
  readonly key: string;
  /** Ids of the CloudEvents that the approval is for; each one is checked. */
  readonly seen: readonly string[];
}

/**
 * Returns one request for each distinct EventId, compared without case, in the order of first mention. Ignores other
 * keys, because some clients send DocumentIncarnation. Returns a text if the body is invalid: the path of the fault and
 * the allowed values.
 */
export function parseStartRequests(body: unknown): readonly StartRequest[] | string {
  if (!isObject(body)) return 'the body must be an object: { "StartRequests": [ { "EventId": "…" } ] }';
  const misnamed = listFault(body);
  if (misnamed !== null) return misnamed;
  const list = body['StartRequests'];
  if (!Array.isArray(list)) return 'StartRequests must be an array of { "EventId": "…" }';
  if (list.length === 0) return 'StartRequests is empty: name at least one EventId';
  const byKey = new Map<string, { readonly eventId: string; readonly key: string; readonly seen: Set<string> }>();
  for (const [place, entry] of list.entries()) {
    const fault = faultOf(entry);
    if (fault !== null) return `StartRequests[${place}]${fault}`;
    const { EventId: eventId, Seen: seen } = entry as { EventId: string; Seen?: string };
    const key = keyOf(eventId);
    const named = byKey.get(key) ?? { eventId, key, seen: new Set<string>() };
    if (seen !== undefined) named.seen.add(seen);
    byKey.set(key, named);
  }
  return [...byKey.values()].map((named) => ({ ...named, seen: [...named.seen] }));
}

/** Returns the fault if a key is a misspelled list or a misplaced `Seen`, else null. */
export function listFault(body: JsonObject): string | null {
  const meant = nearMiss(body, LISTS);
  if (meant !== null) return `the body ${hasNearly(meant)}`;
  const isMisplaced = 'Seen' in body || nearMiss(body, ['Seen']) !== null;
  return isMisplaced ? 'Seen must be in an entry of StartRequests, next to its EventId' : null;
}

/** Returns the key of an event: its EventId in lower case, with U+FFFD for lone surrogates. */
export function keyOf(eventId: string): string {
  return eventId.toWellFormed().toLowerCase();
}

function faultOf(entry: unknown): string | null {
  const fault = entryFault(entry, 'Seen');
  if (fault !== null) return fault;
  const seen = (entry as JsonObject)['Seen'];
  return seen === undefined || typeof seen === 'string' ? null : '.Seen must be a text: the id of a CloudEvent';
}

/**
 * Returns the fault of `{ "EventId": "…" }` as a text to append to the path of the entry, or null. `other`: a second
 * allowed key.
 */
export function entryFault(entry: unknown, other: string): string | null {
  if (!isObject(entry)) return ' must be an object: { "EventId": "…" }';
  const meant = nearMiss(entry, ['EventId', other]);
  if (meant !== null) return ` ${hasNearly(meant)}`;
  const { EventId: eventId } = entry;
  if (typeof eventId !== 'string' || eventId === '') return '.EventId must be a non-empty text';
  const fault = lengthFault(eventId);
  return fault && `.EventId ${fault}`;
}

function hasNearly(name: string): string {
  return `has a key that is nearly ${name}: write ${name}`;
}

/** Returns the fault of an EventId or the name of an approver, or null if its length is allowed. */
export function lengthFault(text: string): string | null {
  return isLonger(text, LONGEST_EVENT_ID) ? `is longer than ${LONGEST_EVENT_ID} characters` : null;
}

/** Compares characters, not UTF-16 units. Does not count the characters of a text that is much too long. */
export function isLonger(text: string, most: number): boolean {
  return text.length > most && (text.length > 2 * most || [...text].length > most);
}

/** Returns the refusal of an EventId or name that is too long, or null. */
export function tooLong(text: string, what = 'The EventId in the path'): Refusal | null {
  const fault = lengthFault(text);
  return fault === null ? null : refusal('bad-request', `${what} ${fault}.`);
}
