// What is known of the service before the first document, after an answer that was none, and after the same document again.
import type { Instant, KnownState, ScheduledEventsDocument } from '../model.ts';
import { wasSwitchedOff } from './epoch.ts';

/** What a bridge knows before its first document. */
export function initialState(): KnownState {
  return { incarnation: null, apiVersion: null, lastGoodAt: null, epoch: null, emptyRow: null, events: new Map(), nextOccurrence: 1 };
}

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
