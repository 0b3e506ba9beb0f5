// A time limit → a signal; the time stops while a broker asks for a pause.
import type { CancelTimer, Deadline, Deps } from '../../../src/time/clock.ts';

/** Below the five minutes after which a lane abandons a call of an adapter. */
const LONGEST_MS = 240_000;

interface PausableDeadlineOptions {
  readonly limitMs: number;
  /** Returns the end of the broker's pause (elapsed time); the current time during a pause. */
  readonly heldUntilMs: () => number;
  readonly reason: () => unknown;
}

/**
 * Aborts with `reason()`, or with `parent`'s reason if that aborts first. `cancel` ends both. Pauses extend the limit
 * to at most 4 min.
 */
export function pausableDeadline(
  deps: Pick<Deps, 'after' | 'elapsedMs'>,
  { limitMs, heldUntilMs, reason }: PausableDeadlineOptions,
  parent: AbortSignal,
): Deadline {
  const controller = new AbortController();
  const startMs = deps.elapsedMs();
  const lastMs = startMs + Math.max(limitMs, LONGEST_MS);
  let cancelTimer: CancelTimer = () => {};
  const arm = () => {
    const dueMs = Math.min(Math.max(startMs, heldUntilMs()) + limitMs, lastMs);
    const leftMs = dueMs - deps.elapsedMs();
    if (leftMs > 0) cancelTimer = deps.after(leftMs, arm);
    else controller.abort(reason());
  };
  const pass = () => controller.abort(parent.reason);
  if (parent.aborted) pass();
  else arm();
  parent.addEventListener('abort', pass, { once: true });
  const cancel = () => {
    cancelTimer();
    parent.removeEventListener('abort', pass);
  };
  return { signal: controller.signal, cancel, [Symbol.dispose]: cancel };
}
