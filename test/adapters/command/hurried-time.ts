// The machine's time → the same, five times as fast, for limits of seconds with real programs.
import type { Deps } from '../../../src/time/clock.ts';
import { systemDeps } from '../../../src/time/system.ts';

const TIMES = 5;

/** Wall time stays as it is. */
export function hurriedTime(): Deps {
  const { elapsedMs, after, ...rest } = systemDeps();
  return { ...rest, elapsedMs: () => elapsedMs() * TIMES, after: (delayMs, run) => after(delayMs / TIMES, run) };
}
