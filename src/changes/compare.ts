// What is known and a document → is it news, which fields changed, what went backwards.
import { filter, type MonoTypeOperatorFunction } from 'rxjs';
import { lacksField } from '../model/api-versions.ts';
import type {
  DocumentEvent,
  EventChange,
  EventField,
  Instant,
  KnownEvent,
  KnownState,
  ScheduledEvent,
  ScheduledEventsDocument,
} from '../model/events.ts';
import { eventChangeId, sortedResources } from '../model/ids.ts';
import { wasSwitchedOff } from './epoch.ts';

/**
 * Drops a document without changes since the last committed state, `known()`, and passes the state with its new
 * `lastGoodAt` to `unchanged`, which must keep it: ages count from it. Passes all other documents, also unchanged ones
 * while a missing event is undecided (settle, an empty answer).
 *
 * Not `distinctUntilChanged`, which compares with the last emitted document: after a failed commit, the document must
 * be emitted again.
 */
export function distinctByIncarnation<T extends { readonly document: ScheduledEventsDocument; readonly at: Instant }>(
  known: () => KnownState,
  unchanged: (state: KnownState) => void,
): MonoTypeOperatorFunction<T> {
  return filter(({ document, at }) => {
    const state = seenAgain(known(), document, at);
    if (state !== null) unchanged(state);
    return state === null;
  });
}

/** Returns the state after a failed poll: it ends a row of empty answers and changes nothing else. */
export function observeFailure(state: KnownState): KnownState {
  return state.emptyRow === null ? state : { ...state, emptyRow: null };
}

/**
 * Returns the state after an unchanged document, which is the same object as that of `state`; null for any other
 * document. The metadata client returns the same object while the bytes are the same, so the cost of an unchanged poll
 * does not depend on the number of events.
 */
function seenAgain(state: KnownState, document: ScheduledEventsDocument, at: Instant): KnownState | null {
  if (state.document !== document || wasSwitchedOff(state, at)) return null;
  return { ...state, lastGoodAt: at, emptyRow: null };
}

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
