// A listed event → its type, machines and NotBefore in one line.
import type { ScheduledEvent } from '../model/events.ts';

/** The part of an event that the line names. */
export type DescribedEvent = Pick<ScheduledEvent, 'eventType' | 'resources' | 'notBefore'>;

/** Names are not escaped. */
export function eventDescription({ eventType, resources, notBefore }: DescribedEvent): string {
  const count = resources.length === 1 ? '1 machine' : `${resources.length} machines`;
  const time = notBefore === null ? 'no NotBefore' : `NotBefore ${notBefore} (UTC)`;
  return `${eventType} of ${resources.join(', ')} (${count}), ${time}`;
}
