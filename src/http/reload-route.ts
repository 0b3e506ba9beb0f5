// POST /v1/reload: an admin → the configuration read again, or why it is not (behaviour 11.1).
import type { Fault } from '../schema/faults.ts';
import type { Access } from './access.ts';
import { type AdminPorts, admitAdmin } from './admin.ts';
import { problem } from './problem.ts';
import { json, type Reply, type Route, type RouteRequest } from './route.ts';

/** What became of a reload; only `applied` has changed anything. */
export type ReloadOutcome =
  | { readonly kind: 'applied'; readonly changed: readonly string[] }
  | { readonly kind: 'faulty'; readonly faults: readonly Fault[] }
  | { readonly kind: 'needs-restart'; readonly restart: readonly string[] }
  | { readonly kind: 'no-file' };

export interface ReloadPorts extends AdminPorts {
  /** @param by the approver's name, for the log @throws BridgeError BRIDGE_STORE_*, and then nothing has changed */
  readonly reload: (by: string) => Promise<ReloadOutcome>;
}

export function reloadRoute(ports: ReloadPorts, access: Access): Route {
  return { method: 'POST', path: '/v1/reload', handle: (request) => reload(request, ports, access) };
}

async function reload(request: RouteRequest, ports: ReloadPorts, access: Access): Promise<Reply> {
  const admitted = await admitAdmin(request, ports, access);
  return 'reply' in admitted ? admitted.reply : replyTo(await ports.reload(admitted.admin));
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
