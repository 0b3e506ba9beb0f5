// A scheduled event → what the document does not show: who sees it, when it starts and ends.
import { startMoment, type WireEvent } from './event.ts';

/** An event, with facts that the document does not show. All times are simulated milliseconds. */
export interface SimulatedEvent {
  readonly event: WireEvent;
  /** Names of the machines that see it, in lower case; null for all. */
  readonly seen: readonly string[] | null;
  readonly scheduledAtMs: number;
  readonly approvedAtMs: number | null;
  readonly startedAtMs: number | null;
  /** When it starts by itself, and when it ends by itself. */
  readonly startsAtMs: number | null;
  readonly goneAtMs: number | null;
  readonly startedForMs: number;
  readonly otherTenantsMs: number;
  /** How far simulated time was ahead of the clock in which NotBefore is listed, when it was set. */
  readonly aheadMs: number;
  /** Only the recording changes it: an approval does not start it. */
  readonly isRecorded: boolean;
}

/** An event that is no longer listed. */
export interface PastEntry extends SimulatedEvent {
  readonly endedAtMs: number;
  /** `withdrawn`: removed in any state, by a reset, a new scenario or a recording. */
  readonly end: 'completed' | 'canceled' | 'withdrawn';
}

export function entryOf(
  event: WireEvent,
  facts: Pick<SimulatedEvent, 'seen' | 'startedForMs' | 'otherTenantsMs' | 'aheadMs' | 'isRecorded'>,
  atMs: number,
): SimulatedEvent {
  const hasStarted = event.EventStatus === 'Started';
  return {
    ...facts,
    event,
    scheduledAtMs: atMs,
    approvedAtMs: null,
    startedAtMs: hasStarted ? atMs : null,
    startsAtMs: startMoment(event, facts.otherTenantsMs, facts.aheadMs, atMs),
    goneAtMs: hasStarted ? atMs + facts.startedForMs : null,
  };
}

/**
 * Returns an entry after a change of the event's fields.
 * @param entry before the change
 * @param event after the change
 * @param facts after the change
 * @param isMoved whether NotBefore was changed
 */
export function changedEntry(
  entry: SimulatedEvent,
  event: WireEvent,
  facts: Pick<SimulatedEvent, 'seen' | 'startedForMs' | 'otherTenantsMs' | 'aheadMs'>,
  isMoved: boolean,
  atMs: number,
): SimulatedEvent {
  const startedAtMs = event.EventStatus === 'Started' ? (entry.startedAtMs ?? atMs) : null;
  const goneAtMs = startedAtMs === null || entry.isRecorded ? null : Math.max(startedAtMs + facts.startedForMs, atMs);
  const longerMs = facts.otherTenantsMs - entry.otherTenantsMs;
  const unmovedMs = entry.startsAtMs === null ? null : Math.max(entry.startsAtMs + longerMs, atMs);
  const movedMs = startMoment(event, facts.otherTenantsMs, facts.aheadMs, atMs);
  const startsAtMs =
    startedAtMs !== null
      ? null
      : isMoved
        ? movedStartMs(entry.approvedAtMs !== null ? unmovedMs : null, movedMs)
        : unmovedMs;
  return { ...entry, ...facts, event, startedAtMs, startsAtMs, goneAtMs };
}

/**
 * An approved event keeps its start, unless its new NotBefore is sooner.
 * @param approvedMs null if the event is not approved
 */
function movedStartMs(approvedMs: number | null, notBeforeMs: number | null): number | null {
  if (approvedMs === null || notBeforeMs === null) return approvedMs ?? notBeforeMs;
  return Math.min(approvedMs, notBeforeMs);
}

/** Returns NotBefore in simulated time, or null if it is empty or, in a recording, not a date. */
export function notBeforeMoment({ event, aheadMs }: SimulatedEvent): number | null {
  const notBeforeMs = Date.parse(event.NotBefore);
  return Number.isNaN(notBeforeMs) ? null : notBeforeMs + aheadMs;
}

export function lowerCased(names: readonly string[] | undefined): readonly string[] | null {
  return names?.map((name) => name.toLowerCase()) ?? null;
}

/** Whether an approval has an effect; a recommendation cannot be approved. */
export function isApprovable({ event, approvedAtMs, isRecorded }: SimulatedEvent): boolean {
  return (
    event.EventStatus === 'Scheduled' &&
    approvedAtMs === null &&
    !isRecorded &&
    event.EventType !== 'SpotRebalanceRecommendation'
  );
}
