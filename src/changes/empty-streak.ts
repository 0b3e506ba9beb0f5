// Empty 200 answers in a row → whether they mean that there are no events (behaviour 4.5).
import type { Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import { ageMs } from '../time/clock.ts';

type EmptyRow = NonNullable<KnownState['emptyRow']>;

const LEAST_ANSWERS = 3;
const LEAST_MS = 10_000;

/** The row after this document: longer by an empty answer, broken by any other. */
export function emptyRowAfter(row: EmptyRow | null, document: ScheduledEventsDocument, at: Instant): EmptyRow | null {
  if (document.incarnation !== null) return null;
  return row === null ? { count: 1, firstAt: at } : { count: row.count + 1, firstAt: row.firstAt };
}

/** True from the third empty answer on that came at least 10 s after the first. */
export function isConvincing(row: EmptyRow, at: Instant): boolean {
  return row.count >= LEAST_ANSWERS && ageMs(row.firstAt, at) >= LEAST_MS;
}
