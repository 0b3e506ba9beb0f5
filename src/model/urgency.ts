// Known events and the clock → their partition keys, those to be told first at the front.

import type { KnownEvent } from './events.ts';
import { eidOf } from './ids.ts';

/** What happens already counts as if it began in a minute: who has less notice than that can still be told in time. */
const STARTED_AS_MS = 60_000;

/**
 * By the time left until NotBefore; none is left where it has passed or is not given, as the event may start at any moment.
 * Whatever waits of an event, approvals too, is as urgent as the event.
 */
export function keysByUrgency(events: Iterable<KnownEvent>, wallMs: number): string[] {
  return [...events]
    .map(({ key, event }) => ({ key: eidOf(key), leftMs: event.eventStatus === 'Started' ? STARTED_AS_MS : timeLeftMs(event, wallMs) }))
    .sort((one, other) => one.leftMs - other.leftMs)
    .map(({ key }) => key);
}

function timeLeftMs({ notBefore }: KnownEvent['event'], wallMs: number): number {
  return notBefore === null ? 0 : Math.max(0, Date.parse(notBefore) - wallMs);
}
