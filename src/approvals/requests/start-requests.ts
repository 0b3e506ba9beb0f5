// An approval's JSON body → its StartRequests, or what is wrong (behaviour 6.4). Pure.
import { isObject, type JsonObject } from '../../formats/json-object.ts';
import { nearMiss } from '../../schema/near-misses.ts';
import { type Refusal, refusal } from './answer.ts';

/** What a body may ask for; only messages of sources hold and release by such a list. */
const LISTS = ['StartRequests', 'Holds', 'Releases'];

/** Those of Azure have 36. */
const LONGEST_EVENT_ID = 256;

export interface StartRequest {
  /** As the caller wrote it. */
  readonly eventId: string;
  /** In lower case, as events are known. */
  readonly key: string;
  /** Ids of the CloudEvents that it answers; all of them are checked. */
  readonly seen: readonly string[];
}

/**
 * One for each distinct EventId (without case), in the order in which they were first named. Other keys may stand beside, as some clients
 * send DocumentIncarnation. A text is what is wrong: it names the place and what is allowed there.
 */
export function parseStartRequests(body: unknown): readonly StartRequest[] | string {
  if (!isObject(body)) return 'the body must be an object: { "StartRequests": [ { "EventId": "…" } ] }';
  const overheard = listFault(body);
  if (overheard !== null) return overheard;
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

/** What is nearly one of the lists, or a protection that protects nothing where it stands; null where nothing is. */
export function listFault(body: JsonObject): string | null {
  const meant = nearMiss(body, LISTS);
  if (meant !== null) return `the body ${hasNearly(meant)}`;
  const isMisplaced = 'Seen' in body || nearMiss(body, ['Seen']) !== null;
  return isMisplaced ? 'Seen stands in the entry of StartRequests that it protects, beside its EventId' : null;
}

/** How an event is known. Lone surrogates have become U+FFFD there, too. */
export function keyOf(eventId: string): string {
  return eventId.toWellFormed().toLowerCase();
}

function faultOf(entry: unknown): string | null {
  const fault = entryFault(entry, 'Seen');
  if (fault !== null) return fault;
  const seen = (entry as JsonObject)['Seen'];
  return seen === undefined || typeof seen === 'string' ? null : '.Seen must be a text, the id of a CloudEvent';
}

/** What is wrong with `{ "EventId": "…" }`, perhaps with `other` beside, to stand behind the name of the place; null where nothing is. */
export function entryFault(entry: unknown, other: string): string | null {
  if (!isObject(entry)) return ' must be an object: { "EventId": "…" }';
  const meant = nearMiss(entry, ['EventId', other]);
  if (meant !== null) return ` ${hasNearly(meant)}`;
  const { EventId: eventId } = entry;
  if (typeof eventId !== 'string' || eventId === '') return '.EventId must be a text that is not empty';
  const fault = lengthFault(eventId);
  return fault && `.EventId ${fault}`;
}

function hasNearly(name: string): string {
  return `has a key that is nearly ${name}: write ${name}`;
}

/** What is wrong with an EventId, or with the name of an approver, that a caller wrote; null where nothing is. */
export function lengthFault(text: string): string | null {
  return isLonger(text, LONGEST_EVENT_ID) ? `is longer than ${LONGEST_EVENT_ID} characters` : null;
}

/** In characters, not in UTF-16 units; does not count to the end of what is much longer. */
export function isLonger(text: string, most: number): boolean {
  return text.length > most && (text.length > 2 * most || [...text].length > most);
}

/** The refusal of what is too long to name an event or an approver; null where it is not. */
export function tooLong(text: string, what = 'The EventId in the path'): Refusal | null {
  const fault = lengthFault(text);
  return fault === null ? null : refusal('bad-request', `${what} ${fault}.`);
}
