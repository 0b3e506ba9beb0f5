// The events that a machine sees and an api-version → the document of the metadata service, as that version writes it.
import { API_VERSIONS, lacksField, UNDERSCORE_VERSION } from '../api-versions.ts';
import type { WireEvent } from './event.ts';

/** The version that brought a type; one that is not named here is listed by all. */
const TYPE_ADDED: ReadonlyMap<string, string> = new Map([
  ['Preempt', '2017-11-01'],
  ['Terminate', '2019-01-01'],
  ['SpotRebalanceRecommendation', '2024-07-09'],
]);

/** As the service names the newest in its answer to an unknown version. */
export const NEWEST_VERSIONS: readonly string[] = API_VERSIONS.slice(0, 3);

export function isKnownVersion(apiVersion: string): boolean {
  return API_VERSIONS.some((known) => known === apiVersion);
}

export function toDocument(incarnation: number, events: readonly WireEvent[], apiVersion: string): object {
  const listed = events.filter((event) => (TYPE_ADDED.get(event.EventType) ?? '') <= apiVersion);
  return { DocumentIncarnation: incarnation, Events: listed.map((event) => toVersion(event, apiVersion)) };
}

function toVersion(event: WireEvent, apiVersion: string): Partial<WireEvent> {
  const { Description, EventSource, DurationInSeconds, ...oldest } = event;
  return {
    ...oldest,
    ...(apiVersion === UNDERSCORE_VERSION ? { Resources: event.Resources.map((name) => `_${name}`) } : {}),
    ...(lacksField(apiVersion, 'description') ? {} : { Description }),
    ...(lacksField(apiVersion, 'eventSource') ? {} : { EventSource }),
    ...(lacksField(apiVersion, 'durationInSeconds') ? {} : { DurationInSeconds }),
  };
}
