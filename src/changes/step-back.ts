// A change → whether an event went backwards, which Azure rules out (protocol 10.3). Pure.
import type { EventChange } from '../model/events.ts';
import { eventChangeId } from '../model/ids.ts';

/** `unstarted`: from Started back to Scheduled. `returned`: listed again after its end. */
export type StepBack = 'unstarted' | 'returned';

/**
 * Returns how an event went backwards with this change, or null if it did not.
 * @param isUsed whether this bridge has used a CloudEvent id before, so that an end before a restart counts too
 */
export function stepBackOf(change: EventChange, isUsed: (id: string) => boolean): StepBack | null {
  const { phase, previousStatus, event } = change;
  if (phase === 'updated')
    return previousStatus === 'Started' && event.eventStatus === 'Scheduled' ? 'unstarted' : null;
  return previousStatus === null && isUsed(eventChangeId('ended', event)) ? 'returned' : null;
}
