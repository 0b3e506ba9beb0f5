// Known state and a document → its epoch, and whether a missing event has ended (behaviour 4.4).
import type { Epoch, Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import { ageMs } from '../time/clock.ts';

/** After so long without a good document the service may have been switched off in between (protocol 1.4). */
const SWITCHED_OFF_AFTER_MS = 24 * 60 * 60 * 1000;

/** A row of epochs, each of which begins before the one before it has settled, proves an absence after so many settle times. */
const LONGEST_ROW = 3;

/** The current epoch or a new one (behaviour 4.4). The first document of all begins the first. */
export function epochOf(state: KnownState, document: ScheduledEventsDocument, at: Instant, settleMs: number): Epoch {
  if (state.epoch === null) return { number: 1, startedAt: at, rowStartedAt: at };
  const epoch = { ...state.epoch, startedAt: pinned(state.epoch.startedAt, at), rowStartedAt: pinned(state.epoch.rowStartedAt, at) };
  const restarted = document.incarnation !== null && state.incarnation !== null && document.incarnation < state.incarnation;
  const otherVersion = document.apiVersion !== state.apiVersion;
  if (!restarted && !otherVersion && !wasSwitchedOff(state, at)) return isPinned(state.epoch) ? state.epoch : epoch;
  return { number: epoch.number + 1, startedAt: at, rowStartedAt: hasSettled(epoch, at, settleMs) ? at : epoch.rowStartedAt };
}

/** True where the last good document is over 24 h old. */
export function wasSwitchedOff(state: KnownState, at: Instant): boolean {
  return state.lastGoodAt !== null && ageMs(state.lastGoodAt, at) > SWITCHED_OFF_AFTER_MS;
}

/** Whether an event that the epoch has never listed may end by its absence. */
export function hasSettled(epoch: Epoch, at: Instant, settleMs: number): boolean {
  return ageMs(epoch.startedAt, at) >= settleMs;
}

/**
 * Whether an event that is missing since `missingAt` may end although epochs follow each other too quickly to settle, as when two hosts with
 * different incarnations answer in turn: no document of their row has listed it for three settle times.
 */
export function hasOutlasted(missingAt: Instant, { rowStartedAt }: Epoch, at: Instant, settleMs: number): boolean {
  return [missingAt, rowStartedAt].every((since) => ageMs(since, at) >= LONGEST_ROW * settleMs);
}

/**
 * A stored moment on this process's monotonic clock, so that from the first document on no jump of the wall clock shortens or prolongs what is
 * counted from it. A moment that lies ahead of the wall clock counts as now.
 */
export function pinned(moment: Instant, at: Instant): Instant {
  const { wallMs, elapsedMs } = moment;
  if (elapsedMs !== null || at.elapsedMs === null) return moment;
  return { wallMs, elapsedMs: at.elapsedMs - Math.max(0, at.wallMs - wallMs) };
}

function isPinned({ startedAt, rowStartedAt }: Epoch): boolean {
  return startedAt.elapsedMs !== null && rowStartedAt.elapsedMs !== null;
}
