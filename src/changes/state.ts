// The known state and a failed poll or an unchanged document → the next state.
import type { Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import { wasSwitchedOff } from './epoch.ts';

/** Returns the state after a failed poll: it ends a row of empty answers and changes nothing else. */
export function observeFailure(state: KnownState): KnownState {
  return state.emptyRow === null ? state : { ...state, emptyRow: null };
}

/**
 * Returns the state after an unchanged document, which is the same object as that of `state`; null for any other document. The metadata client
 * returns the same object while the bytes are the same, so the cost of an unchanged poll does not depend on the number of events.
 */
export function seenAgain(state: KnownState, document: ScheduledEventsDocument, at: Instant): KnownState | null {
  if (state.document !== document || wasSwitchedOff(state, at)) return null;
  return { ...state, lastGoodAt: at, emptyRow: null };
}
