// The body of a 200 answer → a typed ScheduledEventsDocument, or the reason why it is not one.
import { BridgeError } from '../errors.ts';
import { parseNotBefore } from '../formats/dates.ts';
import { hasFewValues } from '../formats/json-bounds.ts';
import { isObject } from '../formats/json-object.ts';
import { UNDERSCORE_VERSION } from '../model/api-versions.ts';
import type { DocumentEvent, EventField, EventStatus, ScheduledEventsDocument } from '../model/events.ts';
import { contentJson, isDrill } from '../model/ids.ts';

type DocumentEntry =
  | { readonly kind: 'event'; readonly event: DocumentEvent }
  /** A readable EventId, but an unreadable status; `key` is the EventId in lower case. */
  | { readonly kind: 'statusless'; readonly key: string }
  | { readonly kind: 'unusable' };

/** 8,000 events have so many. A body of 4 MiB can have millions, which would take hundreds of MB. */
const MOST_VALUES = 100_000;

type Json = Readonly<Record<string, unknown>>;

const STATUSES: ReadonlyMap<string, EventStatus> = new Map([
  ['scheduled', 'Scheduled'],
  ['started', 'Started'],
]);

/** Marks a field of the wrong type, or a NotBefore that is not a date. */
const UNREADABLE = Symbol('unreadable');
type Read<T> = T | typeof UNREADABLE;

/**
 * Returns a good document (behaviour 4.2): valid UTF-8 (a byte order mark is ignored), `DocumentIncarnation` an integer
 * from 0 to 2^53-1 or its decimal string, `Events` an array, at most 100,000 values and 100 levels. An empty body is a document without events and without an
 * incarnation.
 * @throws BridgeError BRIDGE_METADATA_INVALID
 */
export function parseDocument(body: Uint8Array, apiVersion: string): ScheduledEventsDocument {
  if (body.length === 0) return { apiVersion, incarnation: null, events: [], statusless: [], complete: true };
  const json = parseJsonBody(body);
  if (!isObject(json)) throw invalid('its JSON is not an object');
  const incarnation = readIncarnation(json['DocumentIncarnation']);
  if (incarnation === null) throw invalid('its DocumentIncarnation is not an integer from 0 to 2^53-1');
  if (!Array.isArray(json['Events'])) throw invalid('its Events is not a list');
  return { apiVersion, incarnation, ...readEvents(json['Events'], apiVersion) };
}

/** @throws BridgeError BRIDGE_METADATA_INVALID */
export function parseJsonBody(body: Uint8Array): unknown {
  const text = decode(body);
  if (!hasFewValues(body, MOST_VALUES)) throw invalid('its JSON has more than 100,000 values or 100 levels');
  return parseJson(text);
}

export function invalid(why: string, cause?: unknown): BridgeError {
  return new BridgeError(
    'BRIDGE_METADATA_INVALID',
    `the metadata service answered 200 but sent no valid document: ${why}; if this continues, check metadata.endpoint, and that no proxy answers in its place`,
    { cause },
  );
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw invalid('it is not valid UTF-8', error);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The cause would quote the body.
    throw invalid(text.trimStart().startsWith('<') ? 'it is HTML or XML' : 'it is broken JSON');
  }
}

function readIncarnation(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  // Adding 0 turns -0 into 0.
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) + 0 : null;
}

function readEvents(
  entries: readonly unknown[],
  apiVersion: string,
): Pick<ScheduledEventsDocument, 'events' | 'statusless' | 'complete'> {
  // A Map keeps the position of the first entry when a later one replaces it.
  const events = new Map<string, DocumentEvent>();
  const statusless = new Set<string>();
  let complete = true;
  for (const entry of entries.map((raw) => readEntry(raw, apiVersion))) {
    if (entry.kind === 'unusable') {
      complete = false;
      continue;
    }
    const key = entry.kind === 'statusless' ? entry.key : entry.event.eventId.toLowerCase();
    // The id of a drill: the real service cannot list one.
    if (isDrill(key)) continue;
    if (entry.kind === 'statusless') statusless.add(key);
    else {
      const known = events.get(key);
      events.set(key, known ? weightier(known, entry.event) : entry.event);
    }
  }
  return { events: [...events.values()], statusless: [...statusless].filter((key) => !events.has(key)), complete };
}

/**
 * Chooses between two entries with the same EventId: `Started` wins, then the larger canonical JSON of the content. The
 * last part of the weight makes the choice independent of the order of the list.
 */
function weightier(a: DocumentEvent, b: DocumentEvent): DocumentEvent {
  const [first, second] = [weight(a), weight(b)];
  const differing = first.findIndex((part, place) => part !== second[place]);
  return (first[differing] ?? '') >= (second[differing] ?? '') ? a : b;
}

function weight(event: DocumentEvent): readonly string[] {
  return [event.eventStatus === 'Started' ? '1' : '0', contentJson(event), JSON.stringify(event)];
}

/**
 * Reads the content (behaviour 3.3) of a usable entry (behaviour 4.8 and 4.9); `ScheduledEvent` has the values of
 * absent fields.
 */
export function readEntry(entry: unknown, apiVersion: string): DocumentEntry {
  if (!isObject(entry) || typeof entry['EventId'] !== 'string' || entry['EventId'] === '') return { kind: 'unusable' };
  const eventId = entry['EventId'].toWellFormed();
  const status =
    typeof entry['EventStatus'] === 'string' ? STATUSES.get(entry['EventStatus'].toLowerCase()) : undefined;
  if (status === undefined) return { kind: 'statusless', key: eventId.toLowerCase() };
  return { kind: 'event', event: readEvent(entry, eventId, status, apiVersion) };
}

function readEvent(entry: Json, eventId: string, eventStatus: EventStatus, apiVersion: string): DocumentEvent {
  const unreadable: EventField[] = [];
  const take = <T>(field: EventField, value: Read<T>, absent: T): T => {
    if (value !== UNREADABLE) return value;
    unreadable.push(field);
    return absent;
  };
  return {
    eventId,
    eventStatus,
    eventType: take('eventType', text(entry['EventType']), ''),
    resourceType: take('resourceType', text(entry['ResourceType']), ''),
    resources: take('resources', resources(entry['Resources'], apiVersion), []),
    notBefore: take('notBefore', notBefore(entry['NotBefore']), null),
    description: take('description', text(entry['Description']), ''),
    eventSource: take('eventSource', text(entry['EventSource']), ''),
    durationInSeconds: take('durationInSeconds', seconds(entry['DurationInSeconds']), -1),
    unreadable,
  };
}

function text(value: unknown): Read<string> {
  if (value === undefined) return '';
  return typeof value === 'string' ? value.toWellFormed() : UNREADABLE;
}

function resources(value: unknown, apiVersion: string): Read<readonly string[]> {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) return UNREADABLE;
  const names = value.map((name) => name.toWellFormed());
  return [...new Set(apiVersion === UNDERSCORE_VERSION ? names.map((name) => name.replace(/^_/, '')) : names)];
}

function notBefore(value: unknown): Read<string | null> {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') return UNREADABLE;
  return value.trim() === '' ? null : (parseNotBefore(value) ?? UNREADABLE);
}

function seconds(value: unknown): Read<number> {
  if (value === undefined) return -1;
  const number = typeof value === 'string' && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
  // Adding 0 turns -0 into 0. A number in JSON can be too large to be finite.
  return typeof number === 'number' && Number.isFinite(number) ? number + 0 : UNREADABLE;
}
