// Known state and a document → its epoch, and whether a missing event has ended (behaviour 4.4).
import type { Epoch, Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import { ageMs } from '../time/clock.ts';

/** After this time without a good document, Azure may have disabled the service (protocol 1.4). */
const DISABLED_AFTER_MS = 24 * 60 * 60 * 1000;

/** If epochs follow each other before they settle, a missing event has ended after this number of settle times. */
const LONGEST_ROW = 3;

/** So many empty answers, over so long a time, prove that there are no events (behaviour 4.5). */
const [LEAST_EMPTY_ANSWERS, LEAST_EMPTY_MS] = [3, 10_000];

type EmptyRow = NonNullable<KnownState['emptyRow']>;

/** Returns the current epoch or a new one (behaviour 4.4). The very first document begins the first epoch. */
export function epochOf(state: KnownState, document: ScheduledEventsDocument, at: Instant, settleMs: number): Epoch {
  if (state.epoch === null) return { number: 1, startedAt: at, rowStartedAt: at };
  const epoch = {
    ...state.epoch,
    startedAt: pinned(state.epoch.startedAt, at),
    rowStartedAt: pinned(state.epoch.rowStartedAt, at),
  };
  const restarted =
    document.incarnation !== null && state.incarnation !== null && document.incarnation < state.incarnation;
  const otherVersion = document.apiVersion !== state.apiVersion;
  if (!restarted && !otherVersion && !wasSwitchedOff(state, at)) return epoch;
  return {
    number: epoch.number + 1,
    startedAt: at,
    rowStartedAt: hasSettled(epoch, at, settleMs) ? at : epoch.rowStartedAt,
  };
}

/** Whether the last good document is more than 24 h old. */
export function wasSwitchedOff(state: KnownState, at: Instant): boolean {
  return state.lastGoodAt !== null && ageMs(state.lastGoodAt, at) > DISABLED_AFTER_MS;
}

/** Whether an event that this epoch has never listed may end because it is missing. */
export function hasSettled(epoch: Epoch, at: Instant, settleMs: number): boolean {
  return ageMs(epoch.startedAt, at) >= settleMs;
}

/**
 * Whether an event that is missing since `missingAt` may end although epochs change too quickly to settle, for example
 * because two hosts with different incarnations answer in turn: no document of these epochs has listed it for three
 * settle times.
 */
export function hasOutlasted(missingAt: Instant, { rowStartedAt }: Epoch, at: Instant, settleMs: number): boolean {
  return [missingAt, rowStartedAt].every((since) => ageMs(since, at) >= LONGEST_ROW * settleMs);
}

/**
 * Converts a stored moment to this process's monotonic clock, so that later jumps of the wall clock do not change ages.
 * A moment in the future of the wall clock counts as now.
 */
export function pinned(moment: Instant, at: Instant): Instant {
  const { wallMs, elapsedMs } = moment;
  if (elapsedMs !== null || at.elapsedMs === null) return moment;
  return { wallMs, elapsedMs: at.elapsedMs - Math.max(0, at.wallMs - wallMs) };
}

/** Returns the row after this document: an empty answer extends it, any other ends it. */
export function emptyRowAfter(row: EmptyRow | null, document: ScheduledEventsDocument, at: Instant): EmptyRow | null {
  if (document.incarnation !== null) return null;
  return row === null ? { count: 1, firstAt: at } : { count: row.count + 1, firstAt: row.firstAt };
}

/** Whether there are at least three empty answers, the last one at least 10 s after the first. */
export function isConvincing(row: EmptyRow, at: Instant): boolean {
  return row.count >= LEAST_EMPTY_ANSWERS && ageMs(row.firstAt, at) >= LEAST_EMPTY_MS;
}
