// Failures in a row → the wait before the next try: full jitter, doubling, capped (behaviour 5.4).

import type { Disposition } from '../errors.ts';
import type { Delivery } from '../model/deliveries.ts';

const FIRST_MS = 250;
const SLOW_FIRST_MS = 10_000;
const CAP_MS = 10_000;
const LONG_CAP_MS = 300_000;

/** An event that ended this long ago is in no hurry any more: the cap rises from 10 s to 5 min. */
const LONG_ENDED_MS = 600_000;
const MOST_REMEMBERED = 2000;

/** The longest wait while the event is urgent (behaviour 5.24). */
export const URGENT_CAP_MS = 2_000;

/** The longest wait while an event is alive, or has been ended for less than 10 min. */
export const LIVE_CAP_MS = CAP_MS;

export interface Backoff {
  /** Failures in a row, at least 1. */
  readonly failures: number;
  /** `misconfigured` starts at 10 s, everything else at 250 ms. */
  readonly disposition: Disposition;
  /** Whether the event ended at least 10 min ago. */
  readonly longEnded: boolean;
  /** Caps the wait whatever else holds. */
  readonly withinMs?: number | undefined;
}

/** Milliseconds of elapsed time, evenly drawn between 0 and the ceiling of this failure. `random` is at least 0, below 1. */
export function backoffMs({ failures, disposition, longEnded, withinMs = LONG_CAP_MS }: Backoff, random: () => number): number {
  const first = disposition === 'misconfigured' ? SLOW_FIRST_MS : FIRST_MS;
  return random() * Math.min(longEnded ? LONG_CAP_MS : CAP_MS, first * 2 ** (failures - 1), withinMs);
}

/** The clocks at one moment, and chance. */
export interface Moment {
  readonly elapsedMs: number;
  readonly wallMs: number;
  readonly random: () => number;
}

/** Whether a row's event ended long ago, judged by the wall clock once and by elapsed time from then on: a clock that jumps does not matter. */
export class LongEnded {
  /** By row; elapsed time. */
  readonly #fromMs = new Map<number, number>();

  has(row: Delivery, now: Moment): boolean {
    if (row.endedAtMs === null) return false;
    return (
      now.elapsedMs >= (this.#fromMs.get(row.seq) ?? this.#remember(row.seq, now.elapsedMs + row.endedAtMs + LONG_ENDED_MS - now.wallMs))
    );
  }

  #remember(seq: number, fromMs: number): number {
    this.#fromMs.set(seq, fromMs);
    const [oldest] = this.#fromMs.keys();
    if (oldest !== undefined && this.#fromMs.size > MOST_REMEMBERED) this.#fromMs.delete(oldest);
    return fromMs;
  }
}
