// A scheduled event → what the document does not show: who sees it, when it starts and goes.
import { startMoment, type WireEvent } from './event.ts';

/** An event and what the document does not show of it. All times are simulated milliseconds. */
export interface SimulatedEvent {
  readonly event: WireEvent;
  /** Lower-cased names of the machines that see it; null for all. */
  readonly seen: readonly string[] | null;
  readonly scheduledAtMs: number;
  readonly approvedAtMs: number | null;
  readonly startedAtMs: number | null;
  /** When it starts, or goes, by itself. */
  readonly startsAtMs: number | null;
  readonly goneAtMs: number | null;
  readonly startedForMs: number;
  readonly otherTenantsMs: number;
  /** How far simulated time was ahead of the clock that its NotBefore was listed by. */
  readonly aheadMs: number;
  /** It goes by a recording alone: an approval does not start it. */
  readonly isRecorded: boolean;
}

/** An event that is no longer listed. */
export interface PastEntry extends SimulatedEvent {
  readonly endedAtMs: number;
  /** `withdrawn`: taken off whatever its state, by a reset, a new scenario or a recording. */
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
 * What it is after a change of its fields.
 * @param entry before the change
 * @param event after it
 * @param facts after it
 * @param isMoved a NotBefore was among the fields
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
    startedAtMs !== null ? null : isMoved ? movedStartMs(entry.approvedAtMs !== null ? unmovedMs : null, movedMs) : unmovedMs;
  return { ...entry, ...facts, event, startedAtMs, startsAtMs, goneAtMs };
}

/** What was approved starts as it would have, or with its NotBefore if that is sooner. @param approvedMs null where nothing was approved */
function movedStartMs(approvedMs: number | null, notBeforeMs: number | null): number | null {
  if (approvedMs === null || notBeforeMs === null) return approvedMs ?? notBeforeMs;
  return Math.min(approvedMs, notBeforeMs);
}

/** Its NotBefore in simulated time; null where it has none, or, in a recording, one that is no date. */
export function notBeforeMoment({ event, aheadMs }: SimulatedEvent): number | null {
  const notBeforeMs = Date.parse(event.NotBefore);
  return Number.isNaN(notBeforeMs) ? null : notBeforeMs + aheadMs;
}

export function lowerCased(names: readonly string[] | undefined): readonly string[] | null {
  return names?.map((name) => name.toLowerCase()) ?? null;
}

/** Approving a recommendation has no effect. */
export function isApprovable({ event, approvedAtMs, isRecorded }: SimulatedEvent): boolean {
  return event.EventStatus === 'Scheduled' && approvedAtMs === null && !isRecorded && event.EventType !== 'SpotRebalanceRecommendation';
}
