// A scheduled event → its content (behaviour 3.3), canonical JSON and short hash.
import { canonicalJson, sha256Hex } from '../formats/json-object.ts';
import type { EventStatus, ScheduledEvent } from './events.ts';

/**
 * Nine fields of an event and nothing else. Two events are equal for every VM if these fields are. The recipe is
 * frozen.
 */
interface EventContent {
  readonly Description: string;
  readonly DurationInSeconds: number;
  /** In lower case. */
  readonly EventId: string;
  readonly EventSource: string;
  readonly EventStatus: EventStatus;
  readonly EventType: string;
  /** RFC 3339 UTC in whole seconds, or null. */
  readonly NotBefore: string | null;
  readonly ResourceType: string;
  /** Distinct, sorted by UTF-16 code units. */
  readonly Resources: readonly string[];
}

export function contentOf(event: ScheduledEvent): EventContent {
  return {
    Description: event.description,
    DurationInSeconds: event.durationInSeconds,
    EventId: event.eventId.toLowerCase(),
    EventSource: event.eventSource,
    EventStatus: event.eventStatus,
    EventType: event.eventType,
    NotBefore: event.notBefore,
    ResourceType: event.resourceType,
    Resources: sortedResources(event),
  };
}

/** Returns the names of an event, distinct and sorted by UTF-16 code units. */
export function sortedResources(event: Pick<ScheduledEvent, 'resources'>): readonly string[] {
  // Without a comparison function, sort compares UTF-16 code units.
  return [...new Set(event.resources)].sort();
}

/** Returns the content as canonical JSON (RFC 8785). */
export function contentJson(event: ScheduledEvent): string {
  return canonicalJson(contentOf(event));
}

/** Returns the `h16` of an event: the first 16 hex digits of the SHA-256 of its content (behaviour 3.5). */
export function contentHash16(event: ScheduledEvent): string {
  return sha256Hex(contentJson(event), 16);
}

/** Returns true if the event's Resources name the VM; letter case does not count. */
export function affects(event: Pick<ScheduledEvent, 'resources'>, vmName: string): boolean {
  const wanted = vmName.toLowerCase();
  return event.resources.some((name) => name.toLowerCase() === wanted);
}
