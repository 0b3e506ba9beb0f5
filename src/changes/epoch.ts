// Known state and a document → its epoch, and whether a missing event has ended (behaviour 4.4).
import type { Epoch, Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import { ageMs } from '../time/clock.ts';

/** After so long without a good document the service may have been switched off in between (protocol 1.4). */
const SWITCHED_OFF_AFTER_MS = 24 * 60 * 60 * 1000;

/** The current epoch or a new one (behaviour 4.4). The first document of all begins the first. */
export function epochOf(state: KnownState, document: ScheduledEventsDocument, at: Instant): Epoch {
  if (state.epoch === null) return { number: 1, startedAt: at };
  const restarted = document.incarnation !== null && state.incarnation !== null && document.incarnation < state.incarnation;
  const otherVersion = document.apiVersion !== state.apiVersion;
  if (restarted || otherVersion || wasSwitchedOff(state, at)) return { number: state.epoch.number + 1, startedAt: at };
  return pinned(state.epoch, at);
}

/** True where the last good document is over 24 h old. */
export function wasSwitchedOff(state: KnownState, at: Instant): boolean {
  return state.lastGoodAt !== null && ageMs(state.lastGoodAt, at) > SWITCHED_OFF_AFTER_MS;
}

/** True once an event that the epoch has never listed may end by its absence. */
export function hasSettled(epoch: Epoch, at: Instant, settleMs: number): boolean {
  return ageMs(epoch.startedAt, at) >= settleMs;
}

/**
 * A stored epoch's start on this process's monotonic clock, so that from its first document on no jump of the wall clock shortens or
 * prolongs the epoch. A start that lies ahead of the wall clock counts as now.
 */
function pinned(epoch: Epoch, at: Instant): Epoch {
  const { wallMs, elapsedMs } = epoch.startedAt;
  if (elapsedMs !== null || at.elapsedMs === null) return epoch;
  return { number: epoch.number, startedAt: { wallMs, elapsedMs: at.elapsedMs - Math.max(0, at.wallMs - wallMs) } };
}
