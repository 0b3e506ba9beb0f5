// Known events and the clock → their partition keys, the most urgent first.

import type { KnownEvent, KnownState } from './events.ts';
import { eidOf } from './ids.ts';

/** A `Scheduled` event with less notice than this goes before everything else, and finds a place (behaviour 5.23). */
export const URGENT_MS = 120_000;
/**
 * An event that has started counts as if it began when others become urgent: events with less notice can still be
 * delivered in time.
 */
const STARTED_AS_MS = URGENT_MS;

/** What goes before everything else. */
export interface Urgent {
  /** Partition keys, the most urgent one first. */
  readonly keys: readonly string[];
  /** Wall time at which another event becomes urgent; null if none will. */
  readonly nextMs: number | null;
}

/**
 * Sorts by the time left until NotBefore. If NotBefore has passed or is not given, no time is left, because the event
 * may start at any moment. All deliveries of an event, also of its approvals, are as urgent as the event.
 */
export function keysByUrgency(events: Iterable<KnownEvent>, wallMs: number): string[] {
  return [...events]
    .map(({ key, event }) => ({
      key: eidOf(key),
      leftMs: event.eventStatus === 'Started' ? STARTED_AS_MS : timeLeftMs(event, wallMs),
    }))
    .sort((one, other) => one.leftMs - other.leftMs)
    .map(({ key }) => key);
}

/** The `Scheduled` events among these that are urgent. */
export function urgentAmong(events: Iterable<KnownEvent>, wallMs: number): Urgent {
  const waiting = [...events]
    .filter(({ event }) => event.eventStatus === 'Scheduled')
    .map(({ key, event }) => ({ key, leftMs: timeLeftMs(event, wallMs) }))
    .sort((one, other) => one.leftMs - other.leftMs);
  const first = waiting.findIndex(({ leftMs }) => leftMs >= URGENT_MS);
  const later = waiting[first];
  const urgent = later === undefined ? waiting : waiting.slice(0, first);
  return {
    keys: urgent.map(({ key }) => eidOf(key)),
    nextMs: later === undefined ? null : wallMs + later.leftMs - URGENT_MS + 1,
  };
}

/**
 * The same, asked often: looked for again only when the events are others, or when the clock says that it may be
 * otherwise.
 */
export class UrgentEvents {
  #events: KnownState['events'] | null = null;
  #fromMs = 0;
  #urgent: Urgent = { keys: [], nextMs: null };

  among(events: KnownState['events'], wallMs: number): Urgent {
    const { nextMs } = this.#urgent;
    if (events !== this.#events || wallMs < this.#fromMs || (nextMs !== null && wallMs >= nextMs)) {
      this.#urgent = urgentAmong(events.values(), wallMs);
      this.#events = events;
      this.#fromMs = wallMs;
    }
    return this.#urgent;
  }
}

function timeLeftMs({ notBefore }: KnownEvent['event'], wallMs: number): number {
  return notBefore === null ? 0 : Math.max(0, Date.parse(notBefore) - wallMs);
}
