// A request for approvers alone → its caller, or the first problem (behaviour 6.3).
import type { Approvals } from '../approvals/approvals.ts';
import type { Refusal } from '../approvals/requests/answer.ts';
import { BridgeError } from '../errors.ts';
import type { ApprovalOrigin } from '../model/approvals.ts';
import type { Access } from './access.ts';
import { problem, problemReply } from './problem.ts';
import type { Reply, RouteRequest } from './route.ts';

/** What the routes serve of approvals. */
export type ServedApprovals = Pick<Approvals, 'request' | 'answered' | 'hold' | 'release' | 'life'>;

export interface ApproverPorts {
  /** False: nobody may approve through this endpoint. */
  readonly configured: boolean;
  /** Null until documents are handled (behaviour 4.12). */
  readonly approvals: () => ServedApprovals | null;
}

/** @throws BridgeError BRIDGE_APPROVALS_NOT_READY */
export function ready({ approvals }: Pick<ApproverPorts, 'approvals'>): ServedApprovals {
  const served = approvals();
  if (served !== null) return served;
  throw new BridgeError('BRIDGE_APPROVALS_NOT_READY', 'no document has been handled yet; ask again when /readyz says ready');
}

/** 403, 401 or 429, 403, in this order. */
export async function admitApprover(
  request: RouteRequest,
  { configured }: Pick<ApproverPorts, 'configured'>,
  access: Access,
): Promise<{ readonly origin: ApprovalOrigin } | { readonly reply: Reply }> {
  if (!configured) {
    const detail = 'No approvers are configured: name them under approvals.approvers in the configuration of the bridge.';
    return { reply: problem('no-approvers', detail) };
  }
  const caller = await access.identify(request);
  if (!('kind' in caller)) return { reply: caller };
  // HTTP approvals reach this bridge alone, so no other one of its group can post them.
  if (caller.kind === 'approver') return { origin: { approver: caller.name, via: caller.via, isShared: false } };
  return { reply: problem('reader', `${caller.name} is a reader; use the token of an approver.`) };
}

export function refusedReply({ kind: _, ...refused }: Refusal): Reply {
  return problemReply(refused);
}
