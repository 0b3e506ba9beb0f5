// Who said yes, and how → whether the document is read anew before the StartRequest, so that a change of the last second is seen. Pure.
import type { EventApproval } from '../../model/approvals.ts';
import type { ScopeOptions } from './options.ts';

type Approvers = Readonly<Record<string, { readonly scope?: ScopeOptions }>>;

/** Where a yes that it was decided by names what was seen, or its approver has a scope. A rule judges each document by itself, as it is read. */
export function isProtected({ decision, votes }: Pick<EventApproval, 'decision' | 'votes'>, approvers: Approvers): boolean {
  if (decision?.by !== 'quorum') return false;
  return votes.some(({ approver, hasSeen }) => hasSeen || isScoped(approvers[approver]?.scope));
}

function isScoped(scope: ScopeOptions | undefined): boolean {
  return scope?.impacts !== undefined || scope?.resources !== undefined;
}
