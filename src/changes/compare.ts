// A known event and its entry, or its change → content, changed fields, a step back. Pure.
import { lacksField } from '../model/api-versions.ts';
import { sortedResources } from '../model/content.ts';
import type { DocumentEvent, EventChange, EventField, KnownEvent, ScheduledEvent } from '../model/events.ts';
import { eventChangeId } from '../model/ids.ts';

/** Sorted, because `changedFields` is. */
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

/** Returns the content of a listed event; an unreadable field keeps its last known value. */
export function contentNow(listed: DocumentEvent, known: KnownEvent | undefined): ScheduledEvent {
  const { unreadable, ...event } = listed;
  if (known === undefined || unreadable.length === 0) return event;
  return { ...event, ...Object.fromEntries(unreadable.map((field) => [field, known.event[field]])) };
}

/**
 * Returns the fields in which `event`, read with `apiVersion`, differs from the known content: sorted, without fields
 * that either version lacks.
 */
export function changedFields(known: KnownEvent, event: ScheduledEvent, apiVersion: string): readonly EventField[] {
  return FIELDS.filter((field) => {
    if (lacksField(known.apiVersion, field) || lacksField(apiVersion, field)) return false;
    return field === 'resources'
      ? !sameNames(sortedResources(known.event), sortedResources(event))
      : known.event[field] !== event[field];
  });
}

/** Whether the contents are identical, including the case of the EventId and the order of the resources. */
export function isIdentical(one: ScheduledEvent, other: ScheduledEvent): boolean {
  return (
    one.eventId === other.eventId &&
    FIELDS.every((field) =>
      field === 'resources' ? sameNames(one.resources, other.resources) : one[field] === other[field],
    )
  );
}

/** `unstarted`: from Started back to Scheduled. `returned`: listed again after its end. */
export type StepBack = 'unstarted' | 'returned';

/**
 * Returns how an event went backwards with this change, or null if it did not.
 * @param isUsed whether this bridge has used a CloudEvent id before, so that an end before a restart counts too
 */
export function stepBackOf(change: EventChange, isUsed: (id: string) => boolean): StepBack | null {
  const { phase, previousStatus, event } = change;
  if (phase === 'updated')
    return previousStatus === 'Started' && event.eventStatus === 'Scheduled' ? 'unstarted' : null;
  return previousStatus === null && isUsed(eventChangeId('ended', event)) ? 'returned' : null;
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, place) => name === other[place]);
}
