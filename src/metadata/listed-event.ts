// One untrusted entry of Events → a checked event, or why it is unusable.

import { parseNotBefore } from '../formats/dates.ts';
import { isObject } from '../formats/json-object.ts';
import { UNDERSCORE_VERSION } from '../model/api-versions.ts';
import type { DocumentEvent, EventField, EventStatus } from '../model/events.ts';

type DocumentEntry =
  | { readonly kind: 'event'; readonly event: DocumentEvent }
  /** A readable EventId, but an unreadable status; `key` is the EventId in lower case. */
  | { readonly kind: 'statusless'; readonly key: string }
  | { readonly kind: 'unusable' };

type Json = Readonly<Record<string, unknown>>;

const STATUSES: ReadonlyMap<string, EventStatus> = new Map([
  ['scheduled', 'Scheduled'],
  ['started', 'Started'],
]);

/** Marks a field of the wrong type, or a NotBefore that is not a date. */
const UNREADABLE = Symbol('unreadable');
type Read<T> = T | typeof UNREADABLE;

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
