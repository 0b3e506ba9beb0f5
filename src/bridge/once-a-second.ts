// An expensive result → the same one for all callers within a second.
import type { Deps } from '../time/clock.ts';

const SECOND_MS = 1000;

export function onceASecond<T>(make: () => Promise<T>, deps: Pick<Deps, 'elapsedMs'>): () => Promise<T> {
  let made: { readonly sinceMs: number; readonly result: Promise<T> } | null = null;
  let isRunning = false;
  return () => {
    const nowMs = deps.elapsedMs();
    if (made !== null && (isRunning || nowMs - made.sinceMs < SECOND_MS)) return made.result;
    isRunning = true;
    const result = make().finally(() => {
      isRunning = false;
    });
    made = { sinceMs: nowMs, result };
    return result;
  };
}
