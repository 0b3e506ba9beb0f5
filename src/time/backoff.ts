// Failures in a row → the wait before the next try: full jitter, doubling, capped (behaviour 5.4).
import type { Disposition } from '../errors.ts';

const FIRST_MS = 250;
const SLOW_FIRST_MS = 10_000;
const LONG_CAP_MS = 300_000;

/** The longest wait while an event is alive, or has been ended for less than 10 min. */
export const LIVE_CAP_MS = 10_000;

interface Backoff {
  /** Failures in a row, at least 1. */
  readonly failures: number;
  /** `misconfigured` starts at 10 s, everything else at 250 ms. */
  readonly disposition: Disposition;
  /** Whether the event ended at least 10 min ago. */
  readonly longEnded: boolean;
  /** Caps the wait whatever else holds. */
  readonly withinMs?: number | undefined;
}

/**
 * Milliseconds of elapsed time, evenly distributed between 0 and the ceiling of this failure.
 * @param chance at least 0, below 1
 */
export function backoffMs(
  { failures, disposition, longEnded, withinMs = LONG_CAP_MS }: Backoff,
  chance: number,
): number {
  const first = disposition === 'misconfigured' ? SLOW_FIRST_MS : FIRST_MS;
  return chance * Math.min(longEnded ? LONG_CAP_MS : LIVE_CAP_MS, first * 2 ** (failures - 1), withinMs);
}
