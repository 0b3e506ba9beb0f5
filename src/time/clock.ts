// The clocks, timers and random source that bridge.ts hands down, and waiting on them.
import type { SchedulerLike } from 'rxjs';
import type { Instant } from '../model/events.ts';

export type CancelTimer = () => void;

/** The only door to time and chance in src/ and adapters/; system.ts is the real one, tests bring a virtual one. */
export interface Deps {
  /** Wall time in milliseconds since 1970, for what is compared with dates; it may jump. */
  readonly wallMs: () => number;
  /** Elapsed time in milliseconds, for time-outs, ages and back-off; it never jumps, and begins with the boot of the machine. */
  readonly elapsedMs: () => number;
  /** Runs `run` once, `delayMs` of elapsed time from now. */
  readonly after: (delayMs: number, run: () => void) => CancelTimer;
  /** At least 0, below 1. */
  readonly random: () => number;
  /** RxJS on the same clocks. */
  readonly scheduler: SchedulerLike;
}

export function now(deps: Pick<Deps, 'wallMs' | 'elapsedMs'>): Instant {
  return { wallMs: deps.wallMs(), elapsedMs: deps.elapsedMs() };
}

/** Milliseconds from one moment to a later one: elapsed time where both are of this process, else wall time. */
export function ageMs(from: Instant, to: Instant): number {
  return from.elapsedMs !== null && to.elapsedMs !== null ? to.elapsedMs - from.elapsedMs : to.wallMs - from.wallMs;
}

/** Resolves after `delayMs`; rejects with the signal's reason as soon as it aborts. */
export function sleep(deps: Pick<Deps, 'after'>, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = deps.after(delayMs, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** A signal that aborts with `reason()` after `delayMs`, or with `parent`'s reason when that aborts first. `cancel` ends both. */
export function deadline(
  deps: Pick<Deps, 'after'>,
  delayMs: number,
  reason: () => unknown,
  parent?: AbortSignal,
): { readonly signal: AbortSignal; readonly cancel: () => void } {
  const controller = new AbortController();
  const pass = () => controller.abort(parent?.reason);
  const cancelTimer = deps.after(delayMs, () => controller.abort(reason()));
  if (parent?.aborted) pass();
  parent?.addEventListener('abort', pass, { once: true });
  const cancel = () => {
    cancelTimer();
    parent?.removeEventListener('abort', pass);
  };
  return { signal: controller.signal, cancel };
}

/** The result of `work` or, sooner, a rejection with the signal's reason; `work` is not cancelled, and its later result is ignored. */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Resolves with `work`, or after `limitMs` if that is sooner; rejects if `work` does before. `work` is not cancelled. */
export async function within(deps: Pick<Deps, 'after'>, work: Promise<unknown>, limitMs: number): Promise<void> {
  const { promise: limit, resolve } = Promise.withResolvers<void>();
  const cancel = deps.after(limitMs, resolve);
  await Promise.race([work, limit]).finally(cancel);
}
