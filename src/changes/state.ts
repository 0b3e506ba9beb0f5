// Known state + a failed poll or an unchanged document → the next state.
import type { Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import { wasSwitchedOff } from './epoch.ts';

/** The state after an answer that was no good document: it breaks a row of empty ones and touches nothing else. */
export function observeFailure(state: KnownState): KnownState {
  return state.emptyRow === null ? state : { ...state, emptyRow: null };
}

/**
 * The state after a document that tells nothing new because it is the very object that `state` tells wholly; null for all others.
 * The metadata client returns the same object while the bytes stay the same, so that an unchanged poll costs the same however many events are known.
 */
export function seenAgain(state: KnownState, document: ScheduledEventsDocument, at: Instant): KnownState | null {
  if (state.document !== document || wasSwitchedOff(state, at)) return null;
  return { ...state, lastGoodAt: at, emptyRow: null };
}
