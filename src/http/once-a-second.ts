// A costly result → the same one for all who ask within a second.
import type { Deps } from '../time/clock.ts';

const SECOND_MS = 1000;

export function onceASecond<T>(make: () => Promise<T>, deps: Pick<Deps, 'elapsedMs'>): () => Promise<T> {
  let made: { readonly sinceMs: number; readonly result: Promise<T> } | null = null;
  let isAtIt = false;
  return () => {
    const nowMs = deps.elapsedMs();
    if (made !== null && (isAtIt || nowMs - made.sinceMs < SECOND_MS)) return made.result;
    isAtIt = true;
    const result = make().finally(() => {
      isAtIt = false;
    });
    made = { sinceMs: nowMs, result };
    return result;
  };
}
