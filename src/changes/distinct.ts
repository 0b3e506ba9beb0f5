// Good documents → those that may have changes; the others only prove that the service answers.
import { filter, type MonoTypeOperatorFunction } from 'rxjs';
import type { Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import { seenAgain } from './state.ts';

/**
 * Drops a document without changes since the last committed state, `known()`, and passes the state with its new `lastGoodAt` to `unchanged`,
 * which must keep it: ages count from it. Passes all other documents, also unchanged ones while a missing event is undecided (settle, an empty
 * answer).
 *
 * Not `distinctUntilChanged`, which compares with the last emitted document: after a failed commit, the document must be emitted again.
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
