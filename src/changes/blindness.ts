// Last good document and now → one `source.blind` and one `source.restored` (behaviour 3.4).
import { toRfc3339Seconds } from '../formats/dates.ts';
import type { Blindness, Instant, SightChange } from '../model/events.ts';
import { sightChangeId, unusedId } from '../model/ids.ts';
import { ageMs } from '../time/clock.ts';

/** The input of a decision about blindness. */
interface Sight {
  /** As stored; null unless the bridge is blind. */
  readonly blindness: Blindness | null;
  /** When the last good document was read, also by an earlier process. */
  readonly lastGoodAt: Instant | null;
  readonly firstRequestAt: Instant;
}

interface SightSettings {
  /** How long without a good document counts as blind: 60 s, or `metadata.firstTimeout` if it applies. */
  readonly limitMs: number;
  /** Why there was no good document, for the CloudEvent `source.blind`. */
  readonly reason: string | null;
  readonly observerId: string;
  readonly isUsed: (id: string) => boolean;
}

/** What to store and to publish, in one transaction. */
export interface SightReport {
  readonly change: SightChange;
  readonly blindness: Blindness | null;
}

/** Without a good document: returns `blind` once the limit has passed; null before, or if it was already reported. */
export function observeBlind(sight: Sight, at: Instant, settings: SightSettings): SightReport | null {
  const { firstRequestAt, lastGoodAt, blindness } = sight;
  if (blindness !== null) return null;
  if (ageMs(lastSight(firstRequestAt, lastGoodAt), at) < settings.limitMs) return null;
  const lastDocumentAt = lastGoodAt && toRfc3339Seconds(lastGoodAt.wallMs);
  const now = { since: lastDocumentAt ?? toRfc3339Seconds(firstRequestAt.wallMs), lastDocumentAt };
  return { change: sightChange('blind', now, at, settings), blindness: now };
}

/**
 * At a good document: returns `restored` if `blind` was reported before, also by an earlier process; otherwise null.
 */
export function observeRestored(
  blindness: Blindness | null,
  at: Instant,
  settings: Pick<SightSettings, 'observerId' | 'isUsed'>,
): SightReport | null {
  if (blindness === null) return null;
  return { change: sightChange('restored', blindness, at, { ...settings, reason: null }), blindness: null };
}

/**
 * Returns the last good document of this process, or its first request. A document of an earlier process is older than
 * that, even if the wall clock jumped in between.
 */
function lastSight(firstRequestAt: Instant, lastGoodAt: Instant | null): Instant {
  return lastGoodAt === null || lastGoodAt.elapsedMs === null ? firstRequestAt : lastGoodAt;
}

function sightChange(
  phase: SightChange['phase'],
  { since, lastDocumentAt }: Blindness,
  at: Instant,
  { observerId, isUsed, reason }: Omit<SightSettings, 'limitMs'>,
): SightChange {
  const id = unusedId(sightChangeId(phase, observerId, since), isUsed);
  return { kind: 'sight', phase, id, since, lastDocumentAt, reason, at };
}
