// POST /v1/reload: an admin → the configuration read again, or why it is not (behaviour 11.1).
import type { Fault } from '../schema/faults.ts';
import type { Access } from './access.ts';
import { type ApproverPorts, admitApprover } from './approver.ts';
import { problem } from './problem.ts';
import { json, type Reply, type Route, type RouteRequest } from './route.ts';

/** What became of a reload; only `applied` has changed anything. */
export type ReloadOutcome =
  | { readonly kind: 'applied'; readonly changed: readonly string[] }
  | { readonly kind: 'faulty'; readonly faults: readonly Fault[] }
  | { readonly kind: 'needs-restart'; readonly restart: readonly string[] }
  | { readonly kind: 'no-file' };

export interface ReloadPorts extends Pick<ApproverPorts, 'configured'> {
  readonly isAdmin: (approver: string) => boolean;
  /** @param by the approver's name, for the log @throws BridgeError BRIDGE_STORE_*, and then nothing has changed */
  readonly reload: (by: string) => Promise<ReloadOutcome>;
}

export function reloadRoute(ports: ReloadPorts, access: Access): Route {
  return { method: 'POST', path: '/v1/reload', handle: (request) => reload(request, ports, access) };
}

async function reload(request: RouteRequest, ports: ReloadPorts, access: Access): Promise<Reply> {
  const admitted = await admitApprover(request, ports, access);
  if ('reply' in admitted) return admitted.reply;
  const { approver } = admitted.origin;
  if (!ports.isAdmin(approver)) return problem('not-admin', `${approver} is no admin: give it admin: true under approvals.approvers.`);
  // A browser shows a client certificate to whatever page asks for it.
  if (isFromElsewhere(request)) return problem('foreign-page', 'A page of another site sent this; such are not heard here.');
  return replyTo(await ports.reload(approver));
}

function isFromElsewhere({ headers: { origin, host } }: RouteRequest): boolean {
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

function replyTo(outcome: ReloadOutcome): Reply {
  if (outcome.kind === 'applied') return json(200, { changed: outcome.changed });
  if (outcome.kind === 'faulty') {
    const { faults } = outcome;
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
    return problem('faulty-configuration', `The configuration has ${count}; the one before goes on.`, {}, { faults });
  }
  if (outcome.kind === 'no-file') {
    return problem('no-file', 'The bridge was started without a configuration file, so there is nothing to read again.');
  }
  const { restart } = outcome;
  const detail = `A restart is needed for ${restart.join(', ')}; nothing was changed, and the configuration before goes on.`;
  return problem('needs-restart', detail, {}, { restart });
}
