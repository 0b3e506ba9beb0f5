// Clocks, timers and random source (`Deps`) → ages, waits and deadlines.
import type { SchedulerLike } from 'rxjs';
import type { Instant } from '../model/events.ts';

export type CancelTimer = () => void;

/**
 * The only source of time and randomness in src/ and adapters/. system.ts has the real one; tests use a virtual one.
 */
export interface Deps {
  /** Wall time in milliseconds since 1970, for comparisons with dates; it may jump. */
  readonly wallMs: () => number;
  /**
   * Elapsed time in milliseconds, for time-outs, ages and back-off; it never jumps, and counts from the boot of the
   * machine.
   */
  readonly elapsedMs: () => number;
  /** Runs `run` once, `delayMs` of elapsed time from now. */
  readonly after: (delayMs: number, run: () => void) => CancelTimer;
  /** Returns a random number of at least 0 and below 1. */
  readonly random: () => number;
  /** The RxJS scheduler on the same clocks. */
  readonly scheduler: SchedulerLike;
}

export function now(deps: Pick<Deps, 'wallMs' | 'elapsedMs'>): Instant {
  return { wallMs: deps.wallMs(), elapsedMs: deps.elapsedMs() };
}

/** Returns the milliseconds between two moments: elapsed time if both are from this process, otherwise wall time. */
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

/** A signal with a time limit. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Ends the limit, as disposing does. */
  readonly cancel: () => void;
}

/**
 * Returns a signal that aborts with `reason()` after `delayMs`, or with the reason of `parent` if that aborts first.
 */
export function deadline(
  deps: Pick<Deps, 'after'>,
  delayMs: number,
  reason: () => unknown,
  parent?: AbortSignal,
): Deadline {
  const controller = new AbortController();
  const pass = () => controller.abort(parent?.reason);
  const cancelTimer = deps.after(delayMs, () => controller.abort(reason()));
  if (parent?.aborted) pass();
  parent?.addEventListener('abort', pass, { once: true });
  const cancel = () => {
    cancelTimer();
    parent?.removeEventListener('abort', pass);
  };
  return { signal: controller.signal, cancel, [Symbol.dispose]: cancel };
}

/**
 * Settles like `work`, or rejects with the signal's reason if it aborts first. `work` is not cancelled; its later
 * result is ignored.
 */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/**
 * Resolves with `work`, or after `limitMs` if that is sooner; rejects if `work` does before. `work` is not cancelled.
 */
export async function within(deps: Pick<Deps, 'after'>, work: Promise<unknown>, limitMs: number): Promise<void> {
  const { promise: limit, resolve } = Promise.withResolvers<void>();
  const cancel = deps.after(limitMs, resolve);
  await Promise.race([work, limit]).finally(cancel);
}
