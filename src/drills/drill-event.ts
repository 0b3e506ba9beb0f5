// A request for a drill and the clock → its event, and the changes of this event.
import { toRfc3339Seconds } from '../formats/dates.ts';
import type { Drill } from '../model/drills.ts';
import type { EventChange, Instant, KnownEvent, ScheduledEvent } from '../model/events.ts';
import { drillEventId, eventChangeId, unusedId } from '../model/ids.ts';
import type { DrillRequest } from './options.ts';

/** Replaces the api-version of a document. */
const NO_DOCUMENT = 'drill';

const SECOND_MS = 1000;

/** Returns the event as the service would announce it. NotBefore is rounded up to a whole second. */
export function drillEvent(
  id: string,
  request: DrillRequest,
  resources: readonly string[],
  nowMs: number,
): ScheduledEvent {
  return {
    eventId: drillEventId(id),
    eventStatus: 'Scheduled',
    eventType: request.eventType,
    resourceType: 'VirtualMachine',
    resources: [...new Set(resources)],
    notBefore: toRfc3339Seconds(Math.ceil((nowMs + request.notice) / SECOND_MS) * SECOND_MS),
    description: 'A drill: nothing happens to the machine.',
    eventSource: 'Platform',
    durationInSeconds: Math.ceil(request.duration / SECOND_MS),
  };
}

/** Returns the known event of a drill. @param event its current content */
export function knownDrill(
  { occurrence }: Pick<Drill, 'occurrence'>,
  event: ScheduledEvent,
  epoch: number,
): KnownEvent {
  const sight = { apiVersion: NO_DOCUMENT, epoch, listed: true, lastListedAt: null, missing: null };
  return { key: event.eventId.toLowerCase(), occurrence, event, ...sight };
}

/** Returns the started event, without a NotBefore, as in the service's documents. */
export function startedEvent(event: ScheduledEvent): ScheduledEvent {
  return { ...event, eventStatus: 'Started', notBefore: null };
}

export function drillChange(
  phase: Exclude<EventChange['phase'], 'updated'>,
  { key, occurrence, event }: Pick<KnownEvent, 'key' | 'occurrence' | 'event'>,
  {
    at,
    isUsed,
    outcome = null,
  }: { readonly at: Instant; readonly isUsed: (id: string) => boolean; readonly outcome?: Drill['outcome'] },
): EventChange {
  const previous = { scheduled: null, started: 'Scheduled', ended: event.eventStatus } as const;
  return {
    kind: 'event',
    phase,
    id: unusedId(eventChangeId(phase, event), isUsed),
    ...{ key, occurrence, event, previousStatus: previous[phase] },
    changedFields: [],
    outcome,
    withoutNotice: false,
    incarnation: null,
    at,
  };
}
