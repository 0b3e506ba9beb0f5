// A machine's events and an api-version → the document as that version writes it.
import { lacksField, UNDERSCORE_VERSION } from '../../model/api-versions.ts';
import type { EventField } from '../../model/events.ts';
import type { WireEvent } from '../events/event.ts';
import type { Listing } from '../events/view.ts';

/** The version that brought a type; one that is not named here is listed by all. */
const TYPE_ADDED: ReadonlyMap<string, string> = new Map([
  ['Preempt', '2017-11-01'],
  ['Terminate', '2019-01-01'],
  ['SpotRebalanceRecommendation', '2024-07-09'],
]);

/** Those that the oldest versions lack. */
const NEWER_FIELDS: ReadonlyMap<string, EventField> = new Map([
  ['Description', 'description'],
  ['EventSource', 'eventSource'],
  ['DurationInSeconds', 'durationInSeconds'],
]);

export function toDocument({ incarnation, events }: Listing, apiVersion: string): object {
  const listed = events.filter((event) => (TYPE_ADDED.get(event.EventType) ?? '') <= apiVersion);
  return { DocumentIncarnation: incarnation, Events: listed.map((event) => toVersion(event, apiVersion)) };
}

/** Its keys stay in the order that they have: a recording's in the recording's. */
function toVersion(event: WireEvent, apiVersion: string): Partial<WireEvent> {
  const known = Object.entries(event).filter(([key]) => {
    const field = NEWER_FIELDS.get(key);
    return field === undefined || !lacksField(apiVersion, field);
  });
  const written: Partial<WireEvent> = Object.fromEntries(known);
  return apiVersion === UNDERSCORE_VERSION ? { ...written, Resources: event.Resources.map((name) => `_${name}`) } : written;
}
