// Drills: made-up events of this bridge that take the same steps as real ones; their types.
import type { EndOutcome, ScheduledEvent } from './events.ts';

export type DrillState = 'scheduled' | 'started' | 'ended' | 'canceled';

/** One drill as the store keeps it, beyond what it keeps of every event. */
export interface Drill {
  /** A GUID. */
  readonly id: string;
  readonly occurrence: number;
  /** The event as it was announced. */
  readonly event: ScheduledEvent;
  readonly operator: string;
  /** Wall time, like all times here. */
  readonly madeMs: number;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  /** Null before its end. */
  readonly outcome: Extract<EndOutcome, 'completed' | 'canceled'> | null;
  /** The approvers whose yes was missing when it started or was cancelled; empty before. */
  readonly missing: readonly string[];
}

export function drillState({ startedMs, outcome }: Drill): DrillState {
  if (outcome !== null) return outcome === 'canceled' ? 'canceled' : 'ended';
  return startedMs === null ? 'scheduled' : 'started';
}
