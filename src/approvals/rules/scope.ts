// An approver's `scope` → the events that it touches, and that it covers (behaviour 8.2). Pure.
import { compileGlobs } from '../../conditions/globs.ts';
import { oneOf } from '../../conditions/matchers.ts';
import type { EventApproval } from '../../model/approvals.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import type { ScopeOptions } from './options.ts';

type Judged = Pick<ScheduledEvent, 'eventType' | 'resources'>;

type Approvers = Readonly<Record<string, { readonly scope?: ScopeOptions }>>;

export interface Scope {
  /** The impact matches, and any of the names: this approver is concerned. */
  touches(event: Judged): boolean;
  /** The impact matches, and every name, of at least one: an approval reaches all Resources. */
  allows(event: Judged): boolean;
}

/** Compiles the globs once. */
export function compileScope({ impacts, resources }: ScopeOptions): Scope {
  const isImpact = impacts && oneOf(impacts);
  const globs = resources && compileGlobs(resources);
  const hasImpact = ({ eventType }: Judged) => isImpact === undefined || isImpact(eventType);
  return {
    touches: (event) => hasImpact(event) && (globs === undefined || globs.any(event.resources)),
    allows: (event) => hasImpact(event) && (globs === undefined || globs.every(event.resources)),
  };
}

/** Where a vote that counts names what was seen, or its approver has a scope. Rules are applied to each document anyway. */
export function isProtected({ decision, votes }: Pick<EventApproval, 'decision' | 'votes'>, approvers: Approvers): boolean {
  if (decision?.by !== 'quorum') return false;
  return votes.some(({ approver, hasSeen }) => hasSeen || isScoped(approvers[approver]?.scope));
}

function isScoped(scope: ScopeOptions | undefined): boolean {
  return scope?.impacts !== undefined || scope?.resources !== undefined;
}
