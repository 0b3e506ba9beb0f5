// A document of the service → the content of its events, their ids and hashes, by the contract.
import { createHash } from 'node:crypto';

/** An entry of a document, as it is on the wire. */
export interface ListedEvent {
  readonly EventId: string;
  readonly EventStatus: 'Scheduled' | 'Started';
  readonly EventType: string;
  readonly ResourceType: string;
  readonly Resources: readonly string[];
  readonly NotBefore: string;
  readonly Description: string;
  readonly EventSource: string;
  readonly DurationInSeconds: number;
}

export interface ReadDocument {
  /** Null for the empty answer. */
  readonly incarnation: number | null;
  /** Those that can be read. */
  readonly events: readonly ListedEvent[];
  /** In lower case: listed with a status that is none. */
  readonly statusless: ReadonlySet<string>;
  /** False: an entry has no EventId, so it may be any event. */
  readonly isComplete: boolean;
}

const STATUSES: ReadonlySet<string> = new Set(['Scheduled', 'Started']);

const read = new Map<string, ReadDocument>();

/** The same object for the same text, because most polls bring what the last one did. */
export function readDocument(text: string): ReadDocument {
  const known = read.get(text);
  if (known !== undefined) return known;
  if (read.size > 500) read.clear();
  const parsed = text === '' ? null : (JSON.parse(text) as { DocumentIncarnation: number; Events: ListedEvent[] });
  const named = (parsed?.Events ?? []).filter(({ EventId }) => EventId !== '');
  const odd = named.filter(({ EventStatus }) => !STATUSES.has(EventStatus));
  const document: ReadDocument = {
    incarnation: parsed?.DocumentIncarnation ?? null,
    events: named.filter((event) => !odd.includes(event)),
    statusless: new Set(odd.map(({ EventId }) => keyOf(EventId))),
    isComplete: named.length === (parsed?.Events ?? []).length,
  };
  read.set(text, document);
  return document;
}

export function keyOf(eventId: string): string {
  return eventId.toLowerCase();
}

/** RFC 3339 in whole seconds, or null. */
export function notBeforeOf({ NotBefore }: Pick<ListedEvent, 'NotBefore'>): string | null {
  return NotBefore === '' ? null : new Date(NotBefore).toISOString().replace('.000Z', 'Z');
}

/** The nine fields, canonical: two states of an event are the same if their texts are. */
export function contentText(event: ListedEvent): string {
  const { Description, DurationInSeconds, EventId, EventSource, EventStatus, EventType, ResourceType, Resources } =
    event;
  return JSON.stringify({
    Description,
    DurationInSeconds,
    EventId: keyOf(EventId),
    EventSource,
    EventStatus,
    EventType,
    NotBefore: notBeforeOf(event),
    ResourceType,
    Resources: [...new Set(Resources)].sort(),
  });
}

export function hexOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/** The fields of `data` in which two states differ, sorted. */
export function fieldsChanged(before: ListedEvent, after: ListedEvent): readonly string[] {
  const of = (event: ListedEvent): Readonly<Record<string, unknown>> => JSON.parse(contentText(event));
  const [one, other] = [of(before), of(after)];
  return Object.keys(one)
    .filter((name) => name !== 'EventId' && JSON.stringify(one[name]) !== JSON.stringify(other[name]))
    .map((name) => name.charAt(0).toLowerCase() + name.slice(1))
    .sort();
}

const HARDER = ['freeze', 'reboot', 'redeploy', 'preempt', 'terminate'];

/** By section 6: what an approval with `Seen`, or one that waits, does not survive. */
export function isWorse(before: ListedEvent, now: ListedEvent): boolean {
  const rank = (event: ListedEvent) => {
    const place = HARDER.indexOf(event.EventType.toLowerCase());
    return place === -1 ? HARDER.length : place;
  };
  if (rank(now) > rank(before)) return true;
  if (
    rank(now) === HARDER.length &&
    rank(before) === HARDER.length &&
    now.EventType.toLowerCase() !== before.EventType.toLowerCase()
  )
    return true;
  if (before.DurationInSeconds >= 0 && (now.DurationInSeconds < 0 || now.DurationInSeconds > before.DurationInSeconds))
    return true;
  const names = before.Resources.map((name) => name.toLowerCase());
  if (now.Resources.some((name) => !names.includes(name.toLowerCase()))) return true;
  const [was, is] = [notBeforeOf(before), notBeforeOf(now)];
  return was !== null && (is === null || Date.parse(is) < Date.parse(was));
}
