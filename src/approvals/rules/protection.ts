// The votes of a decision → whether the document is read again before the StartRequest. Pure.
import type { EventApproval } from '../../model/approvals.ts';
import type { ScopeOptions } from './options.ts';

type Approvers = Readonly<Record<string, { readonly scope?: ScopeOptions }>>;

/** Where a vote that counts names what was seen, or its approver has a scope. Rules are applied to each document anyway. */
export function isProtected({ decision, votes }: Pick<EventApproval, 'decision' | 'votes'>, approvers: Approvers): boolean {
  if (decision?.by !== 'quorum') return false;
  return votes.some(({ approver, hasSeen }) => hasSeen || isScoped(approvers[approver]?.scope));
}

function isScoped(scope: ScopeOptions | undefined): boolean {
  return scope?.impacts !== undefined || scope?.resources !== undefined;
}
