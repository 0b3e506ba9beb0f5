// A request for admins alone → who sends it, or the first problem.
import type { Access } from './access.ts';
import { type ApproverPorts, admitApprover } from './approver.ts';
import { problem } from './problem.ts';
import type { Reply, RouteRequest } from './route.ts';

export interface AdminPorts extends Pick<ApproverPorts, 'configured'> {
  readonly isAdmin: (approver: string) => boolean;
}

/** As for an approver, then 403 for one without `admin: true`, and for a page of another origin. */
export async function admitAdmin(
  request: RouteRequest,
  ports: AdminPorts,
  access: Access,
): Promise<{ readonly admin: string } | { readonly reply: Reply }> {
  const admitted = await admitApprover(request, ports, access);
  if ('reply' in admitted) return admitted;
  const { approver } = admitted.origin;
  if (!ports.isAdmin(approver))
    return { reply: problem('not-admin', `${approver} is no admin: give it admin: true under approvals.approvers.`) };
  // A browser shows a client certificate to whatever page asks for it.
  return isFromElsewhere(request) ? { reply: foreignPage() } : { admin: approver };
}

/** Of a page on another port or another name of the same site, too: every local program can serve one. */
const ELSEWHERE: readonly unknown[] = ['cross-site', 'same-site'];

/** A page of another origin sent it, by what a browser says of it (Fetch Metadata, section 2.4; with a GET it sends no Origin). */
export function isFromElsewhere({ headers }: Pick<RouteRequest, 'headers'>): boolean {
  const { origin, host } = headers;
  return ELSEWHERE.includes(headers['sec-fetch-site']) || (origin !== undefined && URL.parse(origin)?.host !== host);
}

export function foreignPage(): Reply {
  return problem('foreign-page', 'A page of another origin sent this: the bridge answers its own pages alone.');
}
