// The last `ended` of an event → whether another of its CloudEvents is newer.
import type { EventOf, LifeEvent } from '../event.ts';

/** The last end of an event: of what is not newer, nothing is prepared for. */
export interface LastEnd {
  /** The id of its CloudEvent. */
  readonly id: string;
  /** RFC 3339: when the observer saw it; null if the CloudEvent has no time. */
  readonly time: string | null;
  /** `observer.name` of its CloudEvent. */
  readonly observer: string | null;
  /** Milliseconds since 1970. After this time the end may be deleted. */
  readonly keptUntilMs: number;
}

export function lastEndOf({ id, time, data }: EventOf<'ended'>, keptUntilMs: number): LastEnd {
  return {
    id,
    time: time ?? null,
    observer: data.observer.name,
    keptUntilMs: Math.min(keptUntilMs, Number.MAX_SAFE_INTEGER),
  };
}

/**
 * Returns true if the CloudEvent belongs to a later occurrence: it has a higher number, or the same observer saw it
 * later.
 */
export function isNewer(event: LifeEvent, end: LastEnd): boolean {
  return numberOf(event.id) > numberOf(end.id) || millisecondsBetween(end, event) > 0;
}

/** Returns true if the observer of the end saw this CloudEvent before it. */
export function isOlder(event: LifeEvent, end: LastEnd): boolean {
  return millisecondsBetween(end, event) < 0;
}

/** Returns the number of `:rN`, with which an id is used again (behaviour 3.6); 1 without it. */
function numberOf(id: string): number {
  return Number(/:r(\d+)$/.exec(id)?.[1] ?? 1);
}

/** Returns NaN if the two times are of different clocks, or one is missing. */
function millisecondsBetween({ time, observer }: LastEnd, event: LifeEvent): number {
  const isOfSame = event.data.observer.name?.toLowerCase() === observer?.toLowerCase();
  return isOfSame ? Date.parse(event.time ?? '') - Date.parse(time ?? '') : Number.NaN;
}
