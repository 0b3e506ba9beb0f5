// Consecutive empty 200 answers → whether they prove that there are no events (behaviour 4.5).
import type { Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import { ageMs } from '../time/clock.ts';

type EmptyRow = NonNullable<KnownState['emptyRow']>;

const LEAST_ANSWERS = 3;
const LEAST_MS = 10_000;

/** Returns the row after this document: an empty answer extends it, any other ends it. */
export function emptyRowAfter(row: EmptyRow | null, document: ScheduledEventsDocument, at: Instant): EmptyRow | null {
  if (document.incarnation !== null) return null;
  return row === null ? { count: 1, firstAt: at } : { count: row.count + 1, firstAt: row.firstAt };
}

/** Whether there are at least three empty answers, the last one at least 10 s after the first. */
export function isConvincing(row: EmptyRow, at: Instant): boolean {
  return row.count >= LEAST_ANSWERS && ageMs(row.firstAt, at) >= LEAST_MS;
}
