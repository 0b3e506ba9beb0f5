// Good documents → those that may bring changes; the others only prove that the service answers.
import { filter, type MonoTypeOperatorFunction } from 'rxjs';
import type { Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import { seenAgain } from './state.ts';

/**
 * Drops a document that is nothing new against the last committed state, `known()`, and hands the state with its newer `lastGoodAt` to
 * `unchanged`, which must keep it: ages are counted from it. Passes everything else, an unchanged document too while an absence is open (settle,
 * an empty answer, a missing event).
 *
 * Not `distinctUntilChanged`, which compares with the last emission: a document whose commit failed was emitted, and must come again.
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
