// Event, VM name and group → this bridge's rank and when its turn comes (behaviour 8.9). Pure.
import type { EventApproval } from '../../model/approvals.ts';
import type { Instant, ScheduledEvent } from '../../model/events.ts';
import { ageMs } from '../../time/clock.ts';
import type { GroupOptions } from './options.ts';

/**
 * 0 for the leader: the first of the distinct names in Resources, sorted in lower case; behind them the members that it does not name. Null for
 * every other VM, and while the own name is unknown.
 */
export function rankOf(
  { resources }: Pick<ScheduledEvent, 'resources'>,
  ownName: string | null,
  members: readonly string[],
): number | null {
  if (ownName === null) return null;
  const order = [...new Set([...lower(resources).sort(), ...lower(members)])];
  const rank = order.indexOf(ownName.toLowerCase());
  return rank === -1 ? null : rank;
}

export interface TurnContext {
  readonly group: GroupOptions;
  readonly ownName: string | null;
  /** When this process took up the approvals. */
  readonly startedAt: Instant;
  readonly at: Instant;
}

/**
 * Milliseconds until this bridge posts what is decided, 0 where it may; null where another one does. Counted from when it may be posted: the
 * decision or, if later, the release of the last hold. `event`: as it is known, null where it is not.
 */
export function turnMs(
  { decision, at: since }: EventApproval,
  event: ScheduledEvent | null,
  { group, ownName, startedAt, at }: TurnContext,
): number | null {
  if (decision === null) return null;
  if (group.submit === 'every' || decision.atOnce) return 0;
  const rank = event && rankOf(event, ownName, group.members);
  return rank === null ? null : Math.max(0, rank * group.failoverAfterMs - waitedMs(since, startedAt, at));
}

/** A moment of an earlier process may seem to lie ahead, where the wall clock was set back: it waited as long as this process runs at least. */
function waitedMs(since: Instant, startedAt: Instant, at: Instant): number {
  return Math.max(ageMs(since, at), since.elapsedMs === null ? ageMs(startedAt, at) : 0);
}

function lower(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase());
}
