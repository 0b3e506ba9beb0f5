// The events that a machine sees and an api-version → the document of the metadata service, as that version writes it.
import { lacksField, UNDERSCORE_VERSION } from '../../api-versions.ts';
import type { WireEvent } from '../life/event.ts';
import type { Listing } from '../life/view.ts';

/** The version that brought a type; one that is not named here is listed by all. */
const TYPE_ADDED: ReadonlyMap<string, string> = new Map([
  ['Preempt', '2017-11-01'],
  ['Terminate', '2019-01-01'],
  ['SpotRebalanceRecommendation', '2024-07-09'],
]);

export function toDocument({ incarnation, events }: Listing, apiVersion: string): object {
  const listed = events.filter((event) => (TYPE_ADDED.get(event.EventType) ?? '') <= apiVersion);
  return { DocumentIncarnation: incarnation, Events: listed.map((event) => toVersion(event, apiVersion)) };
}

function toVersion(event: WireEvent, apiVersion: string): Partial<WireEvent> {
  const { Description, EventSource, DurationInSeconds, ...oldest } = event;
  return {
    ...oldest,
    ...(apiVersion === UNDERSCORE_VERSION ? { Resources: event.Resources.map((name) => `_${name}`) } : {}),
    ...(Description === undefined || lacksField(apiVersion, 'description') ? {} : { Description }),
    ...(EventSource === undefined || lacksField(apiVersion, 'eventSource') ? {} : { EventSource }),
    ...(DurationInSeconds === undefined || lacksField(apiVersion, 'durationInSeconds') ? {} : { DurationInSeconds }),
  };
}
