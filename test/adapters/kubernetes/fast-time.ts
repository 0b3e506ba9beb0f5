// The machine's clocks → the same, running 20 times as fast, for waits of seconds on real sockets.
import type { Deps } from '../../../src/time/clock.ts';
import { systemDeps } from '../../../src/time/system.ts';

const FACTOR = 20;

/** Begins at 2026-01-01T00:00:00Z. */
export function fastTime(): Deps {
  const real = systemDeps();
  const startMs = real.elapsedMs();
  const elapsedMs = () => (real.elapsedMs() - startMs) * FACTOR;
  return {
    ...real,
    elapsedMs,
    wallMs: () => Date.UTC(2026, 0, 1) + elapsedMs(),
    after: (delayMs, run) => real.after(delayMs / FACTOR, run),
  };
}
