// An approver's `scope` → the events that it touches, covers and protects (behaviour 8.2). Pure.
import { compileGlobs } from '../../conditions/globs.ts';
import { oneOf } from '../../conditions/matchers.ts';
import type { EventApproval } from '../../model/approvals.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import type { ScopeOptions } from './options.ts';

type Judged = Pick<ScheduledEvent, 'eventType' | 'resources'>;

type Approvers = Readonly<Record<string, { readonly scope?: ScopeOptions }>>;

export interface Scope {
  /** Whether the impact and any name in Resources match: the approver is affected. */
  touches(event: Judged): boolean;
  /** Whether the impact and every name in Resources match, at least one: an approval affects all Resources. */
  allows(event: Judged): boolean;
}

/** Compiles a scope; its globs are compiled once. */
export function compileScope({ impacts, resources }: ScopeOptions): Scope {
  const isImpact = impacts && oneOf(impacts);
  const globs = resources && compileGlobs(resources);
  const hasImpact = ({ eventType }: Judged) => isImpact === undefined || isImpact(eventType);
  return {
    touches: (event) => hasImpact(event) && (globs === undefined || globs.any(event.resources)),
    allows: (event) => hasImpact(event) && (globs === undefined || globs.every(event.resources)),
  };
}

/**
 * Returns whether the document must be read again before the StartRequest: a vote has `Seen`, or its approver has a
 * scope. Decisions of rules do not need it, because rules are applied to each document anyway.
 */
export function isProtected(
  { decision, votes }: Pick<EventApproval, 'decision' | 'votes'>,
  approvers: Approvers,
): boolean {
  if (decision?.by !== 'quorum') return false;
  return votes.some(({ approver, hasSeen }) => {
    const { impacts, resources } = approvers[approver]?.scope ?? {};
    return hasSeen || impacts !== undefined || resources !== undefined;
  });
}
