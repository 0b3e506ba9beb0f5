// An event as approved and as it is now → has it got worse? (behaviour 6.8). Pure.
import { IMPACTS, type ScheduledEvent } from './events.ts';

const RANKED = IMPACTS.map((impact) => impact.toLowerCase());

type Seen = Pick<ScheduledEvent, 'eventType' | 'durationInSeconds' | 'resources' | 'notBefore'>;

/**
 * True for a higher impact, or another one of those without a rank; a longer or newly unknown duration; a name in Resources that was not
 * there; an earlier NotBefore, or none where there was one. Impacts and names are compared without case.
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
  // Below zero is unknown, and nothing is worse than that.
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
