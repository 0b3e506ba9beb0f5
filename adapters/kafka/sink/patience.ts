// A time limit → a signal; time does not count while the broker has asked for a pause.
import type { CancelTimer, Deps } from '../../../src/time/clock.ts';

/** Below the five minutes after which a lane gives any adapter up. */
const LONGEST_MS = 240_000;

export interface PatienceOptions {
  readonly limitMs: number;
  /** Until when (elapsed time) the other side asked not to be asked; now, while it does. */
  readonly heldUntilMs: () => number;
  readonly reason: () => unknown;
}

/** Aborts with `reason()`, or with `parent`'s reason when that aborts first. `cancel` ends both. A pause is waited out for 4 min at most. */
export function patience(
  deps: Pick<Deps, 'after' | 'elapsedMs'>,
  { limitMs, heldUntilMs, reason }: PatienceOptions,
  parent: AbortSignal,
): { readonly signal: AbortSignal; readonly cancel: () => void } {
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
  return { signal: controller.signal, cancel };
}
