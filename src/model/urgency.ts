// Known events and the clock → their partition keys, the most urgent first.

import type { KnownEvent } from './events.ts';
import { eidOf } from './ids.ts';

/** An event that has started counts as if it began in a minute: those with less notice can still be delivered in time. */
const STARTED_AS_MS = 60_000;

/**
 * Sorts by the time left until NotBefore. If NotBefore has passed or is not given, no time is left, because the event may start at any
 * moment. All deliveries of an event, also of its approvals, are as urgent as the event.
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
