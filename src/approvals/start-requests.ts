// The JSON value of an approval's body → its StartRequests, or what is wrong with it (contract, section 6). Pure.
import { isObject } from '../json-object.ts';

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
  const list = body['StartRequests'];
  if (!Array.isArray(list)) return 'StartRequests must be an array of { "EventId": "…" }';
  if (list.length === 0) return 'StartRequests is empty: name at least one EventId';
  const byKey = new Map<string, StartRequest>();
  for (const [place, entry] of list.entries()) {
    const fault = faultOf(entry);
    if (fault !== null) return `StartRequests[${place}]${fault}`;
    const { EventId: eventId, Seen: seen } = entry as { EventId: string; Seen?: string };
    const key = keyOf(eventId);
    const earlier = byKey.get(key);
    byKey.set(key, { eventId: earlier?.eventId ?? eventId, key, seen: [...(earlier?.seen ?? []), ...(seen === undefined ? [] : [seen])] });
  }
  return [...byKey.values()];
}

/** How an event is known. Lone surrogates have become U+FFFD there, too. */
export function keyOf(eventId: string): string {
  return eventId.toWellFormed().toLowerCase();
}

function faultOf(entry: unknown): string | null {
  const fault = eventIdFault(entry);
  if (fault !== null) return fault;
  const seen = (entry as Readonly<Record<string, unknown>>)['Seen'];
  return seen === undefined || typeof seen === 'string' ? null : '.Seen must be a text, the id of a CloudEvent';
}

/** What is wrong with `{ "EventId": "…" }`, to stand behind the name of the place; null where nothing is. */
export function eventIdFault(entry: unknown): string | null {
  if (!isObject(entry)) return ' must be an object: { "EventId": "…" }';
  return typeof entry['EventId'] === 'string' && entry['EventId'] !== '' ? null : '.EventId must be a text that is not empty';
}
