// A request that only an approver may make → who it is and what was said, or the first problem (behaviour 6.3).
import type { Caller } from '../auth/caller.ts';
import type { Access } from './access.ts';
import { readSaid } from './body.ts';
import type { ApprovalPorts, Refused } from './bridge-ports.ts';
import { problem, problemReply } from './problem.ts';
import type { Reply, RouteRequest } from './route.ts';

/** 403, 401 or 429, 403, in this order. */
export async function admitApprover(
  request: RouteRequest,
  { configured }: Pick<ApprovalPorts, 'configured'>,
  access: Access,
): Promise<{ readonly caller: Caller } | { readonly reply: Reply }> {
  if (!configured) {
    const detail = 'No approvers are configured: name them under approvals.approvers in the configuration of the bridge.';
    return { reply: problem(403, 'no-approvers', detail) };
  }
  const caller = await access.identify(request);
  if (!('kind' in caller)) return { reply: caller };
  if (caller.kind === 'approver') return { caller };
  return { reply: problem(403, 'reader', `${caller.name} is a reader; use the token of an approver.`) };
}

/** The same, and then 415, 413, 400. */
export async function hearApprover(
  request: RouteRequest,
  ports: Pick<ApprovalPorts, 'configured'>,
  access: Access,
): Promise<{ readonly caller: Caller; readonly value: unknown } | { readonly reply: Reply }> {
  const admitted = await admitApprover(request, ports, access);
  if ('reply' in admitted) return admitted;
  const said = await readSaid(request);
  return 'reply' in said ? said : { ...admitted, value: said.value };
}

export function refusedReply({ kind: _, ...refused }: Refused): Reply {
  return problemReply(refused);
}
