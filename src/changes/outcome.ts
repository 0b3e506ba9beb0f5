// An event missing from a document → since when, and its outcome (behaviour 3.9).
import type { EndOutcome, Epoch, Instant, KnownEvent } from '../model/events.ts';
import { ageMs } from '../time/clock.ts';

/** The greatest age of a good document that counts as just before the next one. */
const JUST_BEFORE_MS = 10_000;

/**
 * Whether a good document at `earlier` is at most 10 s older than `at`. False for one in the future, after the clock
 * was set back.
 */
export function isJustBefore(earlier: Instant | null, at: Instant): boolean {
  if (earlier === null) return false;
  const age = ageMs(earlier, at);
  return age >= 0 && age <= JUST_BEFORE_MS;
}

/** Returns the record of the first good document without the event. `known.lastListedAt` must already be set. */
export function missingSince(known: KnownEvent, epoch: Epoch, at: Instant): NonNullable<KnownEvent['missing']> {
  const scheduled = known.event.eventStatus === 'Scheduled' && known.epoch === epoch.number;
  return { at, scheduledJustBefore: scheduled && isJustBefore(known.lastListedAt, at) };
}

/**
 * Returns how a missing event ended, or `unknown`.
 * @param end `byEmptyAnswer`: the service sent an empty answer; `isApproved`: this bridge has an approval, so the event
 * may have run between two documents
 */
export function outcomeOf(
  known: KnownEvent,
  end: {
    readonly epoch: Epoch;
    readonly at: Instant;
    readonly byEmptyAnswer: boolean;
    readonly isApproved: () => boolean;
  },
): EndOutcome {
  if (known.epoch !== end.epoch.number) return 'unknown';
  if (known.event.eventStatus === 'Started') return 'completed';
  const { notBefore } = known.event;
  const tooEarly = notBefore !== null && end.at.wallMs < Date.parse(notBefore);
  const vanished = !end.byEmptyAnswer && known.missing?.scheduledJustBefore === true;
  return vanished && tooEarly && !end.isApproved() ? 'canceled' : 'unknown';
}
