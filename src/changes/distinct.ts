// Unchanged documents and failed polls → the state after them; other documents pass.
import { filter, type MonoTypeOperatorFunction } from 'rxjs';
import type { Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import { wasSwitchedOff } from './epoch.ts';

/**
 * Drops a document without changes since the last committed state, `known()`, and passes the state with its new
 * `lastGoodAt` to `unchanged`, which must keep it: ages count from it. Passes all other documents, also unchanged ones
 * while a missing event is undecided (settle, an empty answer).
 *
 * Not `distinctUntilChanged`, which compares with the last emitted document: after a failed commit, the document must
 * be emitted again.
 */
export function distinctByIncarnation<T extends { readonly document: ScheduledEventsDocument; readonly at: Instant }>(
  known: () => KnownState,
  unchanged: (state: KnownState) => void,
): MonoTypeOperatorFunction<T> {
  return filter(({ document, at }) => {
    const state = seenAgain(known(), document, at);
    if (state !== null) unchanged(state);
    return state === null;
  });
}

/** Returns the state after a failed poll: it ends a row of empty answers and changes nothing else. */
export function observeFailure(state: KnownState): KnownState {
  return state.emptyRow === null ? state : { ...state, emptyRow: null };
}

/**
 * Returns the state after an unchanged document, which is the same object as that of `state`; null for any other
 * document. The metadata client returns the same object while the bytes are the same, so the cost of an unchanged poll
 * does not depend on the number of events.
 */
function seenAgain(state: KnownState, document: ScheduledEventsDocument, at: Instant): KnownState | null {
  if (state.document !== document || wasSwitchedOff(state, at)) return null;
  return { ...state, lastGoodAt: at, emptyRow: null };
}
