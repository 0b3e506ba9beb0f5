// An event as known and as listed → its content now, and the fields that changed.
import { lacksField } from '../model/api-versions.ts';
import { sortedResources } from '../model/content.ts';
import type { DocumentEvent, EventField, KnownEvent, ScheduledEvent } from '../model/events.ts';

/** Sorted, as `changedFields` are. */
const FIELDS = [
  'description',
  'durationInSeconds',
  'eventSource',
  'eventStatus',
  'eventType',
  'notBefore',
  'resourceType',
  'resources',
] as const satisfies readonly EventField[];

/** The content that a document gives an event: a field that could not be read keeps the known event's last value. */
export function contentNow(listed: DocumentEvent, known: KnownEvent | undefined): ScheduledEvent {
  const { unreadable, ...event } = listed;
  if (known === undefined || unreadable.length === 0) return event;
  return { ...event, ...Object.fromEntries(unreadable.map((field) => [field, known.event[field]])) };
}

/** The fields in which `event`, read under `apiVersion`, differs from the known content: sorted, without those that either version lacks. */
export function changedFields(known: KnownEvent, event: ScheduledEvent, apiVersion: string): readonly EventField[] {
  return FIELDS.filter((field) => {
    if (lacksField(known.apiVersion, field) || lacksField(apiVersion, field)) return false;
    return field === 'resources' ? !sameNames(sortedResources(known.event), sortedResources(event)) : known.event[field] !== event[field];
  });
}

/** True where nothing differs, letter case of the EventId and order of the resources included. */
export function isIdentical(one: ScheduledEvent, other: ScheduledEvent): boolean {
  return (
    one.eventId === other.eventId &&
    FIELDS.every((field) => (field === 'resources' ? sameNames(one.resources, other.resources) : one[field] === other[field]))
  );
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, place) => name === other[place]);
}
