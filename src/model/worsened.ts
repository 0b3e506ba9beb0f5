// An event as approved and as it is now → whether it got worse (behaviour 6.8). Pure.
import { IMPACTS, type ScheduledEvent } from './events.ts';

const RANKED = IMPACTS.map((impact) => impact.toLowerCase());

type Seen = Pick<ScheduledEvent, 'eventType' | 'durationInSeconds' | 'resources' | 'notBefore'>;

/**
 * Returns true for a harder impact, or another impact that is not in IMPACTS; a longer or newly unknown duration; a new
 * name in Resources; or a NotBefore that is earlier or was removed. Impacts and names are compared without case.
 */
export function hasWorsened(before: Seen, now: Seen): boolean {
  return hasWorseImpact(before, now) || isLonger(before, now) || hasNewName(before, now) || isEarlier(before, now);
}

function hasWorseImpact(before: Seen, now: Seen): boolean {
  const rankBefore = impactRank(before);
  const rankNow = impactRank(now);
  if (rankNow !== rankBefore) return rankNow > rankBefore;
  return rankNow === RANKED.length && before.eventType.toLowerCase() !== now.eventType.toLowerCase();
}

/** Returns the place in IMPACTS, without case; EventTypes that are not listed there rank above all of them. */
export function impactRank({ eventType }: Pick<ScheduledEvent, 'eventType'>): number {
  const rank = RANKED.indexOf(eventType.toLowerCase());
  return rank === -1 ? RANKED.length : rank;
}

function isLonger(before: Seen, now: Seen): boolean {
  // Below zero is unknown, which no duration is worse than.
  if (before.durationInSeconds < 0) return false;
  return now.durationInSeconds < 0 || now.durationInSeconds > before.durationInSeconds;
}

function hasNewName(before: Seen, now: Seen): boolean {
  const names = new Set(before.resources.map((name) => name.toLowerCase()));
  return now.resources.some((name) => !names.has(name.toLowerCase()));
}

function isEarlier(before: Seen, now: Seen): boolean {
  if (before.notBefore === null) return false;
  return now.notBefore === null || Date.parse(now.notBefore) < Date.parse(before.notBefore);
}
