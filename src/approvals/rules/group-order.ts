// Event, VM name and group → this bridge's rank and when its turn comes (behaviour 8.9). Pure.
import type { ApprovalDecision, ApprovalWindow, EventApproval } from '../../model/approvals.ts';
import type { Instant, ScheduledEvent } from '../../model/events.ts';
import { ageMs } from '../../time/clock.ts';
import type { GroupOptions } from './options.ts';

/**
 * Returns the rank of this VM, 0 for the leader. The distinct names in Resources come first, sorted in lower case, then
 * the other members. Returns null for every other VM, and while the own name is unknown.
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
  /** When this process started to handle approvals. */
  readonly startedAt: Instant;
  readonly at: Instant;
}

/**
 * Returns the milliseconds until this bridge may post a decided approval, 0 if it may post now, or null if it never
 * posts it. The wait starts with the decision or, if that is later, with the release of the last hold.
 * @param event null if it is not known
 */
export function turnMs(
  { decision, at: since }: EventApproval,
  event: ScheduledEvent | null,
  { group, ownName, startedAt, at }: TurnContext,
): number | null {
  if (decision === null) return null;
  if (group.submit === 'every' || decision.atOnce) return 0;
  const rank = event && rankOf(event, ownName, group.members);
  const waited = waitedMs(since, startedAt, at) + lateMs(decision, since);
  return rank === null ? null : Math.max(0, rank * group.failoverAfterMs - waited);
}

/** Returns how much later than its moment a window's decision was made, for example after the machine slept. */
function lateMs({ window, at }: ApprovalDecision, since: Instant): number {
  const isReleasedLater = since.wallMs !== at.wallMs;
  return window === null || isReleasedLater ? 0 : Math.max(0, at.wallMs - window.momentMs);
}

/**
 * Returns the milliseconds until a decided approval may be posted in its window, if its turn comes in `turnMs`; null if
 * the window closes earlier.
 */
export function inWindowMs(window: ApprovalWindow | null, turnMs: number | null, at: Instant): number | null {
  if (window === null || turnMs === null) return turnMs;
  const ms = Math.max(turnMs, window.fromMs - at.wallMs);
  return at.wallMs + ms < window.untilMs ? ms : null;
}

/**
 * If the wall clock was set back, a time from an earlier process can be in the future: then the time since this process
 * started counts.
 */
function waitedMs(since: Instant, startedAt: Instant, at: Instant): number {
  return Math.max(ageMs(since, at), since.elapsedMs === null ? ageMs(startedAt, at) : 0);
}

function lower(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase());
}
